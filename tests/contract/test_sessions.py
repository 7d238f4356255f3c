"""Sessions: found or made, listed, moved, delegated."""

from __future__ import annotations

from typing import Any

import pytest

from bough import (
    Busy,
    Conflict,
    Invalid,
    Message,
    NotFound,
    Refused,
    Save,
    Session,
    Store,
    Text,
    assistant,
    cli_key,
    delegate_key,
    discord_key,
    parse_key,
    telegram_key,
    user,
)
from bough.codec.encode import Draft, draft
from bough.storage import messages


def talk(session: Session, *exchanges: str) -> list[list[str]]:
    """One turn for each word; the ids of their messages."""
    return [session.save_turn([user(word), assistant(word.upper())]) for word in exchanges]


def texts(session: Session) -> list[str]:
    return [node.message.text for node in session.path()]


def test_a_session_is_found_or_made(store: Store) -> None:
    made = store.session("cli:default", title="First", directory="/tmp/x")
    talk(made, "hello")
    found = store.session("cli:default")
    assert texts(found) == ["hello", "HELLO"]
    assert (found.info.title, found.info.directory) == ("First", "/tmp/x")
    assert len(store.sessions()) == 1


def test_what_is_said_of_a_session_is_written_and_the_rest_stays(store: Store) -> None:
    session = store.session("cli:default", title="First", model="a", extra={"k": [1]})
    store.session("cli:default", model="b")
    session.update(agent="reviewer")
    info = session.info
    assert (info.title, info.model, info.agent, info.extra) == ("First", "b", "reviewer", {"k": [1]})


@pytest.mark.parametrize(
    ("key", "channel", "channel_id", "parent", "agent"),
    [
        (cli_key(), "cli", "default", None, None),
        (cli_key("work"), "cli", "work", None, None),
        (discord_key("dm", 42), "discord", "dm:42", None, None),
        (discord_key("channel", "7"), "discord", "channel:7", None, None),
        (discord_key("thread", 9), "discord", "thread:9", None, None),
        (telegram_key(648079060), "telegram", "648079060", None, None),
        (delegate_key("telegram:7", "sysinfo"), "telegram", "7", "telegram:7", "sysinfo"),
        ("telegram:7:delegate:a:delegate:b", "telegram", "7", "telegram:7:delegate:a", "b"),
        ("just a name", None, None, None, None),
        ("-starts:with a dash", "-starts", "with a dash", None, None),
    ],
)
def test_keys_are_parsed_in_one_place(
    store: Store, key: str, channel: str | None, channel_id: str | None, parent: str | None, agent: str | None
) -> None:
    parsed = parse_key(key)
    assert (parsed.channel, parsed.channel_id, parsed.parent, parsed.agent) == (channel, channel_id, parent, agent)
    info = store.session(key).info
    assert (info.key, info.channel, info.channel_id) == (key, channel, channel_id)


@pytest.mark.parametrize("key", ["", "x" * 513, "a\0b", "\ud800", 7])
def test_a_key_that_cannot_be_kept_is_invalid(store: Store, key: str) -> None:
    with pytest.raises(Invalid, match="key"):
        store.session(key)


def test_sessions_are_listed_by_last_use_with_filters_and_cursors(store: Store) -> None:
    for number in range(7):
        channel = "cli" if number % 2 else "telegram"
        talk(store.session(f"{channel}:{number}", directory=f"/d{number % 3}"), "hi")
    talk(store.session("telegram:0"), "again")
    keys = [info.key for info in store.sessions()]
    assert keys == ["telegram:0", "telegram:6", "cli:5", "telegram:4", "cli:3", "telegram:2", "cli:1"]
    assert [info.key for info in store.sessions(channel="cli")] == ["cli:5", "cli:3", "cli:1"]
    assert [info.key for info in store.sessions(directory="/d0")] == ["telegram:0", "telegram:6", "cli:3"]
    first = store.sessions(limit=3)
    rest = store.sessions(before=first[-1].cursor)
    assert [info.key for info in first + rest] == keys


def test_an_empty_store_lists_nothing(store: Store) -> None:
    assert store.sessions() == []
    assert store.find_session("nosuch") is None


def test_rewind_goes_back_by_turns_and_to_a_message(store: Store) -> None:
    session = store.session("s")
    turns = talk(session, "a", "b", "c")
    assert session.rewind() == turns[1][1]
    assert texts(session) == ["a", "A", "b", "B"]
    assert session.rewind(to=turns[0][1]) == turns[0][1]
    assert session.rewind(turns=1) is None
    assert session.path() == []
    assert len(list(store.list_messages())) == 6


def test_rewind_refuses_what_is_not_on_the_path(store: Store) -> None:
    session, other = store.session("s"), store.session("o")
    talk(session, "a")
    elsewhere = talk(other, "b")[0][0]
    with pytest.raises(Refused, match="fork at it, instead"):
        session.rewind(to=elsewhere)
    with pytest.raises(Invalid, match="1 turns"):
        session.rewind(turns=2)
    with pytest.raises(NotFound):
        session.rewind(to="nosuch")
    assert texts(session) == ["a", "A"]


def test_rewind_to_none_stands_before_the_first_message(store: Store) -> None:
    session = store.session("s")
    (first, *_), _ = talk(session, "a", "b")
    (question,) = store.get_messages([first])
    assert session.rewind(to=question.parent_id) is None  # "edit this message", for the first one
    assert session.path() == []
    with pytest.raises(Invalid, match="0 turns"):
        session.rewind()
    with pytest.raises(Invalid, match="at least 1"):
        session.rewind(turns=0)


def test_rewind_counts_turns_of_many_messages_summaries_and_messages_outside_turns(store: Store) -> None:
    root, answer = store.save_messages([first := Save(user("a")), Save(assistant("A"), first)])
    session = store.fork(answer, "s")
    with session.turn("b") as turn:
        turn.add([assistant("B1"), assistant("B2"), assistant("B3")])
    session.compact(lambda _: "summary", keep_turns=1)
    last = talk(session, "c")[0]
    assert session.rewind(to=last[0]) == last[0]
    session.rewind()
    assert [node.kind for node in session.path()][-1] == "summary"
    assert session.rewind() == answer
    assert session.rewind() is None
    session.move(answer)
    assert session.rewind(turns=1) is None
    assert root


def test_move_stands_at_any_message_and_returns_to_what_it_left(store: Store) -> None:
    session, other = store.session("s"), store.session("o")
    ((_, left),) = talk(session, "left")
    elsewhere = talk(other, "there")[0]
    session.rewind()
    ((_, right),) = talk(session, "right")
    assert session.move(left) == left
    assert texts(session) == ["left", "LEFT"]
    assert session.move(elsewhere[0]) == elsewhere[0]  # another tree, and a question
    talk(session, "more")
    assert texts(session) == ["there", "more", "MORE"]
    assert texts(other) == ["there", "THERE"]
    assert session.move(None) is None
    assert session.path() == []
    assert session.move(right[:5]) == right
    assert texts(session) == ["right", "RIGHT"]
    assert store.verify() == []


def test_move_refuses_unknown_messages_and_open_turns(store: Store) -> None:
    session = store.session("s")
    ((first, _),) = talk(session, "a")
    with pytest.raises(NotFound):
        session.move("nosuch")
    with session.turn("b") as turn:
        turn.add(assistant("B"))
        for verb in (lambda: session.move(first), lambda: session.move(None), session.pop):
            with pytest.raises(Busy):
                verb()
    assert texts(session) == ["a", "A", "b", "B"]


def test_pop_takes_the_last_message_off_the_dialog_and_keeps_it_as_a_branch(store: Store) -> None:
    session = store.session("s")
    ((first, last),) = talk(session, "a")
    popped = session.pop()
    assert popped is not None
    assert (popped.id, popped.message) == (last, assistant("A"))
    assert session.head == first
    assert [node.id for node in store.children(first)] == [last]
    assert session.pop() is not None
    assert session.path() == []
    assert session.pop() is None
    assert session.move(last) == last
    assert texts(session) == ["a", "A"]


def test_after_a_rewind_the_conversation_branches(store: Store) -> None:
    session = store.session("s")
    turns = talk(session, "a", "b")
    session.rewind()
    talk(session, "other")
    assert texts(session) == ["a", "A", "other", "OTHER"]
    assert len(store.children(turns[0][1])) == 2


def test_clear_empties_the_session_and_can_be_undone(store: Store) -> None:
    session = store.session("s")
    talk(session, "a", "b")
    session.clear()
    assert session.path() == []
    assert list(store.list_messages()) == []
    (entry,) = store.trash()
    store.restore(entry.id)
    assert texts(session) == ["a", "A", "b", "B"]


def test_clear_leaves_what_a_fork_still_reaches(store: Store) -> None:
    session = store.session("s")
    turns = talk(session, "a", "b")
    fork = session.fork(at=turns[0][1])
    session.clear()
    assert session.path() == []
    assert texts(fork) == ["a", "A"]


def test_new_starts_afresh_and_archives_the_old(store: Store) -> None:
    session = store.session("cli:default", title="Old", directory="/d")
    talk(session, "a")
    archived = session.new()
    assert archived is not None
    assert session.path() == []
    assert texts(archived) == ["a", "A"]
    assert (archived.info.title, archived.info.directory) == ("Old", "/d")
    assert session.new() is None


def test_a_fork_of_a_session_takes_over_what_it_says_of_itself(store: Store) -> None:
    session = store.session("discord:dm:1", title="T", model="m", directory="/d")
    talk(session, "a")
    info = session.fork().info
    assert (info.title, info.model, info.directory, info.channel) == ("T", "m", "/d", "discord")
    assert info.forked_from == "discord:dm:1"
    with pytest.raises(Refused, match="empty"):
        store.session("nothing here").fork()
    with pytest.raises(Conflict):
        session.fork(key="discord:dm:1")


def test_a_delegate_has_its_own_session_label_and_link(store: Store) -> None:
    session = store.session("telegram:1")
    with session.turn("review this") as turn:
        (called,) = turn.add(assistant("I will ask a colleague."))
        helper = turn.delegate("review", "a1b2c3d4", call_id="call_7")
        ids = helper.save_turn([user("please review"), assistant("looks fine")])
        turn.add(assistant("It looks fine."))
    assert helper.key == "telegram:1:delegate:review"
    assert {node.label for node in helper.path()} == {"subagent:review:a1b2c3d4"}
    info = store.find_session(helper.key)
    assert info is not None
    assert (info.parent_key, info.parent_message_id, info.agent) == ("telegram:1", called, "review")
    delegated = store.turn_info(ids[0])
    assert (delegated.caller_id, delegated.caller_call) == (called, "call_7")
    assert "please review" not in texts(session)


def test_runs_of_one_agent_may_each_have_a_session_of_their_own(store: Store) -> None:
    session = store.session("cli:default")
    talk(session, "a")
    with session.turn("two at once") as turn:
        (called,) = turn.add(assistant("I will ask two colleagues."))
        first = turn.delegate("review", "r1", call_id="c1", own=True)
        second = turn.delegate("review", "r2", call_id="c2", own=True)
        with first.turn("left half") as left, second.turn("right half") as right:
            left.add(assistant("fine"))
            right.add(assistant("not fine"))
        turn.add(assistant("Half of it is fine."))
    assert [first.key, second.key] == ["cli:default:delegate:review:r1", "cli:default:delegate:review:r2"]
    assert {node.label for node in second.path()} == {"subagent:review:r2"}
    for helper in (first, second):
        info = store.find_session(helper.key)
        assert info is not None
        assert (info.agent, info.parent_key, info.parent_message_id) == ("review", "cli:default", called)
    assert [info.key for info in store.sessions(delegates=False)] == ["cli:default"]


def test_a_subagent_that_nobody_here_called_is_left_out_with_the_delegates(store: Store) -> None:
    talk(store.session("cli:default"), "a")
    talk(store.session("subagent:review:r1", agent="review"), "b")
    assert {info.key for info in store.sessions()} == {"cli:default", "subagent:review:r1"}
    assert [info.key for info in store.sessions(delegates=False)] == ["cli:default"]


def test_delegates_are_listed_under_their_parent_and_can_be_left_out(store: Store) -> None:
    session = store.session("cli:default")
    talk(session, "a")
    first = session.delegate("scout")
    talk(first, "look")
    again = session.delegate("scout")
    assert first.label != again.label
    assert again.key == first.key
    assert [info.key for info in store.sessions(parent="cli:default")] == [first.key]
    assert [info.key for info in store.sessions(delegates=False)] == ["cli:default"]


def test_deleting_a_session_takes_its_delegates_along(store: Store) -> None:
    session = store.session("cli:default")
    talk(session, "a")
    talk(session.delegate("scout"), "look")
    store.delete_session("cli:default")
    assert store.sessions() == []
    assert list(store.list_messages()) == []
    store.restore("cli:default")
    assert {info.key for info in store.sessions()} == {"cli:default", "cli:default:delegate:scout"}
    assert store.verify() == []


def test_a_deleted_session_says_so(store: Store) -> None:
    session = store.session("gone")
    store.delete_session("gone")
    with pytest.raises(NotFound, match="'gone'"):
        _ = session.head
    with pytest.raises(NotFound, match="'gone'"):
        talk(session, "a")
    with pytest.raises(NotFound, match="'gone'"):
        store.delete_session("gone")


def test_a_message_knows_the_sessions_that_pass_through_it(store: Store) -> None:
    session = store.session("cli:a")
    (first, reply), (_, last) = talk(session, "one", "two")
    fork = session.fork(at=reply)
    store.session("cli:other").save_turn([user("x"), assistant("y")])
    assert [info.key for info in store.sessions_through(first)] == [fork.key, "cli:a"]
    assert [info.key for info in store.sessions_through(last)] == ["cli:a"]
    with pytest.raises(NotFound):
        store.sessions_through("nobody")


def test_sessions_are_listed_by_their_last_use_whoever_was_used_in_between(store: Store) -> None:
    a, b = store.session("a"), store.session("b")
    talk(a, "1")
    talk(a, "2")  # goes on where the last turn was
    assert [info.key for info in store.sessions()] == ["a", "b"]
    with b.turn("question") as turn:
        turn.add(assistant("answer"))
    assert [info.key for info in store.sessions()] == ["b", "a"]
    with b.turn("another") as turn:
        talk(a, "3")
        turn.add(assistant("answer"))
    assert [info.key for info in store.sessions()] == ["b", "a"]
    a.rewind()
    assert [info.key for info in store.sessions()] == ["b", "a"]
    assert [info.revision for info in store.sessions()] == [2, 4]
    a.turn("unanswered").interrupt()
    assert [info.key for info in store.sessions()] == ["a", "b"]


def test_recording_again_prepares_only_what_is_new(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared: list[Message] = []

    def counted(message: Message) -> Draft:
        prepared.append(message)
        return draft(message)

    monkeypatch.setattr(messages, "draft", counted)
    session = store.session("s")
    dialog = [say(str(place)) for place in range(50) for say in (user, assistant)]
    session.record(dialog)
    assert prepared == dialog
    prepared.clear()
    session.record([*dialog, user("more"), assistant("yes")])
    assert prepared == [user("more"), assistant("yes")]
    prepared.clear()
    session.record([*dialog[:60], user("or less"), assistant("no")])
    assert prepared == [user("or less"), assistant("no")]
    assert len(session.path()) == 62


def test_what_is_no_message_is_not_recorded(store: Store) -> None:
    session = store.session("s")
    known = [say(str(place)) for place in range(20) for say in (user, assistant)]
    session.record(known)
    bad: list[Any] = ["words", Message("nobody", (Text("x"),)), Message("user", (5,)), Message("user", (Text(5),))]  # type: ignore[arg-type]
    for message in bad:
        for dialog in ([message], [*known, message], [known[0], message, *known[2:]]):
            with pytest.raises(Invalid):
                session.record(dialog)
    assert [node.message for node in session.path()] == known
