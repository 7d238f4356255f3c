"""The work of a verb does not grow with the store where it need not, and grows in proportion to it otherwise.

The same assertions are made on a small pair of stores in every run, and on a large pair in the soak.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import bough
from bough import Store, assistant, user
from tests.growth.stores import grown
from tests.growth.work import Work, counted

SIZES = [
    pytest.param((60, 480), id="480 sessions"),
    pytest.param((1_000, 100_000), id="100,000 sessions", marks=pytest.mark.soak),
]
QUESTION_AND_ANSWER = [user("one"), assistant("two")]


@pytest.fixture(params=SIZES, scope="module")
def sizes(request: pytest.FixtureRequest) -> tuple[int, int]:
    """The sessions of a small store and of a larger one."""
    given: tuple[int, int] = request.param
    return given


@pytest.fixture(scope="module")
def pair(sizes: tuple[int, int], tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, Store]]:
    """A small store and a larger one."""
    directory: Path = tmp_path_factory.mktemp("growth")
    small, large = sizes
    with grown(directory / "small.db", small) as one, grown(directory / "large.db", large) as other:
        yield one, other


def head(store: Store, n: int) -> str:
    id_ = store.session(f"s:{n}").head
    assert id_ is not None
    return id_


def heads(store: Store) -> list[str]:
    return [info.head_id for info in store.sessions(limit=20) if info.head_id is not None]


def ask(store: Store) -> None:
    with store.session("s:9").turn(user("one")) as turn:
        turn.add(assistant("two"))


FLAT: dict[str, Callable[[Store], Any]] = {
    "save_turn": lambda store: store.session("s:7").save_turn(QUESTION_AND_ANSWER),
    "turn and add": ask,
    "path": lambda store: store.session("s:3").path(),
    "context": lambda store: store.session("s:3").context("openai.chat"),
    "fork": lambda store: store.fork(head(store, 4)),
    "rewind": lambda store: store.session("s:5").rewind(turns=1),
    "sessions": lambda store: store.sessions(limit=20),
    "previews": lambda store: store.previews(store.sessions(limit=20)),
    "headlines": lambda store: store.headlines(heads(store)),
    "outline of the latest trees": lambda store: store.outline(limit=20),
    "newest messages": lambda store: list(store.list_messages(limit=50)),
    "search": lambda store: store.search("question", limit=20),
    "search of a session": lambda store: store.search("question", session="s:1", limit=20),
    "delete a session": lambda store: store.delete_session("s:21"),
    "delete a message": lambda store: store.delete_messages([head(store, 22)]),
    "runs of subagents": lambda store: store.has_subagent_runs(),
    "undo": lambda store: store.undo(),
    "delete for good": lambda store: store.delete_session("s:23", keep=False),
    "changes": lambda store: store.changes(after=store.cursor() - 5),
}


@pytest.mark.parametrize("verb", FLAT)
def test_the_work_of_a_verb_does_not_depend_on_the_size_of_the_store(pair: tuple[Store, Store], verb: str) -> None:
    small, large = (work_of(store, FLAT[verb]) for store in pair)
    assert large.statements <= small.statements * 1.1 + 2
    assert large.steps <= small.steps * 1.25 + 100
    assert large.pages <= small.pages * 2 + 50  # the trees of pages get deeper


@pytest.mark.parametrize(("verb", "statements"), [("save_turn", 9), ("turn and add", 23)])
def test_a_turn_has_no_more_statements_than_it_needs(pair: tuple[Store, Store], verb: str, statements: int) -> None:
    small, _ = pair
    work_of(small, FLAT[verb])  # now the session is the one that was last used
    assert work_of(small, FLAT[verb]).statements <= statements


LINEAR: dict[str, Callable[[Store], Any]] = {
    "all trees": lambda store: sum(1 for _ in store.list_trees()),
    "clean, as a dry run": lambda store: len(store.clean(0)),
    "verify": lambda store: store.verify(),
    "clean": lambda store: len(store.clean(0, dry_run=False)),
    "trash": lambda store: store.trash(),
    "purge": lambda store: store.purge(),
}


STREAMED: dict[str, Callable[[Store], Any]] = {
    "all trees": lambda store: sum(1 for _ in store.list_trees()),
    "idle sessions": lambda store: sum(1 for _ in store.idle_sessions(0)),
    "messages": lambda store: sum(1 for _ in store.list_messages()),
    "turns": lambda store: sum(1 for _ in store.list_turns()),
    "verify": lambda store: store.verify(),
}


@pytest.mark.parametrize("verb", STREAMED)
def test_what_is_streamed_takes_no_more_memory_in_a_large_store(pair: tuple[Store, Store], verb: str) -> None:
    small, large = (peak_of(store, STREAMED[verb]) for store in pair)
    a_page = 3_000_000  # at most; the small store may be less
    assert large <= max(small * 1.5, a_page) + 300 * len(pair[1].sessions())  # a few numbers of each tree


def peak_of(store: Store, verb: Callable[[Store], object]) -> int:
    """The most memory, in bytes, that Python holds for a verb."""
    verb(store)  # what is loaded once
    gc.collect()
    tracemalloc.start()
    try:
        verb(store)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.soak
@pytest.mark.parametrize(
    "command",
    ["tree --all", "tree --all --json", "conversations ls --all --flat", "clean --dry-run --older-than 1s", "db verify",
     "stats"],
)  # fmt: skip
def test_a_command_on_a_million_messages_takes_no_more_than_150_megabytes(big: Path, command: str) -> None:
    bough_ = [sys.executable, "-c", MEASURED, *command.split()]
    done = subprocess.run(bough_, env=os.environ | {"BOUGH_DB": str(big)}, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, check=True)  # fmt: skip
    assert int(done.stderr.splitlines()[-1]) <= 150 * 1024


MEASURED = """
import atexit, resource, sys
atexit.register(lambda: print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr))
from bough.__main__ import main
sys.exit(main())
"""


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """100,000 sessions with 1,000,000 messages."""
    path = tmp_path_factory.mktemp("big") / "store.db"
    grown(path, 100_000).close()
    return path


def test_upkeep_is_linear_and_its_transactions_are_bounded(tmp_path: Path, sizes: tuple[int, int]) -> None:
    small, large = sizes
    with grown(tmp_path / "small.db", small) as one, grown(tmp_path / "large.db", large) as other:
        for verb, do in LINEAR.items():
            less, more = work_of(one, do), work_of(other, do)
            assert more.steps / less.steps <= large / small * 1.2, verb
            assert more.statements / less.statements <= large / small * 1.2, verb
            if more.transactions:
                assert more.longest.steps <= 400_000, verb  # 309,541 were measured with 1,000 sessions and with 8,000
                assert more.longest.statements <= 4_000, verb
                assert max(each.pages for each in more.transactions) <= 200_000, verb  # when FTS5 merges its index


def work_of(store: Store, verb: Callable[[Store], object]) -> Work:
    with counted(store) as work:
        verb(store)
    return work


def test_a_clean_that_was_broken_off_is_continued_and_others_write_in_between(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    grown(path, 130, turns=1).close()
    other = bough.connect(path)
    cut = iter([None, KeyboardInterrupt()])

    def after_commit(_: object) -> None:
        other.session("other").save_turn(QUESTION_AND_ANSWER)  # between two transactions
        if problem := next(cut, None):
            raise problem

    with bough.connect(path, after_commit=after_commit) as store:
        with pytest.raises(KeyboardInterrupt):
            store.clean(1, dry_run=False)
        done = len(store.trash())
        assert 0 < done < 130
        assert len(store.clean(1, dry_run=False)) == 130 - done
        assert [info.key for info in store.sessions()] == ["other"]
        assert len(store.trash()) == 130
        assert store.verify() == []
    other.close()
