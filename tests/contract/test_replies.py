"""Every reply has its own model, provider, request id, usage and times; the figures of turns are their sums."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import bough
from bough import Invalid, Node, NotFound, Session, Store, Usage, assistant, tool_call, tool_result, user
from bough.exporters.jsonl import everything
from bough.importers.bough_jsonl import IMPORTER

CHAT = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "model": "gpt-4o-mini",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Yes."}}],
    "usage": {"prompt_tokens": 1000, "completion_tokens": 1000, "total_tokens": 2000},
}
CLAUDE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-of-the-future",
    "content": [{"type": "text", "text": "No."}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 10, "output_tokens": 5},
}


def two_models(session: Session) -> str:
    """A turn of a small model that calls a tool, and of a big one that answers; its id."""
    with session.turn("How deep is the pond?", provider="acme") as turn:
        turn.add(
            assistant(tool_call("c", "measure", {})),
            model="small", usage=Usage(10, 1, cost=0.5), request_id="r1", started_at=5, first_token_at=6,
        )  # fmt: skip
        turn.add(tool_result("c", "2 m"))
        turn.add(assistant("Two metres."), model="big", usage=Usage(20, 2, cost=2.0), request_id="r2")
    return turn.id


def sums(store: Store, **given: Any) -> list[tuple[Any, ...]]:
    return [(t.name, t.turns, t.replies, t.usage.output_tokens, t.usage.cost) for t in store.usage(**given)]


def test_each_reply_of_a_turn_keeps_its_own_provenance(store: Store) -> None:
    id = two_models(store.session("s"))
    second, first = store.replies(turn=id)
    assert (first.model, first.provider, first.request_id, first.usage) == (
        "small", "acme", "r1", Usage(10, 1, cost=0.5),
    )  # fmt: skip
    assert (first.started_at, first.first_token_at) == (5, 6)
    assert (second.model, second.request_id, second.usage, second.started_at) == (
        "big", "r2", Usage(20, 2, cost=2.0), None,
    )  # fmt: skip
    assert (first.turn_id, first.session) == (id, "s")
    assert first.finished_at <= second.finished_at
    assert [store.get_messages([reply.message_id])[0].role for reply in (first, second)] == ["assistant"] * 2
    (info,) = store.turns()
    assert (info.usage, info.model, info.request_id) == (Usage(30, 3, cost=2.5), "big", "r2")
    assert store.verify() == []


def test_two_models_in_one_turn_are_two_rows(store: Store) -> None:
    two_models(store.session("s"))
    assert sums(store, by="model") == [("big", 1, 1, 2, 2.0), ("small", 1, 1, 1, 0.5)]
    assert sums(store) == [(None, 1, 2, 3, 2.5)]


def test_a_message_of_which_nothing_is_known_has_no_row_and_its_turn_counts(store: Store) -> None:
    store.session("s").save_turn([user("q"), assistant("a")])
    assert store.replies() == []
    (total,) = store.usage()
    assert (total.turns, total.replies, total.usage, total.unpriced) == (1, 0, Usage(), 1)


def test_a_saved_turn_has_a_usage_for_all_or_for_each_reply(store: Store) -> None:
    session = store.session("s")
    dialog = [user("q"), assistant(tool_call("c", "f", {})), tool_result("c", "x"), assistant("a")]
    session.save_turn(dialog, model="m", usage=Usage(9, 9), request_id="r")
    (whole,) = store.replies()
    assert (whole.usage, whole.request_id, whole.message_id) == (Usage(9, 9), "r", session.head)
    session.save_turn(dialog, model="m", usage=[Usage(1, 1), Usage(2, 2)])
    assert [reply.usage for reply in session.replies(limit=2)] == [Usage(2, 2), Usage(1, 1)]
    assert store.turns()[0].usage == Usage(3, 3)
    assert store.turns()[0].context_tokens == 4
    session.save_turn(dialog, usage=[None, Usage(2, 2)])
    with pytest.raises(Invalid, match="1 usages for 2 replies"):
        session.save_turn(dialog, usage=[Usage(1, 1)])
    assert store.verify() == []


def test_replies_of_providers_in_a_saved_turn_keep_their_own_figures(store: Store) -> None:
    session = store.session("s")
    session.save_turn([user("q"), CHAT, user("Sure?"), CLAUDE])
    later, earlier = store.replies()
    assert (earlier.model, earlier.provider, earlier.usage.input_tokens) == ("gpt-4o-mini", "openai", 1000)
    assert (later.model, later.provider, later.request_id) == ("claude-of-the-future", "anthropic", "msg_1")
    assert [node.message.text for node in session.path()] == ["q", "Yes.", "Sure?", "No."]


def test_what_was_spent_before_a_turn_is_at_its_first_message(store: Store) -> None:
    session = store.session("s")
    with session.turn("q", model="m", spent=Usage(100, 10, cost=1.0)) as turn:
        turn.add([], usage=Usage(1, 1))  # an answer that was cut off before any of it was kept
        turn.add(assistant("a"), usage=Usage(7, 3))
    second, first = store.replies(turn=turn.id)
    assert (first.message_id, first.model, first.usage) == (turn.id, "m", Usage(101, 11, cost=1.0))
    assert (second.message_id, second.model, second.usage) == (session.head, "m", Usage(7, 3))
    assert store.turns()[0].usage == Usage(108, 14, cost=1.0)


def test_a_summary_that_no_turn_added_has_its_own_cost(store: Store) -> None:
    session = store.session("s")
    for _ in range(3):
        session.save_turn([user("q"), assistant("a")], usage=Usage(1, 1))
    id = session.compact(lambda _: "In short.", 1, usage=lambda: Usage(50, 5, cost=0.25))
    newest = store.replies()[0]
    assert (newest.message_id, newest.turn_id, newest.session, newest.usage) == (id, None, "s", Usage(50, 5, cost=0.25))
    (total,) = store.usage()
    assert (total.turns, total.replies, total.usage) == (3, 4, Usage(53, 8, cost=0.25))
    with session.turn("more", model="m") as turn:
        turn.add(assistant("b"), usage=Usage(1, 1))
        turn.compact(lambda _: "In shorter.", 1, usage=lambda: Usage(7, 7))
    assert store.turns()[0].usage == Usage(8, 8)
    assert store.verify() == []


class Writer:
    """A writer of summaries that says which model it is."""

    model, provider = "small", "openai"

    def __call__(self, nodes: Sequence[Node]) -> str:
        return f"{len(nodes)} messages."


def test_a_summary_is_paid_for_by_the_model_that_wrote_it(store: Store) -> None:
    session = store.session("s")
    for _ in range(3):
        session.save_turn([user("q"), assistant("a")], model="large", usage=Usage(1, 1))
    session.compact(Writer(), 1, usage=lambda: Usage(50, 5))
    with session.turn("more", model="large") as turn:
        turn.add(assistant("b"), usage=Usage(1, 1))
        turn.compact(Writer(), 1, usage=lambda: Usage(7, 7))
    assert [(total.names, total.usage) for total in store.usage(by=("model", "provider"))] == [
        (("large", None), Usage(4, 4)),
        (("small", "openai"), Usage(57, 12)),
    ]
    assert store.verify() == []


def test_recording_notes_the_model_of_each_reply(store: Store) -> None:
    session = store.session("s")
    session.record([user("q"), assistant("a"), user("r"), assistant("b")], model="m1")
    session.record([user("q"), assistant("a"), user("r"), assistant("b"), user("s"), assistant("c")], model="m2")
    assert [(t.name, t.turns, t.replies) for t in store.usage(by="model")] == [("m1", 2, 2), ("m2", 1, 1)]


def test_totals_are_by_any_group_and_any_pair(store: Store) -> None:
    two_models(store.session("cli:a", agent="gardener"))
    store.session("cli:b").save_turn([user("q"), assistant("a")], model="small", usage=Usage(1, 4))
    assert sums(store, by="session") == [("cli:a", 1, 2, 3, 2.5), ("cli:b", 1, 1, 4, None)]
    assert sums(store, by="agent") == [(None, 1, 1, 4, None), ("gardener", 1, 2, 3, 2.5)]
    assert sums(store, by="provider") == [(None, 1, 1, 4, None), ("acme", 1, 2, 3, 2.5)]
    pairs = store.usage(by=("session", "model"))
    assert [t.names for t in pairs] == [("cli:a", "big"), ("cli:a", "small"), ("cli:b", "small")]
    assert [t.name for t in pairs] == [None] * 3
    assert [t.usage.output_tokens for t in pairs] == [2, 1, 4]
    today = datetime.now(UTC).strftime("%Y-%m-%d")
    assert {t.names[1] for t in store.usage(by=("model", "day"))} <= {
        today, (datetime.now(UTC) - timedelta(days=1)).strftime("%Y-%m-%d"),
    }  # fmt: skip
    (unlabelled,) = store.usage(by="label")
    assert unlabelled.names == (None,)
    assert sums(store.session("cli:b"), by="model") == [("small", 1, 1, 4, None)]  # type: ignore[arg-type]
    assert store.usage()[0].names == ()


@pytest.mark.parametrize("by", ["week", ("model", "week"), ("model", "model"), (), ("model", "day", "agent"), 5])
def test_another_group_is_an_error_that_names_the_groups(store: Store, by: Any) -> None:
    with pytest.raises(Invalid, match="by is one of model, provider, session, agent, label, day"):
        store.usage(by=by)


def test_totals_and_replies_are_of_a_span_of_time(connect: Callable[..., Any]) -> None:
    start = datetime(2026, 3, 1, 12, tzinfo=UTC)
    hours = iter(range(1000))
    micros = int(start.timestamp()) * 1_000_000
    with connect(clock=lambda: micros + next(hours) * 3_600_000_000) as store:
        for count in range(1, 4):
            store.session("s").save_turn([user("q"), assistant("a")], usage=Usage(0, count))
        first, second, third = sorted(reply.finished_at for reply in store.replies())
        assert store.usage(since=second)[0].usage.output_tokens == 5
        assert store.usage(until=second)[0].usage.output_tokens == 1
        assert store.usage(since=datetime.fromtimestamp(third / 1e6, UTC))[0].turns == 1
        assert store.usage(since=third + 1)[0].turns == 0
        assert store.usage(by="model", since=third + 1) == []
        assert [reply.usage.output_tokens for reply in store.replies(since=first, until=third)] == [2, 1]
        assert [reply.usage.output_tokens for reply in store.session("s").replies(limit=1)] == [3]
        with pytest.raises(Invalid, match="since"):
            store.usage(since="yesterday")
        with pytest.raises(Invalid, match="limit"):
            store.replies(limit=-1)


def test_delegates_count_for_the_session_that_they_work_for(store: Store) -> None:
    session = store.session("cli:a")
    session.save_turn([user("q"), assistant("a")], usage=Usage(1, 1))
    scout = session.delegate("scout", "r1")
    scout.save_turn([user("look"), assistant("seen")], usage=Usage(2, 2))
    scout.delegate("helper").save_turn([user("help"), assistant("done")], usage=Usage(4, 4))
    assert session.usage().usage.output_tokens == 7
    assert session.usage(delegates=False).usage.output_tokens == 1
    assert scout.usage().usage.output_tokens == 6
    assert store.usage()[0].usage.output_tokens == 7
    assert store.usage(delegates=False)[0].usage.output_tokens == 1
    assert [t.name for t in session.usage(by="session")] == [
        "cli:a", "cli:a:delegate:scout", "cli:a:delegate:scout:delegate:helper",
    ]  # fmt: skip
    assert [(t.name or "").split(":")[:2] for t in store.usage(by="label")] == [
        [""], ["subagent", "helper"], ["subagent", "scout"],
    ]  # fmt: skip


def test_replies_of_what_is_not_there(store: Store) -> None:
    ids = store.session("s").save_turn([user("q"), assistant("a")], usage=Usage(1, 1))
    with pytest.raises(NotFound, match="nobody"):
        store.replies("nobody")
    with pytest.raises(NotFound, match="nobody"):
        store.usage("nobody")
    with pytest.raises(NotFound, match="No turn begins"):
        store.replies(turn=ids[1])
    with pytest.raises(NotFound):
        store.replies(turn="zzzzzz")


def test_figures_go_and_come_back_with_the_messages(store: Store) -> None:
    session = store.session("s")
    id = two_models(session)
    before, head = store.replies(), str(session.head)
    store.delete_messages([head])
    assert [reply.model for reply in store.replies()] == ["small"]
    assert store.turns()[0].usage == Usage(10, 1, cost=0.5)
    assert store.verify() == []
    store.restore(head)
    assert (store.replies(), store.turns()[0].usage) == (before, Usage(30, 3, cost=2.5))
    store.delete_session("s")
    assert store.replies() == []
    store.restore(id)
    assert store.replies() == before
    assert store.verify() == []


def test_totals_of_a_deleted_session_remain_with_the_messages_that_others_reach(store: Store) -> None:
    two_models(store.session("s"))
    store.session("s").fork(key="t")
    store.delete_session("s")
    assert sums(store, by="session") == [(None, 1, 2, 3, 2.5)]
    assert {reply.session for reply in store.replies()} == {None}


def test_an_archive_brings_the_same_replies(store: Store, tmp_path: Path) -> None:
    two_models(store.session("s"))
    store.session("t").save_turn([user("q"), assistant("a")], usage=Usage(1, 1))
    file = tmp_path / "all.jsonl"
    file.write_text("".join(everything(source_of(store))), encoding="utf-8")
    with bough.connect(tmp_path / "other.db") as other:
        for _ in range(2):
            for archive in IMPORTER.read(file):
                other.bring_in(archive)  # type: ignore[arg-type]
            assert list(other.list_replies()) == list(store.list_replies())
            assert other.turns() == store.turns()
            assert other.verify() == []


def test_a_copy_has_the_same_replies(store: Store, tmp_path: Path) -> None:
    two_models(store.session("s"))
    with bough.connect(tmp_path / "other.db") as other:
        source_of(store).copy_to(other)
        assert list(other.list_replies()) == list(store.list_replies())
        store.delete_messages([str(store.session("s").head)])
        source_of(store).copy_to(other)
        assert list(other.list_replies()) == list(store.list_replies())
        assert other.verify() == []


def source_of(store: Any) -> Store:
    """The synchronous store, of the awaitable one too."""
    found = store._facade.sync if hasattr(store, "_facade") else store
    assert isinstance(found, Store)
    return found


def test_a_known_model_is_priced_and_an_unknown_one_is_not_free(store: Store) -> None:
    pytest.importorskip("genai_prices")
    session = store.session("s")
    with session.turn("q") as turn:
        turn.add(CHAT)
        turn.add(CLAUDE)
        turn.add({**CHAT, "id": "2"}, provider="garden-server")
    assert [reply.usage.cost for reply in store.replies()] == [None, None, pytest.approx(0.00075)]
    (total,) = store.usage()
    assert total.usage.cost == pytest.approx(0.00075)
    assert total.unpriced == 1


def test_a_cost_that_is_given_counts(store: Store) -> None:
    with store.session("s").turn("q") as turn:
        turn.add(CHAT, usage=Usage(1, 1, cost=9.0))
    assert store.usage()[0].usage.cost == 9.0


def test_verify_corrects_sums_that_were_edited(tmp_path: Path) -> None:
    with bough.connect(tmp_path / "a.db") as store:
        two_models(store.session("s"))
        store.session("s").save_turn([user("q"), assistant("a")], usage=Usage(5, 5))
    with sqlite3.connect(tmp_path / "a.db") as edited:
        edited.execute("UPDATE turns SET output_tokens = 77 WHERE cost IS NOT NULL")
        edited.execute("DELETE FROM replies WHERE cost IS NULL")
        edited.execute("INSERT INTO replies (message, turn, session, finished_at) VALUES (999, 1, 1, 1)")
    edited.close()
    with bough.connect(tmp_path / "a.db") as store:
        found = store.verify()
        assert sorted(finding.code for finding in found) == ["lost_reply", "turn_sum", "turn_sum"]
        assert all(finding.repaired for finding in store.verify(repair=True))
        assert store.verify() == []
        assert [turn.usage.output_tokens for turn in store.turns()] == [5, 3]
        assert [reply.usage.output_tokens for reply in store.replies()] == [5, 2, 1]


def test_an_empty_name_of_the_caller_is_kept_and_one_in_a_reply_says_nothing(store: Store) -> None:
    session = store.session("s")
    with session.turn("q", model="m", provider="p") as turn:
        turn.add(assistant("a"), model="", provider="", request_id="")
    (info,) = session.turns()
    assert (info.model, info.provider, info.request_id) == ("", "", "")
    with session.turn("q", model="m") as turn:
        turn.add({**CHAT, "model": ""})
    assert session.turns()[0].model == session.replies()[0].model == "m"
    session.save_turn([user("q"), {**CHAT, "model": ""}], provider="")
    assert (session.turns()[0].model, session.turns()[0].provider) == (None, "")
