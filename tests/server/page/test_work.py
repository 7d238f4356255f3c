"""A screen reads the store with a bounded number of statements, however much is stored."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import bough
from bough import SaveTurn, Store, assistant, user
from bough.server.page.compare import CompareScreen
from bough.server.page.conversation import at_message, at_session
from bough.server.page.screen import Loader, ScreenRequest
from bough.server.page.search import SearchScreen
from bough.server.page.session_list import ListScreen
from bough.server.page.stats import StatsScreen
from bough.server.page.tree import TreeScreen
from tests.growth.work import counted


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, Store]]:
    """A small store and one that has ten times as much, with the same sessions `cli:000` and `cli:fork`."""
    place = tmp_path_factory.mktemp("work")
    with bough.connect(place / "small.db") as small, bough.connect(place / "large.db") as large:
        fill(small, 6, 4)
        fill(large, 60, 40)
        yield small, large


def fill(store: Store, sessions: int, turns: int) -> None:
    for place in range(sessions):
        session = store.session(f"cli:{place:03}")
        session.save_turns([SaveTurn([user(f"oak {turn}"), assistant("Old.")]) for turn in range(turns)])
    fork = store.fork(store.session("cli:000").path()[1].id, "cli:fork")
    fork.save_turn([user("Elsewhere"), assistant("Yes.")])
    store.index()


SCREENS: list[tuple[str, Loader, str, dict[str, str], int]] = [
    ("list", ListScreen, "", {}, 30),
    ("search", SearchScreen, "", {"q": "elsewhere"}, 40),
    ("conversation", at_session, "cli:000", {}, 40),
    ("message", at_message, "", {}, 60),
    ("tree", TreeScreen, "cli:000", {}, 12),
    ("compare", CompareScreen, "cli:000...cli:fork", {}, 20),
    ("stats", StatsScreen, "", {}, 6),
]


@pytest.mark.parametrize(("name", "load", "path", "query", "most"), SCREENS, ids=[row[0] for row in SCREENS])
def test_the_statements_of_a_screen_do_not_grow_with_the_store(
    stores: tuple[Store, Store], name: str, load: Loader, path: str, query: dict[str, str], most: int
) -> None:
    found = [statements(store, load, path or first_of(store, name), query) for store in stores]
    assert found[0] == found[1]
    assert found[1] <= most


def first_of(store: Store, name: str) -> str:
    return store.session("cli:000").path()[0].id if name == "message" else ""


def statements(store: Store, load: Loader, path: str, query: dict[str, str]) -> int:
    with counted(store) as work:
        load(store, ScreenRequest(path, query)).main()
    return work.statements
