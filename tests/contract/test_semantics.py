"""The semantics that must hold, one by one, as the design numbers them (docs/model.md)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from bough import Busy, Node, Refused, Save, Store, Usage, assistant, tool_call, tool_result, user
from bough.model.imported import Conversation, ImportedMessage
from tests.contract.test_messages import chain
from tests.contract.test_sessions import talk, texts


def test_1_nothing_acknowledged_is_lost_and_nothing_half_done_looks_done(connect: Callable[..., Any]) -> None:
    first = connect()
    session = first.session("s")
    talk(session, "done")
    turn = session.turn("half")
    turn.add(assistant("done?", tool_call("c", "x")))
    # No goodbye: another connection sees what a reader would see after a crash.
    with connect() as second:
        assert texts(second.session("s")) == ["done", "DONE"]
        assert [node.message.text for node in second.path(turn.id)] == ["done", "DONE", "half"]
    turn.interrupt()
    first.close()


def test_1_a_retry_after_a_lost_acknowledgement_adds_nothing(store: Store) -> None:
    session = store.session("s")
    for _ in range(3):
        session.save_turn([user("q"), assistant("a")], idempotency_key="request 1")
    assert texts(session) == ["q", "a"]


def test_2_two_writers_on_one_session_never_interleave(store: Store) -> None:
    session = store.session("s")
    with session.turn("first") as first:
        first.add(assistant("1"))
        with pytest.raises(Busy):
            session.turn("second", wait=0.01)
        first.add(assistant("2"))
    with session.turn("second") as second:
        second.add(assistant("3"))
    assert texts(session) == ["first", "1", "2", "second", "3"]


def test_3_a_fork_shares_the_prefix_and_leaves_the_original_alone(store: Store) -> None:
    session = store.session("s")
    turns = talk(session, "a", "b")
    before = list(store.list_messages())
    fork = session.fork(at=turns[0][1])
    assert list(store.list_messages()) == before
    talk(fork, "c")
    assert texts(session) == ["a", "A", "b", "B"]
    assert texts(fork) == ["a", "A", "c", "C"]
    assert fork.path()[:2] == session.path()[:2]


def test_4_deleting_a_node_with_children_is_refused_and_nothing_is_deleted(store: Store) -> None:
    ids = chain(store, 3)
    with pytest.raises(Refused, match="children"):
        store.delete_messages([ids[1]])
    assert len(list(store.list_messages())) == 3


def test_4_a_recursive_delete_takes_the_whole_subtree_and_sessions_move_up(store: Store) -> None:
    session = store.session("s")
    turns = talk(session, "a", "b", "c")
    fork = session.fork(at=turns[1][0])
    store.delete_messages([turns[1][0]], recursive=True)
    assert texts(session) == texts(fork) == ["a", "A"]
    assert len(list(store.list_messages())) == 2


def test_4_deleting_a_session_removes_only_what_no_other_session_reaches(store: Store) -> None:
    session = store.session("s")
    turns = talk(session, "a", "b", "c")
    fork = session.fork(at=turns[0][1])
    (free_standing,) = store.save_messages([Save(user("added by hand"), turns[1][1])])
    store.delete_session("s")
    assert texts(fork) == ["a", "A"]
    assert [node.message.text for node in store.path(free_standing)] == ["a", "A", "b", "B", "added by hand"]
    assert len(list(store.list_messages())) == 5
    store.restore("s")
    assert texts(store.session("s")) == ["a", "A", "b", "B", "c", "C"]


def test_5_the_whole_reply_is_kept_unknown_fields_included(store: Store) -> None:
    raw = {"id": "x", "unknown": {"deep": [None, 1e-7, "é", {"z": 1, "a": 2}]}, "arguments": '{"b":1, "a":2}'}
    session = store.session("s")
    with session.turn("q") as turn:
        turn.add(assistant(tool_call("c", "f", '{"b":1, "a":2}')), raw=raw)
        turn.add(tool_result("c", "r"))
    stored = session.path()[1].message
    assert stored.envelope == raw
    assert stored.calls[0].arguments == '{"b":1, "a":2}'


def test_7_system_prompts_are_not_messages_and_a_turn_may_keep_their_digest(store: Store) -> None:
    session = store.session("s")
    with session.turn("q", instructions="You are a gardener.") as turn:
        turn.add(assistant("a"))
    assert texts(session) == ["q", "a"]
    assert turn.info.instructions_digest is not None
    assert store.search("gardener") == []


def test_8_compaction_keeps_the_original(store: Store) -> None:
    session = store.session("s")
    talk(session, "a", "b", "c", "d")
    before = session.path()
    summary = session.compact(lambda nodes: f"They said {len(nodes)} things.", keep_turns=2)
    assert summary is not None
    path = session.path()
    assert path[:-1] == before
    assert (path[-1].kind, path[-1].covers) == ("summary", before[3].id)
    assert [hit.node.id for hit in store.search("A")] == [before[1].id, before[0].id]
    assert texts(session.fork(at=before[1].id)) == ["a", "A"]
    talk(session, "e", "f")
    seen: list[str] = []

    def summarize(nodes: list[Node]) -> str:
        seen.extend(node.message.text for node in nodes)
        return "More."

    again = session.compact(summarize, keep_turns=1)
    assert again is not None
    assert seen == ["They said 4 things.", "c", "C", "d", "D", "e", "E"]


def test_8_a_summary_that_fails_or_is_too_late_leaves_the_session_as_it_was(store: Store) -> None:
    session = store.session("s")
    talk(session, "a", "b", "c")
    before = session.path()

    def fails(_: object) -> str:
        raise RuntimeError("no model")

    with pytest.raises(RuntimeError):
        session.compact(fails, keep_turns=1)
    assert session.compact(lambda _: "x", keep_turns=5) is None
    assert session.path() == before


def test_9_order_does_not_depend_on_clocks(connect: Callable[..., Any]) -> None:
    times = iter([5_000_000, 4_000_000, 3_000_000, 2_000_000, 1_000_000, 900_000, 800_000, 700_000, *[600_000] * 50])
    with connect(clock=lambda: next(times)) as store:
        session, other = store.session("s"), store.session("o")
        talk(session, "a", "b")
        talk(other, "c")
        path = session.path()
        assert [node.message.text for node in path] == ["a", "A", "b", "B"]
        assert all(earlier.created_at < later.created_at for earlier, later in pairwise(path))
        assert [node.message.text for node in store.list_messages()] == ["C", "c", "B", "b", "A", "a"]
        assert [info.key for info in store.sessions()] == ["o", "s"]


def test_9_messages_of_one_transaction_are_a_microsecond_apart(connect: Callable[..., Any]) -> None:
    with connect(clock=lambda: 7_000_000) as store:
        times = [node.created_at for node in store.get_messages(chain(store, 4))]
        assert times == [7_000_000, 7_000_001, 7_000_002, 7_000_003]


def test_9_history_from_elsewhere_keeps_its_times_within_reason(connect: Callable[..., Any]) -> None:
    with connect(clock=lambda: 9_000_000) as store:
        old = Save(user("old"), created_at=1_000)
        future = Save(assistant("future"), old, created_at=99_000_000_000)
        before = Save(user("before its parent"), future, created_at=5)
        times = [node.created_at for node in store.get_messages(store.save_messages([old, future, before]))]
        assert times == [1_000, 9_000_001, 9_000_002]


def test_10_a_digest_names_a_message_and_everything_before_it(store: Store) -> None:
    one, other, shorter = (
        store.save_messages([first := Save(user(start)), Save(assistant("same"), first)]) for start in ("x", "x", "y")
    )
    digests = [store.get_messages(ids)[1].digest for ids in (one, other, shorter)]
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize(
    "text", ["", "\0", "a\0b", "\ud800", "x\udfffy", "\U0010ffff", "é" * 300, "🌳" * 2000, "\r\n\t\x1b[31m"]
)
def test_11_every_text_survives(store: Store, text: str) -> None:
    message = assistant(text, tool_call(text or "c", text or "n", text))
    (id,) = store.save_messages([Save(message, label=text)])
    node = store.get_messages([id])[0]
    assert node.message == message
    assert node.label == text


def test_12_nothing_is_silent(store: Store) -> None:
    session = store.session("s")
    talk(session, "a")
    assert [info.key for info in store.clean(0.0)] == ["s"]
    assert texts(session) == ["a", "A"]
    with pytest.raises(TypeError):
        session.save_turn([user("q"), assistant("a")], usage=Usage(input_tokens=1), no_such_option=1)  # type: ignore[call-arg]


def test_16_upkeep_moves_no_conversation_and_changes_nobodys_place(store: Store) -> None:
    here = "/home/me/garden"
    old, new = store.session("cli:old", directory="/elsewhere"), store.session("cli:new", directory="/elsewhere")
    ids, _ = talk(old, "a", "b")
    talk(store.session("cli:new", directory=here), "c")
    before = [(info.key, info.updated_at, info.cursor) for info in store.sessions()]
    assert [key for key, *_ in before] == ["cli:new", "cli:old"]

    def check() -> None:
        assert [(info.key, info.updated_at, info.cursor) for info in store.sessions()] == before
        assert (store.last_session("/elsewhere"), store.last_session(here)) == (
            old.info,
            new.info,
        )

    old.update(title="Renamed", directory="/elsewhere", extra={"a": 1})
    store.session("cli:old", title="Again", directory=here)
    store.label(ids[0], "topic")
    old.rewind()
    old.move(None)
    old.move(ids[1])
    check()
    store.delete_session("cli:old")
    assert [info.key for info in store.sessions()] == ["cli:new"]
    store.restore("cli:old")
    check()
    old.clear()
    store.restore(ids[0])
    check()
    store.delete_session("cli:new")
    assert store.last_session(here) is None
    talk(old, "unrelated")
    store.restore("cli:new")
    assert store.last_session(here) == new.info
    assert [info.key for info in store.sessions()] == ["cli:old", "cli:new"]


def test_16_a_directory_continues_what_it_last_talked_to_wherever_that_comes_from(store: Store) -> None:
    a, b = store.session("cli:a", directory="/a"), store.session("cli:b", directory="/b")
    assert store.last_session("/a") is None
    talk(a, "1")
    talk(b, "2")
    found = [store.last_session(directory) for directory in ("/a", "/b", "/c\0")]
    assert found == [a.info, b.info, None]
    resumed = store.session("cli:a", directory="/b")
    assert store.last_session("/b") == b.info
    with resumed.turn("3") as turn:
        assert store.last_session("/b") == a.info  # a question is enough
        turn.add(assistant("C"))
    assert (a.info.directory, store.last_session("/a")) == ("/a", a.info)
    talk(b, "4")
    assert store.last_session("/b") == b.info
    forked = resumed.fork(key="cli:fork")
    assert store.last_session("/b") == b.info
    forked.record([user("5"), assistant("E")])
    assert store.last_session("/b") == forked.info
    talk(store.session("cli:b"), "6")
    assert store.last_session("/b") == forked.info


def test_16_an_import_stands_at_its_own_time(connect: Callable[..., Any]) -> None:
    now = 1_000_000

    def conversation(id: str, *times: int) -> Conversation:
        said = enumerate(times)
        items = [
            ImportedMessage(
                f"{id}{n}", assistant("a") if n % 2 else user("q"), f"{id}{n - 1}" if n else None, created_at=at
            )
            for n, at in said
        ]
        return Conversation("elsewhere-app", id, items)

    with connect(clock=lambda: now) as store:
        for key, at in (("first", 1_000_000), ("second", 2_000_000), ("second", 4_000_000), ("third", 6_000_000)):
            now = at
            talk(store.session(key), "hello")
        now = 9_000_000
        for id, time in (("x", 1_500_000), ("y", 3_000_000), ("z", 3_500_000), ("same", 3_500_000), ("w", 5_000_000)):
            store.bring_in(conversation(id, time - 2, time))
        order = ["third", "w", "second", "same", "z", "y", "x", "first"]
        assert [info.key.rpartition(":")[2] for info in store.sessions()] == order
        cursors = [info.cursor for info in store.sessions()]
        assert cursors == sorted(set(cursors), reverse=True)
        store.bring_in(conversation("x", 1_499_998, 1_500_000, 7_000_000, 7_000_001))
        assert [info.key for info in store.sessions(limit=2)] == ["elsewhere-app:x", "third"]
        talk(store.session("first"), "again")
        assert [info.key for info in store.sessions(limit=2)] == ["first", "elsewhere-app:x"]
