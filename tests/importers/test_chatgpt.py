"""Properties of ChatGPT's export: nodes in no order, calls without ids, files beside the conversations."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bough import Store
from bough.model import Media, Other, Thinking
from tests.importers.helpers import ReadConversation, import_path, read_path
from tests.importers.sample import FILES
from tests.importers.samples.chatgpt import CONVERSATION, zipped

PATH = FILES / "chatgpt" / "export"


def node(number: int) -> str:
    return f"aaa00000-0000-4000-8000-{number:012}"


@pytest.fixture(scope="module")
def conversations() -> dict[str, ReadConversation]:
    return read_path(PATH)


@pytest.fixture
def garden(conversations: dict[str, ReadConversation]) -> ReadConversation:
    return conversations[f"{CONVERSATION}1"]


def test_a_call_and_its_results_belong_together_by_their_places(garden: ReadConversation) -> None:
    (call,) = garden.messages[node(6)].message.calls
    assert (call.name, call.arguments) == ("python", "2+2")
    assert garden.messages[node(7)].message.results[0].call_id == call.call_id
    (search,) = garden.messages[node(13)].message.calls
    answers = [garden.messages[node(number)].message.results[0] for number in (14, 15)]
    assert {answer.call_id for answer in answers} == {search.call_id}
    assert [answer.name for answer in answers] == ["browser", "browser"]


def test_nodes_that_say_nothing_are_passed_by(garden: ReadConversation) -> None:
    assert node(1) not in garden.messages
    assert garden.messages[node(2)].parent is None
    assert garden.messages[node(2)].message.role == "system"


def test_thoughts_are_thinking(garden: ReadConversation) -> None:
    (thought,) = garden.messages[node(4)].message.blocks
    assert isinstance(thought, Thinking)
    assert thought.text == "Counting\n\nTwo and two."


@pytest.mark.parametrize("packed", [False, True], ids=["directory", "zip"])
def test_files_come_with_their_bytes_where_the_export_has_them(packed: bool, tmp_path: Path) -> None:
    conversations = read_path(zipped(tmp_path) if packed else PATH)
    media = [
        block
        for block in conversations[f"{CONVERSATION}1"].messages[node(3)].message.blocks
        if isinstance(block, Media)
    ]
    assert [(one.mime, one.data is not None, one.file_id) for one in media] == [
        ("image/png", True, None),
        ("", False, "file_gone"),
        ("text/plain", False, "file-Doc9"),
    ]
    (sound,) = (b for b in conversations[f"{CONVERSATION}3"].messages[node(31)].message.blocks if isinstance(b, Media))
    assert (sound.kind, sound.mime) == ("audio", "audio/wav")


def test_each_reply_has_its_own_model_and_says_when_it_was_cut_short(garden: ReadConversation) -> None:
    assert (garden.messages[node(10)].model, garden.messages[node(11)].model) == ("gpt-5", "gpt-5-thinking")
    assert (garden.messages[node(10)].finished, garden.messages[node(11)].finished) == (True, False)


def test_what_is_not_known_is_kept_whole(garden: ReadConversation) -> None:
    (other,) = garden.messages[node(17)].message.blocks
    assert isinstance(other, Other)
    assert other.raw == {"chatgpt": {"content_type": "app_pairing_content", "apps": ["new"]}}


def test_the_head_is_where_the_user_stood(garden: ReadConversation, conversations: dict[str, ReadConversation]) -> None:
    assert garden.conversation.head == node(16)
    assert conversations[f"{CONVERSATION}2"].conversation.head is None


def test_the_same_root_in_two_conversations_is_two_messages(tmp_path: Path) -> None:
    root = {"message": {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["hi"]}}}
    every = [{"id": name, "mapping": {"client-created-root": root}} for name in ("a", "b")]
    (tmp_path / "conversations.json").write_text(json.dumps(every))
    assert [list(one.messages) for one in read_path(tmp_path).values()] == [
        ["a:client-created-root"],
        ["b:client-created-root"],
    ]


def test_what_is_as_always_is_not_kept_beside_a_message(garden: ReadConversation) -> None:
    assert garden.messages[node(9)].message.envelope is None
    assert garden.messages[node(10)].message.envelope == {"chatgpt": {"end_turn": True}}
    assert garden.messages[node(11)].message.envelope["chatgpt"]["metadata"] == {
        "finish_details": {"type": "interrupted"}
    }


def export(place: Path, *messages: dict[str, object]) -> Path:
    """An export with one conversation, a path of these messages."""
    mapping: dict[str, object] = {"r": {"id": "r", "message": None, "parent": None, "children": []}}
    above = "r"
    for number, message in enumerate(messages):
        mapping[node(number)] = {"id": node(number), "parent": above, "children": [], "message": message}
        above = node(number)
    told = {"id": "c", "title": "t", "create_time": 1.7e9, "mapping": mapping, "current_node": above}
    path = place / "conversations.json"
    path.write_text(json.dumps([told]))
    return path


def said(role: str, text: str, time: float | None, **metadata: object) -> dict[str, object]:
    content = {"content_type": "text", "parts": [text]}
    return {"author": {"role": role}, "create_time": time, "content": content, "metadata": metadata}


def test_custom_instructions_without_a_time_leave_the_other_times_as_they_are(store: Store, tmp_path: Path) -> None:
    hidden = said("user", "", None)
    hidden["content"] = {"content_type": "user_editable_context", "user_profile": "P", "user_instructions": "I"}
    path = export(tmp_path, hidden, said("user", "How old?", 1.7e9 + 1), said("assistant", "210 years.", 1.7e9 + 50))
    import_path(store, path)
    times = [node.created_at - 1_700_000_000_000_000 for node in store.list_messages(ascending=True)]
    assert times == [999_999, 1_000_000, 50_000_000]


def test_an_attachment_whose_id_is_a_uuid_is_kept_and_so_is_a_message_of_nothing_else(tmp_path: Path) -> None:
    id = "2a96f881-0000-4000-8000-000000000001"
    shown = {"content_type": "image_asset_pointer", "asset_pointer": f"sediment://{id}"}
    only, both = (said("user", "", 1.7e9, attachments=[{"id": id, "name": "data.csv"}]) for _ in range(2))
    both["content"] = {"content_type": "multimodal_text", "parts": [shown, "look"]}
    (tmp_path / f"{id}-data.csv").write_bytes(b"a,b")
    found = read_path(export(tmp_path, only, both).parent)["c"].messages
    (media,) = found[node(0)].message.blocks
    assert isinstance(media, Media)
    assert (media.name, media.data) == ("data.csv", b"a,b")
    assert [type(block).__name__ for block in found[node(1)].message.blocks] == ["Media", "Text"]
