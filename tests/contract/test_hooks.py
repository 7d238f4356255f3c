"""The hooks of an application: what is changed, refused and told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import bough
from bough import Change, Invalid, Message, Refused, Save, Text, assistant, user
from bough.model.imported import Archive, Conversation, ImportedMessage
from bough.model.values import replace
from bough.redact import Redactor
from tests.contract.awaited import Awaited

SECRET = "ghp_aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"
CLEAN = "[redacted: github-token]"


def shout(message: Message) -> Message:
    return replace(message, blocks=tuple(Text(block.text.upper()) for block in message.blocks if type(block) is Text))


def refuse_spam(message: Message) -> Message:
    if "spam" in message.text:
        raise Refused("No spam here; nothing was saved.")
    return message


def texts(store: bough.Store) -> list[str]:
    return [node.message.text for node in store.list_messages(ascending=True)]


def save(store: Any) -> None:
    store.save_messages([Save(user("ask"))])


def save_turn(store: Any) -> None:
    store.session("cli:a").save_turn([user("ask"), assistant("reply")])


def turn(store: Any) -> None:
    with store.session("cli:a").turn("ask") as opened:
        opened.add(assistant("reply"))


def sketch(store: Any) -> None:
    opened = store.session("cli:a").turn("ask")
    opened.sketch("reply")
    opened.interrupt()


def record(store: Any) -> None:
    store.session("cli:a").record([user("ask"), assistant("reply")])


def compact(store: Any) -> None:
    session = store.session("cli:a")
    for _ in range(2):
        session.save_turn([user("ask"), assistant("reply")])
    session.compact(lambda _: "summary", 1)


def conversation(*said: str) -> Conversation:
    items = [
        ImportedMessage(f"m{at}", assistant(text) if at % 2 else user(text), f"m{at - 1}" if at else None)
        for at, text in enumerate(said)
    ]
    return Conversation("other", "c1", items)


def import_(store: Any) -> None:
    store.bring_in(conversation("ask", "reply"))


def archive(store: Any) -> None:
    with bough.connect(":memory:") as source:
        source.session("cli:a").save_turn([user("ask"), assistant("reply")])
        store.bring_in(Archive("a", [*source.list_messages(ascending=True), *source.list_turns(), *source.sessions()]))


WAYS: list[Callable[[Any], None]] = [save, save_turn, turn, sketch, record, compact, import_, archive]


@pytest.mark.parametrize("way", WAYS)
def test_before_save_changes_what_every_way_in_stores(connect: Callable[..., Any], way: Callable[[Any], None]) -> None:
    with connect(before_save=shout) as store:
        way(store)
        found = texts(store)
        assert found
        assert found == [text.upper() for text in found]
        assert store.verify() == []


def refuse(_: Message) -> Message:
    raise Refused("Not today; nothing was saved.")


@pytest.mark.parametrize("way", WAYS[:-2])
def test_what_before_save_refuses_is_not_stored(connect: Callable[..., Any], way: Callable[[Any], None]) -> None:
    with connect(before_save=refuse) as store:
        with pytest.raises(Refused, match="Not today"):
            way(store)
        assert texts(store) == []


@pytest.mark.parametrize("way", WAYS[-2:])
def test_an_import_leaves_out_and_reports_what_before_save_refuses(
    connect: Callable[..., Any], way: Callable[[Any], None]
) -> None:
    with connect(before_save=refuse) as store:
        way(store)
        assert texts(store) == []


def test_what_follows_a_refused_message_of_an_import_follows_its_parent(connect: Callable[..., Any]) -> None:
    with connect(before_save=refuse_spam) as store:
        result = store.bring_in(conversation("ask", "spam", "more", "reply"))
        assert [(one.place, one.reason) for one in result.skipped] == [("m1", "No spam here; nothing was saved.")]
        assert [node.message.text for node in store.session(result.session).path()] == ["ask", "more", "reply"]


def test_a_refused_reply_leaves_the_turn_failed_with_its_question(connect: Callable[..., Any]) -> None:
    with connect(before_save=refuse_spam) as store:
        session = store.session("cli:a")
        with pytest.raises(Refused, match="No spam"), session.turn("ask") as opened:
            opened.add(assistant("spam"))
        assert texts(store) == ["ask"]
        assert [turn.status for turn in session.turns()] == ["failed"]


def test_none_of_several_messages_is_saved_when_one_is_refused(connect: Callable[..., Any]) -> None:
    with connect(before_save=refuse_spam) as store:
        with pytest.raises(Refused, match="No spam"):
            store.save_messages([Save(user("fine")), Save(user("spam"))])
        assert texts(store) == []


def test_an_exception_of_before_save_is_passed_on(connect: Callable[..., Any]) -> None:
    def broken(_: Message) -> Message:
        raise ZeroDivisionError

    with connect(before_save=broken) as store:
        with pytest.raises(ZeroDivisionError):
            store.save_messages([Save(user("ask"))])
        assert texts(store) == []


def test_a_hook_that_returns_no_message_is_invalid(connect: Callable[..., Any]) -> None:
    with connect(before_save=lambda _: None) as store:
        with pytest.raises(Invalid, match="before_save returned None"):
            store.save_messages([Save(user("ask"))])
        assert texts(store) == []


@pytest.mark.parametrize("turns", [1, 20])
def test_record_recognises_what_it_stored_redacted(connect: Callable[..., Any], turns: int) -> None:
    with connect(before_save=Redactor()) as store:
        session, dialog = store.session("cli:a"), [user(SECRET), assistant(f"It is {SECRET}.")] * turns
        assert len(session.record(dialog)) == 2 * turns
        assert session.record(dialog) == []
        assert len(session.record([*dialog, user("And?"), assistant("Good.")])) == 2
        assert texts(store)[:2] == [CLEAN, f"It is {CLEAN}."]


def test_an_import_that_was_stored_redacted_is_known_the_next_time_and_may_grow(connect: Callable[..., Any]) -> None:
    with connect(before_save=Redactor()) as store:
        assert store.bring_in(conversation(SECRET, "reply")).added == 2
        assert store.bring_in(conversation(SECRET, "reply")).added == 0
        assert store.bring_in(conversation(SECRET, "reply", f"{SECRET}!", "yes")).added == 2
        assert texts(store) == [CLEAN, "reply", f"{CLEAN}!", "yes"]


def test_what_the_provider_sent_is_redacted_too(connect: Callable[..., Any]) -> None:
    reply = {"role": "assistant", "content": SECRET}
    with connect(before_save=Redactor()) as store:
        with store.session("cli:a").turn("ask") as opened:
            opened.add({"object": "chat.completion", "id": SECRET, "choices": [{"index": 0, "message": reply}]})
        assert SECRET not in repr(list(store.list_messages()))


def test_after_commit_is_told_what_is_durable_by_then(connect: Callable[..., Any], anywhere: dict[str, Any]) -> None:
    told: list[list[Change]] = []
    stored: list[list[Change]] = []

    def hook(made: list[Change]) -> None:
        told.append(made)
        with bough.connect(**anywhere) as other:
            stored.append(other.changes(made[0].cursor - 1))

    with connect(after_commit=hook) as store:
        session = store.session("cli:a")
        _, last = session.save_turn([user("ask"), assistant("reply")])
        session.path()
        archived = session.new()
        assert [[(one.kind, one.session, one.message_id) for one in made] for made in told] == [
            [("created", "cli:a", None)],
            [("added", "cli:a", last)],
            [("created", archived.key, last), ("moved", "cli:a", None)],
        ]
        assert stored == told


def test_after_commit_is_not_called_for_what_was_refused(connect: Callable[..., Any]) -> None:
    told: list[list[Change]] = []
    with connect(after_commit=told.append) as store:
        session = store.session("cli:a")
        told.clear()
        with pytest.raises(Invalid):
            session.save_turn([user("no reply")])
        assert told == []


def test_an_exception_of_after_commit_is_logged_and_no_write_fails(
    connect: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_: list[Change]) -> None:
        raise ZeroDivisionError

    with connect(after_commit=broken) as store:
        store.save_messages([Save(user("ask"))])
        assert texts(store) == ["ask"]
        with store.session("cli:a").turn("ask") as opened:
            opened.add(assistant("reply"))
        assert [turn.status for turn in store.turns()] == ["complete"]
    assert {record.message for record in caplog.records if record.name == "bough"} == {
        "after_commit failed; the changes that it was called for are stored."
    }


def test_after_commit_may_read_and_write_the_store(connect: Callable[..., Any]) -> None:
    opened: list[Any] = []

    def hook(made: list[Change]) -> None:
        if made[0].kind == "added":
            opened[0].label(made[0].message_id, "seen")

    with connect(after_commit=hook) as store:
        opened.append(store.sync if isinstance(store, Awaited) else store)
        (id_,) = store.save_messages([Save(user("ask"))])
        assert store.get_messages([id_])[0].label == "seen"
