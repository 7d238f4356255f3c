"""Properties of opencode's data: calls with their results, replies that grow in place, sessions in two stores."""

from __future__ import annotations

from pathlib import Path

import pytest

from bough.importers import get
from bough.model import Media, Other, Text, Usage
from tests.importers.helpers import ReadConversation, read_path
from tests.importers.samples.opencode import both, db


@pytest.fixture
def conversations(tmp_path: Path) -> dict[str, ReadConversation]:
    return read_path(db(tmp_path))


@pytest.fixture
def roof(conversations: dict[str, ReadConversation]) -> ReadConversation:
    return conversations["ses_9roof"]


def test_a_call_and_its_result_become_two_messages_in_their_order(roof: ReadConversation) -> None:
    roles = [roof.messages[name].message.role for name in ("msg_a2", "msg_a2#1", "msg_a2#2")]
    assert roles == ["assistant", "tool_result", "assistant"]
    assert [call.call_id for call in roof.messages["msg_a2"].message.calls] == ["c1", "c2", "c3"]


def test_a_command_that_failed_and_a_tool_that_did_are_errors(roof: ReadConversation) -> None:
    results = roof.messages["msg_a2#1"].message.results
    assert [(result.text, result.error) for result in results] == [
        ("a hole", False),
        ("no nails", True),
        ("too high", True),
    ]
    assert isinstance(results[0].content[1], Media)


def test_files_come_with_their_bytes_and_synthetic_words_are_marked(roof: ReadConversation) -> None:
    _, picture, synthetic = roof.messages["msg_a1"].message.blocks
    assert isinstance(picture, Media)
    assert picture.data == b"\x89PNG\r\n\x1a\n"
    assert isinstance(synthetic, Text)
    assert synthetic.raw["opencode"]["synthetic"] is True


def test_tokens_are_counted_once_for_a_reply_in_several_messages(roof: ReadConversation) -> None:
    assert roof.messages["msg_a2"].usage == Usage(115, 20, 100, 3, 0.5)
    assert roof.messages["msg_a2#2"].usage is None


def test_the_order_is_that_of_time_when_ids_begin_again(roof: ReadConversation) -> None:
    assert roof.messages["msg_0b"].parent == "msg_a6"


def test_a_compaction_is_a_summary(roof: ReadConversation) -> None:
    summary = roof.messages["msg_a6"]
    assert (summary.kind, summary.covers, summary.message.role) == ("summary", "msg_a5", "user")


def test_a_reply_that_failed_says_why(roof: ReadConversation) -> None:
    failed = roof.messages["msg_0c"].message
    assert failed.error
    assert isinstance(failed.blocks[0], Other)
    assert failed.blocks[0].raw["opencode"]["data"]["message"] == "no key"


def test_a_reply_that_is_being_written_is_another_message_than_the_whole_one(roof: ReadConversation) -> None:
    assert not roof.messages["msg_0d~"].finished


def test_a_subagent_knows_the_call_that_began_it(conversations: dict[str, ReadConversation]) -> None:
    nails = conversations["ses_8nails"].conversation
    assert (nails.parent, nails.parent_message, nails.parent_call) == ("ses_9roof", "msg_a4", "c4")


def test_what_was_taken_back_is_kept_and_the_session_stands_before_it(
    conversations: dict[str, ReadConversation],
) -> None:
    gutter = conversations["ses_7gutter"]
    assert gutter.conversation.head == "msg_g2"
    assert "msg_g4" in gutter.messages


def test_keys_in_the_same_file_are_not_read_and_the_file_is_not_copied(tmp_path: Path) -> None:
    path = db(tmp_path)
    assert "not for anyone" not in str([(one.conversation, one.messages) for one in read_path(path).values()])


def test_a_session_in_both_stores_is_read_from_the_database(tmp_path: Path) -> None:
    conversations = list(get("opencode").read(both(tmp_path)))
    assert [one.id for one in conversations].count("ses_8nails") == 1  # type: ignore[union-attr]
    assert read_path(tmp_path)["ses_door"].by_text("Green.").parent == "msg_door1"
