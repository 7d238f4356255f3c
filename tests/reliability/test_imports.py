"""Imports that are killed, retried or run twice at the same time: no duplicates, and nothing partial looks complete."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

import bough
from bough import Store, assistant, user
from bough.model.imported import Conversation, ImportedMessage, Item

T = TypeVar("T")
MESSAGES = 3_000

SCRIPT = f"""
import sys
import bough
from tests.reliability.test_imports import conversation
def wait(number):
    if number == int(sys.argv[2]):
        print(number, flush=True)
        sys.stdin.read()
with bough.connect(sys.argv[1]) as store:
    store.bring_in(conversation(wait))
    print({MESSAGES}, flush=True)
"""


def conversation(at: Callable[[int], object] = lambda _: None, messages: int = MESSAGES) -> Conversation:
    """One long conversation; `at` is called before each message is yielded."""

    def items() -> Iterator[Item]:
        for number in range(1, messages + 1):
            at(number)
            message = user(f"question {number}") if number % 2 else assistant(f"answer {number}")
            yield ImportedMessage(
                f"m{number}", message, f"m{number - 1}" if number > 1 else None, 1_700_000_000_000_001 + number
            )

    return Conversation("elsewhere-app", "c1", items())


def process(db: Path, pause: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(db), str(pause)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def check(store: Store) -> None:
    path = store.session("elsewhere-app:c1").path()
    assert [node.message.text for node in path][-1] == f"answer {MESSAGES}"
    assert len(path) == MESSAGES == sum(1 for _ in store.list_messages())
    assert len(list(store.list_turns())) == MESSAGES // 2
    assert store.verify() == []


@pytest.mark.parametrize("pause", [1, 700, 2_900])
def test_a_killed_import_continues_when_repeated(tmp_path: Path, pause: int) -> None:
    db = tmp_path / "bough.db"
    with process(db, pause) as child:
        assert child.stdout
        assert int(child.stdout.readline()) == pause
        child.kill()
    with bough.connect(db) as store:
        found = store.find_session("elsewhere-app:c1")
        assert found is None or found.head_id is None
        result = store.bring_in(conversation())
        assert result.known == (pause - 1) // 500 * 500
        check(store)


def test_two_concurrent_imports_of_one_file_create_no_duplicates(tmp_path: Path) -> None:
    db = tmp_path / "bough.db"
    with bough.connect(db), process(db, 800) as one, process(db, 800) as other:
        for child in (one, other):
            assert child.stdout
            assert int(child.stdout.readline()) == 800
        for child in (one, other):
            assert child.stdin
            child.stdin.close()
        for child in (one, other):
            assert child.stdout
            assert int(child.stdout.readline()) == MESSAGES
    with bough.connect(db) as store:
        check(store)


def test_a_retried_transaction_is_counted_and_stored_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Undone(Exception):
        pass

    with bough.connect(tmp_path / "bough.db") as store:
        plain = store.db.transact

        def twice(work: Callable[[], T]) -> T:
            def undone() -> None:
                work()
                raise Undone

            with pytest.raises(Undone):
                plain(undone)
            return plain(work)

        monkeypatch.setattr(store.db, "transact", twice)
        result = store.bring_in(conversation())
        assert (result.status, result.added, result.known) == ("new", MESSAGES, 0)
        check(store)
