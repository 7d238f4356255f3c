"""Properties of goose's sessions: messages for the model only, results in the user's name, a ledger of requests."""

from __future__ import annotations

from pathlib import Path

import pytest

import bough
from bough.importers import get
from bough.model import Media, Other, Thinking, Usage
from tests.importers.helpers import ReadConversation, read_path
from tests.importers.samples.goose import SESSION, export, newest, older


@pytest.fixture
def conversations(tmp_path: Path) -> dict[str, ReadConversation]:
    return read_path(newest(tmp_path))


def test_what_only_the_model_sees_after_a_compaction_is_a_summary(conversations: dict[str, ReadConversation]) -> None:
    said = conversations[SESSION].messages
    summaries = [(one.id, one.covers) for one in said.values() if one.kind == "summary"]
    assert summaries == [(f"{SESSION}:m5", f"{SESSION}:m4")]


def test_results_in_the_users_name_are_results(conversations: dict[str, ReadConversation]) -> None:
    message = conversations[SESSION].messages[f"{SESSION}:m3"].message
    assert message.role == "tool_result"
    assert [(one.call_id, one.text, one.error) for one in message.results] == [
        ("t1", "ten planks\na list", False),
        ("t2", "not found", True),
    ]


def test_images_thoughts_calls_and_what_is_not_known_are_kept(conversations: dict[str, ReadConversation]) -> None:
    said = conversations[SESSION].messages
    assert isinstance(said[f"{SESSION}:m1"].message.blocks[1], Media)
    thought, _, call, broken = said[f"{SESSION}:m2"].message.blocks
    assert isinstance(thought, Thinking)
    assert said[f"{SESSION}:m2"].message.calls == (call,)
    assert isinstance(broken, Other)


def test_what_was_spent_belongs_to_the_reply_before(conversations: dict[str, ReadConversation]) -> None:
    spent = {one.id: (one.model, one.usage) for one in conversations[SESSION].messages.values() if one.usage}
    assert spent == {
        f"{SESSION}:m2": ("claude-sonnet-4-5", Usage(100, 10, 5, cost=0.01)),
        f"{SESSION}:m4": ("claude-haiku-4-5", Usage(250, 25)),
        f"{SESSION}:m8": ("claude-sonnet-4-5", Usage(300, 30)),
    }


def test_a_subagent_knows_its_parent_and_extensions_keep_their_secrets(
    conversations: dict[str, ReadConversation],
) -> None:
    assert conversations["20260501_2"].conversation.parent == SESSION
    assert conversations[SESSION].conversation.directory == "/home/user/shed"
    assert "not for anyone" not in str(conversations[SESSION].conversation.extra)


def test_an_export_of_a_session_that_is_known_adds_nothing(tmp_path: Path) -> None:
    goose = get("goose")
    with bough.connect(tmp_path / "bough.db") as store:
        for path in (older(tmp_path), export(tmp_path)):
            for one in goose.read(path):
                store.bring_in(one)  # type: ignore[arg-type]
        assert sum(1 for _ in store.list_messages()) == 2


def test_places_follow_the_programs_own_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOSE_PATH_ROOT", str(tmp_path))
    assert get("goose").default_paths() == []
    (tmp_path / "data" / "sessions").mkdir(parents=True)
    assert get("goose").default_paths() == [tmp_path / "data" / "sessions"]
