"""Properties of gptme's logs: branches as copies, no names, times without a zone."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

import pytest

from bough.model import Media, Usage
from tests.importers.helpers import ReadConversation, read_path
from tests.importers.sample import FILES, copied
from tests.importers.samples.gptme import HEDGE


@pytest.fixture(scope="module")
def hedge() -> ReadConversation:
    return read_path(FILES / "gptme")[HEDGE]


def test_what_copies_of_a_log_share_is_read_once(hedge: ReadConversation) -> None:
    texts = [said.message.text for said in hedge.messages.values()]
    assert texts.count("Trim the hedge.") == 1
    assert texts.count("A leaf.") == 2  # after the whole log, and after its summary


def test_backups_are_branches_without_a_session(hedge: ReadConversation) -> None:
    assert [head.key for head in hedge.conversation.heads] == [f"gptme:{HEDGE}:bonfire"]


def test_tokens_are_found_in_both_places_where_they_were_kept(hedge: ReadConversation) -> None:
    spent = [said.usage for said in hedge.messages.values() if said.usage]
    assert spent == [Usage(130, 5, 100, cost=0.02), Usage(7, 2)]


def test_files_come_with_the_bytes_that_are_stored_beside_the_log(hedge: ReadConversation) -> None:
    held, linked = (block for block in hedge.by_text("And this?").message.blocks if isinstance(block, Media))
    assert (held.name, held.data) == ("leaf.png", b"\x89PNG\r\n\x1a\n")
    assert linked.url == "https://example.com/twig.png"


def test_a_time_without_a_zone_is_local(hedge: ReadConversation) -> None:
    local = datetime.fromisoformat("2026-05-01T10:00:01.5").astimezone()
    assert hedge.by_text("Trim the hedge.").created_at == local.timestamp() * 1_000_000


def test_a_log_without_times_is_as_old_as_its_file(tmp_path: Path) -> None:
    path = copied("gptme")(tmp_path)
    os.utime(path / "2023-09-01-old" / "conversation.jsonl", (1693526400, 1693526400))
    assert {said.created_at for said in read_path(path)["2023-09-01-old"].messages.values()} == {1693526400_000000}


def test_only_the_chat_of_the_configuration_is_kept(hedge: ReadConversation) -> None:
    conversations = hedge.conversation
    assert (conversations.title, conversations.directory, conversations.model) == (
        "The hedge",
        "/home/user/hedge",
        "anthropic/claude-sonnet-4-5",
    )
    assert "not for anyone" not in str(conversations.extra)


def test_the_link_beside_a_log_says_where_it_worked(tmp_path: Path) -> None:
    path = copied("gptme")(tmp_path)
    (path / HEDGE / "workspace").symlink_to("/home/user/elsewhere")
    assert read_path(path)[HEDGE].conversation.directory == "/home/user/elsewhere"
