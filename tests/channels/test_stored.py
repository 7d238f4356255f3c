"""What channels store: inbox, outbox, members, spending, cursors and leases, on every backend."""

from __future__ import annotations

from typing import Any

import pytest

import bough
from bough import NotFound, Store, Usage
from bough.channels.chats import Chats
from bough.channels.events import Attachment, ChannelEvent
from bough.channels.inbox import KEPT, Inbox
from bough.channels.leadership import LEASE, Leadership
from bough.channels.members import CODE_SECONDS, TRIES, Members, SpendingLimits
from bough.channels.outbox import Outbox, Sent

DAY = 86_400_000_000


class Clock:
    """A clock that the test sets."""

    now = 1_000 * DAY

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock(store: Store) -> Clock:
    store.clock = clock = Clock()
    return clock


@pytest.fixture
def store(anywhere: dict[str, Any]) -> Any:
    with bough.connect(**anywhere) as opened:
        yield opened


def event(delivery: str = "m:7:1", **fields: Any) -> ChannelEvent:
    return ChannelEvent(
        **{"kind": "message", "conversation": "telegram:7", "chat": "7", "sender": "7", **fields}, delivery=delivery
    )


def test_an_event_is_stored_as_it_came() -> None:
    came = event(
        text="Hi \udc80\0", attachments=(Attachment("F1", "a.png", "image/png", 3),), is_group=True, is_addressed=False
    )
    assert ChannelEvent.from_json(came.as_json()) == came


def test_an_event_that_is_delivered_again_is_stored_once(store: Store) -> None:
    inbox = Inbox(store, "telegram")
    assert inbox.put(event(text="one"))
    assert inbox.put(event("m:7:2", text="two"))
    assert not inbox.put(event(text="one"))
    assert Inbox(store, "discord").put(event(text="elsewhere"))
    assert [one.event.text for one in inbox.open()] == ["one", "two"]


def test_a_done_event_is_not_open_and_is_recognised_for_two_weeks(store: Store, clock: Clock) -> None:
    inbox, outbox = Inbox(store, "telegram"), Outbox(store, "telegram")
    inbox.put(event())
    (one,) = inbox.open()
    outbox.put("m:7:1", 0, Sent("7", "55"))
    inbox.take([one])
    inbox.begin([one.n], "abc123")
    (working,) = inbox.open()
    assert (working.state, working.turn) == ("working", "abc123")
    inbox.finish([one.n])
    assert inbox.open() == []
    clock.now += KEPT
    inbox.prune()
    assert not inbox.put(event())
    assert outbox.parts("m:7:1") == [Sent("7", "55")]
    clock.now += 1
    inbox.prune()
    assert outbox.parts("m:7:1") == []
    assert inbox.put(event())


def test_a_waiting_message_takes_the_words_of_its_edit_and_one_in_work_does_not(store: Store) -> None:
    inbox = Inbox(store, "telegram")
    inbox.put(event(text="frist", reply_to="3"))
    edit = event("e:7:1:9", kind="edit", message="1", text="first")
    assert inbox.reword(edit)
    (one,) = inbox.open()
    assert (one.event.text, one.event.reply_to) == ("first", "3")
    (taken,) = inbox.take([one])
    assert taken.event.text == "first"
    assert not inbox.reword(edit)
    assert not inbox.reword(event("e:7:99:9", kind="edit", message="99", text="x"))


def test_parts_of_an_answer_are_kept_in_order_and_removed(store: Store) -> None:
    outbox = Outbox(store, "telegram")
    outbox.put("m:7:1", 1, Sent("7", "11"))
    outbox.put("m:7:1", 0, Sent("7", "10"))
    assert outbox.parts("m:7:1") == [Sent("7", "10"), Sent("7", "11")]
    outbox.remove("m:7:1", 1)
    assert outbox.parts("m:7:1") == [Sent("7", "10")]


def test_an_empty_list_lets_nobody_in(store: Store) -> None:
    assert not Members(store, "telegram").allows("7", "-100")
    listed = Members(store, "telegram", ["-100"])
    assert listed.allows("7", "-100")
    assert not listed.allows("7", "7")


def test_a_code_lets_in_one_person_once(store: Store) -> None:
    members = Members(store, "telegram")
    code = members.make_code()
    assert members.admit(code, "7", "Ann")
    assert not members.admit(code, "8", "Bob")
    assert members.allows("7")
    assert not members.allows("8")
    assert not Members(store, "discord").allows("7")
    members.remove("7")
    assert not members.allows("7")
    with pytest.raises(NotFound, match="'7' was not let in"):
        members.remove("7")


def test_a_code_expires_and_cannot_be_guessed_for_long(store: Store, clock: Clock) -> None:
    members = Members(store, "telegram")
    late = members.make_code()
    clock.now += CODE_SECONDS * 1_000_000
    assert not members.admit(late, "7", "Ann")
    code = members.make_code()
    for _ in range(TRIES):
        members.admit("0" * 20, "8", "Bob")
    assert not members.admit(code, "8", "Bob")
    assert members.admit(code, "7", "Ann")
    assert not any(code.encode() in row for row in store.db.rows("channel_members", "telegram"))


@pytest.mark.parametrize(
    ("limits", "says"), [(SpendingLimits(tokens=10), "10 tokens"), (SpendingLimits(cost=0.5), "$0.5")]
)
def test_a_member_who_has_spent_the_limit_waits_until_midnight(
    store: Store, clock: Clock, limits: SpendingLimits, says: str
) -> None:
    members = Members(store, "telegram", ["7", "8"], limits)
    assert members.refusal("7", clock.now) is None
    for _ in range(2):
        store.write(lambda now: members.charge("7", Usage(3, 2, cost=0.25), now))
    assert says in (members.refusal("7", clock.now) or "")
    assert members.refusal("8", clock.now) is None
    assert members.refusal("7", clock.now + DAY) is None


def test_cursors_and_what_a_chat_has_seen_are_kept_by_channel(store: Store) -> None:
    chats = Chats(store, "discord")
    chats.put_cursors({"c1": "100", "c2": "7"})
    chats.put_cursors({"c1": "200"})
    assert chats.cursors() == {"c1": "200", "c2": "7"}
    assert Chats(store, "telegram").cursors() == {}
    session = store.session("discord:dm:1")
    session.save_turn(["one", "1"])
    store.write(lambda _: chats.show("discord:dm:1", session.head))
    assert chats.added_elsewhere("discord:dm:1", session.path()) == []
    session.save_turn(["two", "2"])
    assert [node.message.text for node in chats.added_elsewhere("discord:dm:1", session.path())] == ["two", "2"]
    assert chats.added_elsewhere("discord:dm:2", session.path()) == []


def test_one_process_leads_and_another_takes_over_when_it_is_gone(store: Store, clock: Clock) -> None:
    first, second = Leadership(store, "telegram"), Leadership(store, "telegram")
    assert first.take()
    assert first.take()
    assert not second.take()
    second.give_up()
    assert not second.take()
    clock.now += LEASE
    assert second.take()
    assert not first.take()
    second.give_up()
    assert first.take()
