"""Properties of Claude.ai's export: calls and results inside one reply, texts instead of files."""

from __future__ import annotations

import pytest

from bough.model import Media, Text
from tests.importers.helpers import ReadConversation, read_path
from tests.importers.sample import FILES
from tests.importers.samples.claude_ai import CONVERSATION


def name(number: int) -> str:
    return f"ca100000-0000-4000-8000-{number:012x}"


@pytest.fixture(scope="module")
def conversations() -> dict[str, ReadConversation]:
    return read_path(FILES / "claude-ai")


@pytest.fixture
def pond(conversations: dict[str, ReadConversation]) -> ReadConversation:
    return conversations[f"{CONVERSATION}1"]


def test_a_reply_with_results_inside_is_read_in_the_order_in_which_it_happened(pond: ReadConversation) -> None:
    pieces = [pond.messages[f"{name(2)}{end}"] for end in ("", "#1", "#2")]
    assert [piece.message.role for piece in pieces] == ["assistant", "tool_result", "assistant"]
    assert [piece.parent for piece in pieces] == [name(1), name(2), f"{name(2)}#1"]
    assert pieces[0].message.calls[0].call_id == pieces[1].message.results[0].call_id
    assert pond.messages[name(3)].parent == f"{name(2)}#2"


def test_calls_without_ids_are_answered_by_what_follows_them(conversations: dict[str, ReadConversation]) -> None:
    said = conversations[f"{CONVERSATION}2"].messages
    for call, result in (("old-02", "old-02#1"), ("old-02#2", "old-02#3")):
        assert said[call].message.calls[0].call_id == said[result].message.results[0].call_id
    assert said["old-02#1"].message.error


def test_texts_that_were_taken_out_of_attachments_are_text(pond: ReadConversation) -> None:
    words, pasted, survey, picture, plan = pond.messages[name(5)].message.blocks
    assert isinstance(words, Text)
    assert isinstance(pasted, Text)
    assert isinstance(survey, Text)
    assert (pasted.extra, survey.extra) == ({"attachment": "pasted"}, {"attachment": "pond.pdf"})
    assert isinstance(picture, Media)
    assert isinstance(plan, Media)
    assert (picture.kind, picture.file_id, plan.file_id) == ("image", "f-1", "plan.pdf")


def test_the_sentinel_of_a_root_is_no_parent_and_the_newest_leaf_is_the_head(pond: ReadConversation) -> None:
    assert pond.messages[name(1)].parent is None
    assert pond.conversation.head == name(6)
    assert not pond.messages[name(6)].finished


def test_an_untitled_conversation_has_no_title(conversations: dict[str, ReadConversation]) -> None:
    assert {one.conversation.title for one in conversations.values()} == {"Pond", None, "Nothing said"}
