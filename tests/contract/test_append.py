"""Messages that are added as they come, many turns at once, and texts in place of messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

import bough
from bough import Conflict, Invalid, Message, SaveTurn, Store, Usage, assistant, tool_call, tool_result, user
from tests.contract.test_sessions import texts

CALL, RESULT = assistant(tool_call("c", "f", {})), tool_result("c", "r")


def shape(store: Store, key: str) -> Sequence[tuple[str, int]]:
    """The status of each turn of a session and the number of its messages, oldest first."""
    found = []
    for info in reversed(store.turns(key)):
        path = store.path(info.last_id)
        found.append((info.status, sum(node.turn_id == info.id for node in path)))
    return found


def test_a_dialog_that_another_program_leads_is_one_turn_for_each_question(store: Store) -> None:
    session = store.session("s")
    for step in ([user("q")], [CALL, RESULT], [assistant("a")], [user("again")]):
        session.append(step)
    assert [node.role for node in session.path()] == ["user", "assistant", "tool_result", "assistant", "user"]
    assert shape(store, "s") == [("complete", 4), ("complete", 1)]
    assert store.verify(unreachable=True) == []
    session.rewind(turns=2)
    assert session.head is None
    store.delete_session("s")
    assert store.size().messages == 0


def test_one_call_may_add_several_turns_and_continue_the_last(store: Store) -> None:
    session = store.session("s")
    session.append(["q1", "a1"])
    ids = session.append([CALL, RESULT, user("q2"), assistant("a2"), user("q3"), user("and")])
    assert session.head == ids[-1]
    assert shape(store, "s") == [("complete", 4), ("complete", 2), ("complete", 2)]
    assert [info.last_id for info in reversed(store.turns("s"))] == [ids[1], ids[3], ids[5]]


def test_append_of_nothing_adds_nothing(store: Store) -> None:
    session = store.session("s")
    cursor = store.cursor()
    assert session.append([]) == []
    assert store.cursor() == cursor


def test_append_continues_no_turn_of_another_session_and_none_that_was_stopped(store: Store) -> None:
    session = store.session("s")
    session.append(["q", "a"])
    other = session.fork(key="other")
    other.append([assistant("more")])
    assert shape(store, "other") == [("complete", 1)]
    assert shape(store, "s") == [("complete", 2)]
    with session.turn("next") as turn:
        turn.stop("stopped")
    session.append([assistant("late")])
    assert shape(store, "s") == [("complete", 2), ("stopped", 1), ("complete", 1)]


def test_append_again_with_the_same_key_adds_nothing_and_other_words_are_a_conflict(store: Store) -> None:
    session = store.session("s")
    first = session.append([user("q")], idempotency_key="k1")
    second = session.append([assistant("a"), user("q2")], idempotency_key="k2")
    session.append([assistant("a2")])
    assert session.append([user("q")], idempotency_key="k1") == first
    assert session.append([assistant("a"), user("q2")], idempotency_key="k2") == second
    for words in ([assistant("a")], [assistant("a"), user("other")], [assistant("a"), user("q2"), assistant("a2")]):
        with pytest.raises(Conflict, match="idempotency key"):
            session.append(words, idempotency_key="k2")
    assert texts(session) == ["q", "a", "q2", "a2"]


def test_append_after_another_head_is_a_conflict(store: Store) -> None:
    session = store.session("s")
    (first,) = session.append([user("q")], after=None)
    with pytest.raises(Conflict, match="moved on"):
        session.append([user("late")], after=None)
    session.append([assistant("a")], after=first)
    for verb in (session.append, session.save_turn):
        with pytest.raises(Conflict, match="moved on"):
            verb(["late", "answer"], after=first)
        with pytest.raises(Conflict, match="moved on"):
            verb(["late", "answer"], after=None)
    with pytest.raises(Conflict, match="moved on"):
        session.save_turns([["late", "answer"]], after=first)
    assert texts(session) == ["q", "a"]


def test_what_is_appended_has_its_provenance(store: Store) -> None:
    session = store.session("s")
    session.append([user("q")], metadata={"from": "sdk"})
    session.append([CALL, RESULT], model="m", usage=Usage(10, 1, cost=1.0))
    reply = {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m2",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 20, "completion_tokens": 2, "total_tokens": 22},
    }  # fmt: skip
    session.append([reply])
    (info,) = store.turns("s")
    assert info.model == "m2"
    assert info.usage.input_tokens == 30
    assert info.metadata == {"from": "sdk"}
    assert [(r.model, r.usage.input_tokens) for r in session.replies()] == [("m2", 20), ("m", 10)]
    assert [(t.name, t.usage.input_tokens) for t in session.usage(by="model")] == [("m", 10), ("m2", 20)]
    assert store.verify() == []


def test_append_waits_for_an_open_turn_and_then_is_busy(store: Store) -> None:
    session = store.session("s")
    with session.turn("q") as turn:
        with pytest.raises(bough.Busy):
            session.append([user("x")], wait=0)
        turn.add("a")
    assert texts(session) == ["q", "a"]


def test_what_is_appended_can_be_followed_and_passes_the_hook(connect: Callable[..., Any]) -> None:
    with connect(before_save=lambda message: user("changed") if message.role == "user" else message) as store:
        session = store.session("s")
        cursor = store.cursor()
        ids = session.append(["q"])
        assert [(change.kind, change.message_id) for change in store.changes(cursor)] == [("added", ids[0])]
        assert texts(session) == ["changed"]
        session.save_turns([["q", "a"]])
        assert texts(session) == ["changed", "changed", "a"]


# Many turns at once -------------------------------------------------------------------------------------------------


def test_many_turns_are_saved_at_once_each_as_it_would_be_alone(store: Store) -> None:
    many, single = store.session("many"), store.session("single")
    turns: list[SaveTurn | list[Message]] = [
        SaveTurn(["q1", CALL, RESULT, "a1"], model="m", usage=[Usage(1, 1), Usage(2, 2)], metadata={"x": 1}),
        SaveTurn([user("q2"), assistant("a2")], idempotency_key="k", provider="p", instructions="be brief"),
        [user("q3"), assistant("a3")],
    ]
    ids = many.save_turns(turns)
    for turn in turns:
        t = turn if isinstance(turn, SaveTurn) else SaveTurn(turn)
        single.save_turn(
            t.messages, idempotency_key=t.idempotency_key, model=t.model, provider=t.provider, usage=t.usage,
            instructions=t.instructions, metadata=t.metadata,
        )  # fmt: skip
    assert [len(each) for each in ids] == [4, 2, 2]
    assert [node.id for node in many.path()] == [id_ for each in ids for id_ in each]
    assert texts(many) == texts(single)

    def comparable(key: str) -> list[Any]:
        return [
            (t.status, t.usage, t.model, t.provider, t.metadata, t.instructions_digest, t.context_tokens)
            for t in store.turns(key)
        ]

    assert comparable("many") == comparable("single")
    assert [t.id for t in reversed(store.turns("many"))] == [each[0] for each in ids]
    assert [t.parent_id for t in reversed(store.turns("many"))] == [None, ids[0][-1], ids[1][-1]]
    assert store.verify(unreachable=True) == []


def test_many_turns_are_saved_all_or_none(store: Store) -> None:
    session = store.session("s")
    with pytest.raises(Invalid, match="ends with a reply"):
        session.save_turns([["q", "a"], [user("q2")]])
    with pytest.raises(Invalid, match="twice"):
        session.save_turns([SaveTurn(["q", "a"], "k"), SaveTurn(["q", "a"], "k")])
    assert session.head is None
    assert session.save_turns([]) == []
    assert store.size().messages == 0


def test_turns_that_were_saved_before_under_their_keys_are_not_saved_again(store: Store) -> None:
    session = store.session("s")
    first = session.save_turns([SaveTurn(["q1", "a1"], "k1")])
    again = session.save_turns([SaveTurn(["q1", "a1"], "k1"), SaveTurn(["q2", "a2"], "k2"), ["q3", "a3"]])
    assert again[0] == first[0]
    assert texts(session) == ["q1", "a1", "q2", "a2", "q3", "a3"]
    assert session.save_turns([SaveTurn(["q2", "a2"], "k2")]) == [again[1]]
    with pytest.raises(Conflict, match="idempotency key"):
        session.save_turns([["q4", "a4"], SaveTurn(["q2", "other"], "k2")])
    assert texts(session)[-1] == "a3"


# Texts --------------------------------------------------------------------------------------------------------------


def test_a_text_is_a_message_wherever_one_is_taken(store: Store) -> None:
    session = store.session("s")
    with session.turn("q") as turn:
        turn.add("a")
    session.save_turn(["b", "B"])
    session.save_turn([user("c"), "C"])
    assert [(node.role, node.message.text) for node in session.path()] == [
        ("user", "q"), ("assistant", "a"), ("user", "b"), ("assistant", "B"), ("user", "c"), ("assistant", "C"),
    ]  # fmt: skip
    with pytest.raises(Invalid, match="ends with a reply"):
        session.save_turn(["alone"])


def test_messages_can_follow_any_message_and_what_was_the_dialog_stays_a_branch(store: Store) -> None:
    session = store.session("s")
    question, answer = session.append([user("q"), assistant("a")])
    (other,) = session.append([assistant("b")], at=question)
    assert texts(session) == ["q", "b"]
    (root,) = session.append([user("else")], at=None)
    assert session.head == root
    assert texts(session) == ["else"]
    assert {node.id for node in store.children(question)} == {answer, other}
    session.append([assistant("there")], at=answer)
    assert texts(session) == ["q", "a", "there"]
    assert store.verify() == []


def test_documents_are_written_with_the_messages_that_they_are_about_or_not_at_all(store: Store) -> None:
    session = store.session("s")
    ids = session.append([user("q"), assistant("a")], documents=lambda ids: {"tip": ids[-1]}, revisions={"tip": 0})
    assert session.document("tip").value == ids[-1]
    with pytest.raises(Conflict):
        session.append([user("again")], documents={"tip": "?"}, revisions={"tip": 0})
    assert texts(session) == ["q", "a"]


def test_messages_get_external_names_in_the_same_transaction(store: Store) -> None:
    session = store.session("s")
    ids = session.append([user("q"), assistant("a")], external=[("tool", "one"), None])
    assert store.find_external("tool", "one") == ids[0]
    with pytest.raises(ValueError):
        session.append([user("q"), assistant("a")], external=[("tool", "two")])
    assert len(session.path()) == 2
