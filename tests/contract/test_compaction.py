"""Every message of a path is covered by the summary of a request or sent beside it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bough import (
    Conflict,
    Invalid,
    Message,
    Node,
    Refused,
    Save,
    Session,
    Store,
    assistant,
    tool_call,
    tool_result,
    user,
)
from bough.context.fit import Context
from bough.model.tokens import estimate
from tests.contract.awaited import Awaited

BUDGET = 1_000


def text(name: str, tokens: int) -> str:
    """A text of about this many tokens that begins with its name."""
    return f"<{name}> " + "x " * (tokens * 7 // 4)


def turn(number: int, tokens: int) -> list[Message]:
    return [user(text(f"q{number}", tokens // 2)), assistant(text(f"a{number}", tokens // 2))]


class Summarizer:
    """Writes summaries of given sizes, and remembers what it was given."""

    def __init__(self, *sizes: int, window: int | None = None) -> None:
        self.sizes = sizes or (20,)
        self.window = window
        self.calls: list[list[Node]] = []
        self.seen: set[str] = set()

    def __call__(self, nodes: list[Node]) -> str:
        self.calls.append(nodes)
        self.seen |= {node.id for node in nodes}
        return text("summary", self.sizes[(len(self.calls) - 1) % len(self.sizes)])


def messages(session: Session) -> list[Node]:
    return [node for node in session.path() if node.kind == "message"]


def summaries(session: Session) -> list[Node]:
    return [node for node in session.path() if node.kind == "summary"]


def covered(session: Session) -> list[str]:
    """The ids that the newest summary covers."""
    ids, newest = [node.id for node in messages(session)], summaries(session)[-1:]
    return ids[: ids.index(newest[0].covers or "") + 1] if newest else []


def sent(session: Session, made: Context) -> list[str]:
    """The ids of the messages whose names are in the request."""
    payload = json.dumps(made.payload)
    return [node.id for node in messages(session) if node.message.text.split()[0] in payload]


def check_no_hole(session: Session, made: Context) -> None:
    ids = [node.id for node in messages(session)]
    assert covered(session) + sent(session, made) == ids
    assert made.dropped == ()


def fill(session: Session, turns: int, tokens: int) -> Session:
    for number in range(turns):
        session.save_turn(turn(number, tokens))
    return session


sizes = st.lists(st.integers(20, 1_500), min_size=1, max_size=12)


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(sizes, st.integers(50, 2_000), st.lists(st.integers(5, 900), min_size=1, max_size=4), st.booleans())
def test_14_what_a_summary_covers_and_what_is_sent_are_the_whole_path(
    store: Store, turns: list[int], budget: int, lengths: list[int], small_window: bool
) -> None:
    session = store.session("s")
    session.clear()
    summarize = Summarizer(*lengths, window=400 if small_window else None)
    for number, tokens in enumerate(turns):
        session.save_turn(turn(number, tokens))
        before = summaries(session)
        calls = len(summarize.calls)
        made = session.context("openai.chat", budget, reserve=0, summarize=summarize)
        check_no_hole(session, made)
        assert set(covered(session)) <= summarize.seen
        if summaries(session) != before:
            assert made.tokens <= budget / 2 or len(sent(session, made)) == 2
        assert small_window or len(summarize.calls) - calls <= 3
        assert len(summaries(session)) - len(before) <= 1


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(sizes, st.integers(50, 2_000))
def test_14_without_a_summarizer_what_is_not_sent_is_named(store: Store, turns: list[int], budget: int) -> None:
    session = store.session("s")
    session.clear()
    for number, tokens in enumerate(turns):
        session.save_turn(turn(number, tokens))
        made = session.context("openai.chat", budget, reserve=0)
        assert [*made.dropped, *sent(session, made)] == [node.id for node in messages(session)]


@pytest.mark.parametrize(("tokens", "turns", "most"), [(250, 24, 12), (20, 150, 8), (90, 40, 8), (450, 12, 6)])
def test_the_next_compaction_is_due_after_the_dialog_has_about_doubled(
    store: Store, tokens: int, turns: int, most: int
) -> None:
    session, summarize = store.session("s"), Summarizer()
    for number in range(turns):
        session.save_turn(turn(number, tokens))
        assert session.context("openai.chat", BUDGET, reserve=0, summarize=summarize).fits
    assert len(summaries(session)) == len(summarize.calls) <= most


def test_a_summary_longer_than_expected_takes_in_more_turns_and_not_without_end(store: Store) -> None:
    session = fill(store.session("s"), 12, 100)
    summarize = Summarizer(300, 250)
    made = session.context("openai.chat", BUDGET, reserve=0, summarize=summarize)
    check_no_hole(session, made)
    assert len(summarize.calls) == 2
    assert summarize.calls[1][0].message.text.startswith("<summary>")
    assert made.tokens <= BUDGET / 2
    huge = Summarizer(2_000)
    session.save_turn(turn(12, 900))
    made = session.context("openai.chat", BUDGET, reserve=0, summarize=huge)
    check_no_hole(session, made)
    assert (len(sent(session, made)), made.fits) == (2, False)
    calls = len(huge.calls)
    assert session.context("openai.chat", BUDGET, reserve=0, summarize=huge).payload == made.payload
    assert len(huge.calls) == calls <= 3


def test_a_newest_turn_that_alone_exceeds_the_budget_is_not_summarised(store: Store) -> None:
    session, summarize = fill(store.session("s"), 1, 3_000), Summarizer()
    assert not session.context("openai.chat", BUDGET, summarize=summarize).fits
    assert summarize.calls == []


def test_a_summarizer_with_a_window_gets_pieces_and_the_summary_so_far(store: Store) -> None:
    session = fill(store.session("s"), 3, 300)
    session.save_turn([user(text("long", 2_000)), assistant(tool_call("c", "read"), "I look."),
                       tool_result("c", text("result", 1_000)), assistant("done")])  # fmt: skip
    session.save_turn(turn(9, 100))
    summarize = Summarizer(20, window=400)
    assert session.compact(summarize, keep_turns=1)
    assert len(summarize.calls) > 8
    for nodes in summarize.calls:
        assert sum(estimate(node.message) for node in nodes) <= 400
    for nodes in summarize.calls[1:]:
        assert [node.kind for node in nodes][:2] == ["summary", "message"]
    ids = dict.fromkeys(node.id for nodes in summarize.calls for node in nodes if node.kind == "message")
    assert list(ids) == covered(session)
    given = "".join(node.message.text for nodes in summarize.calls for node in nodes if node.id == list(ids)[6])
    assert given == text("long", 2_000)


def test_a_compaction_without_numbers_keeps_at_most_half_of_the_dialog(store: Store) -> None:
    session = fill(store.session("s"), 10, 100)
    assert session.compact(Summarizer())
    assert len(covered(session)) in (10, 12)
    for _ in range(10):
        session.compact(Summarizer())
    assert len(messages(session)) - len(covered(session)) == 2
    assert session.compact(Summarizer()) is None
    assert store.session("empty").compact(Summarizer()) is None


def test_numbers_that_allow_nothing_are_refused(store: Store) -> None:
    session = fill(store.session("s"), 3, 100)
    refused: list[dict[str, Any]] = [{"keep_turns": 0}, {"budget": -5}, {"budget": 0}, {"reserve": -1, "budget": 10}]
    for numbers in refused:
        with pytest.raises(Invalid, match="at least"):
            session.compact(Summarizer(), **numbers)
    with pytest.raises(Invalid, match="at least 1"):
        session.context("openai.chat", -5)
    assert summaries(session) == []


def test_a_turn_that_grows_too_large_has_what_precedes_it_summarised(store: Store) -> None:
    session, summarize = fill(store.session("s"), 4, 200), Summarizer()
    with session.turn(text("now", 20)) as running:
        for step in range(4):
            made = running.context("openai.chat", BUDGET, reserve=0, summarize=summarize)
            assert made.fits
            running.add([assistant(f"step{step}", tool_call(f"c{step}", "read")),
                         tool_result(f"c{step}", text(f"result{step}", 130))])  # fmt: skip
        running.add(assistant("<done>"))
        made = running.context("openai.chat", BUDGET, reserve=0, summarize=summarize)
    assert (running.status, len(summarize.calls), len(summaries(session))) == ("complete", 1, 1)
    assert summaries(session)[0].turn_id == running.id
    after = session.context("openai.chat", BUDGET, reserve=0)
    assert after.payload == made.payload
    assert "<summary>" in json.dumps(after.payload[0])
    assert "<now>" in json.dumps(after.payload)
    assert after.dropped == ()


def test_a_turn_may_be_compacted_last_and_is_complete(store: Store) -> None:
    session, summarize = fill(store.session("s"), 4, 200), Summarizer()
    with session.turn("now?") as running:
        running.add(assistant(text("long", 400)))
        assert running.context("openai.chat", BUDGET, reserve=0, summarize=summarize).fits
    assert running.status == "complete"
    assert [node.kind for node in session.path()][-1] == "summary"
    start = running.info.parent_id
    with pytest.raises(Refused, match="complete"):
        running.compact(summarize, keep_turns=1)
    assert session.rewind() == start


def test_a_turn_that_was_compacted_is_known_by_its_idempotency_key(store: Store) -> None:
    session = fill(store.session("s"), 4, 200)
    words = [user("now?"), assistant("some"), assistant("more")]
    with session.turn(words[0], idempotency_key="k") as running:
        running.add(words[1])
        assert running.compact(Summarizer(), keep_turns=1)
        running.add(words[2])
    stored = [node.id for node in session.path() if node.turn_id == running.id]
    assert len(stored) == 4
    assert session.save_turn(words, idempotency_key="k") == stored
    with pytest.raises(Conflict):
        session.save_turn([*words[:2], assistant("else")], idempotency_key="k")


def test_a_turn_that_grew_while_it_was_summarised_has_no_summary(store: Store) -> None:
    session = fill(store.session("s"), 4, 200)
    running: Any = session.turn("now?")

    plain = running._facade.sync if isinstance(running, Awaited) else running

    def grows(_: list[Node]) -> str:
        plain.add(assistant("a"))
        return "Too late."

    with pytest.raises(Conflict, match="grew"):
        running.compact(grows, keep_turns=1)
    running.complete()
    assert summaries(session) == []


@pytest.mark.parametrize("afresh", [False, True])
@pytest.mark.parametrize("rewound", [False, True])
def test_18_a_summary_goes_when_no_session_reaches_it_any_more(store: Store, afresh: bool, rewound: bool) -> None:
    session = store.session("s")
    for number in range(4):
        session.save_turn(turn(number, 50))
        session.compact(Summarizer(), keep_turns=1)
        if rewound:
            session.rewind(to=messages(session)[-1].id)
    if afresh:
        session.new()
        session.save_turn(turn(9, 50))
    assert store.verify(unreachable=True) == []
    for info in store.sessions():
        store.delete_session(info.key)
        assert store.verify(unreachable=True) == []
    assert (store.size().messages, store.sessions()) == (0, [])


def test_18_a_summary_stays_with_the_session_that_reaches_it(store: Store) -> None:
    session = fill(store.session("s"), 3, 50)
    session.compact(Summarizer(), keep_turns=1)
    other = session.fork()
    before = other.path()
    store.delete_session("s")
    assert other.path() == before
    store.restore("s")
    store.delete_session(other.key)
    assert session.path() == before


def test_verify_names_what_nothing_reaches_when_asked(store: Store) -> None:
    root, left, right = store.save_messages([
        first := Save(user("root")), Save(assistant("left"), first), Save(assistant("right"), first)
    ])  # fmt: skip
    assert store.verify() == []
    found = store.verify(unreachable=True)
    assert [(finding.code, finding.subject) for finding in found] == [("unreachable", id) for id in (root, left, right)]
    assert store.unreachable() == [root, left, right]
    store.label(left, "kept")
    assert [finding.subject for finding in store.verify(unreachable=True)] == [right]
    store.fork(right)
    assert store.verify(unreachable=True, repair=True) == []
