"""Wrong arguments are errors that name what is allowed, and times are datetimes too."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bough import Invalid, NotFound, Save, Store, assistant, user


@pytest.mark.parametrize(
    ("verb", "wrong"),
    [
        (lambda store: store.search("q", since=1_795_003_200), "since .*microseconds since 1970 or a datetime"),
        (lambda store: store.search("q", until=1.5), "until .*microseconds"),
        (lambda store: store.search("q", role="robot"), "role is one of user, assistant, tool_result, system"),
        (lambda store: store.search("q", order="oldest"), "order is one of newest, best, not 'oldest'"),
        (lambda store: store.search("q", limit=-1), "limit is a whole number of at least 0, not -1"),
        (lambda store: store.search("q", offset=-1), "offset"),
        (lambda store: store.turns(status="finished"), "status is one of running, complete, .*, not 'finished'"),
        (lambda store: store.turns(limit=-1), "limit"),
        (lambda store: store.session("s").turns(status="finished"), "status is one of"),
        (lambda store: store.sessions(limit=-1), "limit"),
        (lambda store: store.sessions(limit="all"), "limit is a whole number"),
        (lambda store: list(store.list_messages(limit=-1)), "limit"),
        (lambda store: list(store.list_messages(offset=-1)), "offset"),
        (lambda store: store.session("s").path(last=-1), "last"),
        (lambda store: store.session("s").context("openai.chat", budget=-5), "budget is a whole number of at least 1"),
        (lambda store: store.session("s").context("openai.chat", budget=100, reserve=-1), "reserve"),
        (lambda store: store.purge(-1), "older_than is a number of seconds or a timedelta"),
        (lambda store: store.clean(timedelta(days=-1)), "older_than"),
        (lambda store: store.clean("30d"), "older_than"),
        (lambda store: store.save_messages([Save(user("q"), created_at=1.5)]), "created_at"),  # type: ignore[arg-type]
        (
            lambda store: store.session("s").save_turn([assistant("a")], metadata={"a": object()}),
            "is not JSON .*nothing was saved",
        ),
        (lambda store: store.session("s", extra=object()), "is not JSON"),
    ],
)
def test_a_wrong_argument_is_invalid(store: Store, verb: Callable[[Any], Any], wrong: str) -> None:
    with pytest.raises(Invalid, match=wrong):
        verb(store)
    assert store.size().messages == 0


def test_an_unknown_session_is_not_found(store: Store) -> None:
    for verb in (
        store.turns,
        store.usage,
        lambda key: store.search("q", session=key),
        lambda key: store.sessions(parent=key),
    ):
        with pytest.raises(NotFound, match="There is no session 'nope'"):
            verb("nope")


def test_times_are_microseconds_or_datetimes_and_spans_seconds_or_timedeltas(store: Store) -> None:
    then = datetime(2020, 2, 3, 4, 5, 6, 7, tzinfo=UTC)
    (old,) = store.save_messages([Save(user("apple"), created_at=then)])
    (new,) = store.save_messages([Save(user("apple"))])
    made = store.get_messages([old])[0].created_at
    assert made == 1_580_702_706_000_007
    for since in (then + timedelta(days=1), made + 1):
        assert [hit.node.id for hit in store.search("apple", since=since)] == [new]
        assert [hit.node.id for hit in store.search("apple", until=since)] == [old]
    store.session("s")
    assert store.clean(timedelta(days=1)) == store.clean(86_400) == []
