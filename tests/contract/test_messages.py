"""Saving, getting, listing and deleting messages."""

from __future__ import annotations

import pytest

from bough import (
    Invalid,
    Media,
    Message,
    Node,
    NotFound,
    Other,
    Refused,
    Save,
    Store,
    Text,
    Thinking,
    ToolResult,
    assistant,
    get_dialog,
    system,
    tool_call,
    tool_result,
    user,
)


def chain(store: Store, count: int) -> list[str]:
    """A conversation of so many messages."""
    saves: list[Save] = []
    for place in range(count):
        message = user(f"question {place}") if place % 2 == 0 else assistant(f"answer {place}")
        saves.append(Save(message, saves[-1] if saves else None))
    return store.save_messages(saves)


def test_ids_come_back_in_the_order_of_the_input(store: Store) -> None:
    ids = store.save_messages([Save(user("first")), Save(user("second")), Save(user("third"))])
    assert [node.message.text for node in store.get_messages(ids)] == ["first", "second", "third"]


def test_an_id_has_six_characters_of_base36(store: Store) -> None:
    (id,) = store.save_messages([Save(user("hello"))])
    assert len(id) == 6
    assert set(id) <= set("0123456789abcdefghijklmnopqrstuvwxyz")


def test_a_parent_may_be_an_earlier_save_of_the_same_call(store: Store) -> None:
    question = Save(user("a question"))
    root, one, other = store.save_messages(
        [question, Save(assistant("one"), question), Save(assistant("other"), question)]
    )
    assert [node.id for node in store.children(root)] == [one, other]


def test_a_parent_that_comes_later_is_refused_and_nothing_is_saved(store: Store) -> None:
    late = Save(user("late"))
    with pytest.raises(Invalid, match="before its child"):
        store.save_messages([Save(assistant("early"), late), late])
    assert list(store.list_messages()) == []


def test_an_unknown_parent_is_named_and_nothing_is_saved(store: Store) -> None:
    with pytest.raises(NotFound, match="'nosuch'"):
        store.save_messages([Save(user("kept?")), Save(user("lost"), "nosuch")])
    assert list(store.list_messages()) == []


def test_something_that_is_no_message_is_refused_and_nothing_is_saved(store: Store) -> None:
    with pytest.raises(Invalid, match="role"):
        store.save_messages([Save(user("fine")), Save(Message("robot", ()))])  # type: ignore[arg-type]
    assert list(store.list_messages()) == []


def test_saving_nothing_is_fine(store: Store) -> None:
    assert store.save_messages([]) == []


def test_getting_keeps_the_order_asked_for_and_repeats(store: Store) -> None:
    one, two = store.save_messages([Save(user("one")), Save(user("two"))])
    assert [node.id for node in store.get_messages([two, one, two])] == [two, one, two]


def test_getting_a_missing_id_names_it(store: Store) -> None:
    (there,) = store.save_messages([Save(user("there"))])
    with pytest.raises(NotFound, match="'missng'"):
        store.get_messages([there, "missng"])


def test_every_kind_of_block_comes_back_equal(store: Store) -> None:
    message = Message(
        "assistant",
        (
            Text("words", extra={"citations": [1, 2]}, raw={"type": "text", "text": "words", "new_field": None}),
            Thinking("hm", raw={"type": "thinking", "thinking": "hm", "signature": "c2ln"}),
            tool_call("call_1", "look", {"where": "under the oak", "deep": {"a": [1, 2.5, None, True]}}),
            Media("image", "image/png", data=b"\x89PNG\r\n\x1a\n" * 40, name="oak.png"),
            Media("document", "application/pdf", url="https://example.org/oak.pdf"),
            Media("audio", "audio/wav", file_id="file_123", extra={"seconds": 3}),
            Other("brand_new_item", {"type": "brand_new_item", "payload": {"b": 1, "a": 2}}),
        ),
        envelope={"id": "msg_1", "stop_reason": "tool_use", "usage": {"input_tokens": 3}},
    )
    (id,) = store.save_messages([Save(message)])
    assert store.get_messages([id])[0].message == message


def test_a_tool_result_keeps_its_parts_its_error_and_its_images(store: Store) -> None:
    parts = (Text("a picture:"), Media("image", "image/png", data=b"png" * 100), Other("ref", {"tool": "x"}))
    message = Message("tool_result", (ToolResult("call_1", parts, True, "look", {"ms": 3}),), True)
    (id,) = store.save_messages([Save(message)])
    loaded = store.get_messages([id])[0].message
    assert loaded == message
    assert loaded.error
    assert loaded.results[0].text == "a picture:"


def test_key_order_and_unknown_fields_of_raw_survive(store: Store) -> None:
    raw = {"z": 1, "a": {"y": None, "b": []}, "text": "x" * 100, "é": "\ud800"}
    (id,) = store.save_messages([Save(Message("assistant", (Text("x" * 100, raw=raw),)))])
    block = store.get_messages([id])[0].message.blocks[0]
    assert isinstance(block, Text)
    assert list(block.raw) == list(raw)
    assert block.raw == raw


def test_a_message_without_blocks_is_kept(store: Store) -> None:
    (id,) = store.save_messages([Save(user())])
    assert store.get_messages([id])[0].message == user()


def test_roles_of_all_four_kinds_are_kept(store: Store) -> None:
    messages = [user("u"), assistant("a"), tool_result("c", "r"), system("s")]
    ids = store.save_messages([Save(message) for message in messages])
    assert [node.message for node in store.get_messages(ids)] == messages


def test_listing_is_newest_first_with_blocks(store: Store) -> None:
    ids = chain(store, 5)
    assert [node.id for node in store.list_messages()] == ids[::-1]
    assert next(iter(store.list_messages())).message.text == "question 4"


def test_listing_ascends_skips_and_stops(store: Store) -> None:
    ids = chain(store, 7)
    assert [node.id for node in store.list_messages(offset=2, limit=3, ascending=True)] == ids[2:5]
    assert [node.id for node in store.list_messages(offset=2, limit=3)] == ids[::-1][2:5]
    assert list(store.list_messages(offset=7)) == []


def test_listing_goes_over_many_pages(store: Store) -> None:
    ids = chain(store, 450)
    assert [node.id for node in store.list_messages(offset=10)] == ids[::-1][10:]


def test_a_message_saved_while_listing_does_not_disturb_the_list(store: Store) -> None:
    ids = chain(store, 300)
    listing = store.list_messages()
    seen = [next(listing).id]
    store.save_messages([Save(user("meanwhile"))])
    assert seen + [node.id for node in listing] == ids[::-1]


def test_deleting_a_leaf_leaves_the_rest(store: Store) -> None:
    ids = chain(store, 3)
    store.delete_messages([ids[2]])
    assert [node.id for node in store.list_messages(ascending=True)] == ids[:2]


def test_deleting_a_missing_id_is_no_error(store: Store) -> None:
    ids = chain(store, 2)
    store.delete_messages(["nosuch"])
    store.delete_messages([], recursive=True)
    store.delete_messages(["nosuch", ids[1]])
    assert [node.id for node in store.list_messages()] == ids[:1]


def test_deleting_all_of_a_subtree_by_name_needs_no_recursion(store: Store) -> None:
    ids = chain(store, 3)
    store.delete_messages(ids[1:])
    assert [node.id for node in store.list_messages()] == ids[:1]


def test_one_refusal_keeps_everything(store: Store) -> None:
    ids, other = chain(store, 2), chain(store, 1)
    with pytest.raises(Refused, match="recursive=True"):
        store.delete_messages([other[0], ids[0]])
    assert len(list(store.list_messages())) == 3


def test_a_dialog_is_built_from_any_getter(store: Store) -> None:
    ids = chain(store, 6)

    class OneByOne:
        def get_messages(self, ids: list[str]) -> list[Node]:
            return store.get_messages(ids)

    assert [node.id for node in get_dialog(OneByOne(), ids[4])] == ids[:5]  # type: ignore[arg-type]
    with pytest.raises(NotFound):
        get_dialog(store, "nosuch")


def test_long_content_streams_in_pieces(store: Store) -> None:
    text, data = "übung " * 100_000, bytes(range(256)) * 2_000
    message = Message(
        "tool_result", (Text(text), Media("video", "video/mp4", data=data), Text("short"), Text("x" * 900))
    )
    (id,) = store.save_messages([Save(message)])
    pieces = list(store.content(id, 0, chunk=10_000))
    assert b"".join(pieces).decode() == text
    assert b"".join(store.content(id, 1, chunk=1_000)) == data
    assert b"".join(store.content(id, 2)) == b"short"
    assert b"".join(store.content(id, 3)) == b"x" * 900
    with pytest.raises(NotFound, match="no block 9"):
        list(store.content(id, 9))
