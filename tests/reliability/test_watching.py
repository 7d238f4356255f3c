"""Several processes that watch one store see every change of every writer once, in one order."""

from __future__ import annotations

import os

import pytest

import bough
from bough import Change, user
from bough.db import StrPath

from .checks import steps
from .processes import PATIENCE, run_together

WATCHERS, WRITERS, TURNS = 3, 3, 20


def work(where: StrPath, name: str, cursor: int) -> list[Change]:
    """A writer saves turns; a watcher returns what it saw of all of them."""
    with bough.connect(where, patience=60) as store:
        if name.startswith("writer"):
            session = store.session(f"cli:{name}")
            for number in range(TURNS):
                session.save_turn(steps(f"{name}.{number}", 2), wait=60)
            return []
        seen: list[Change] = []
        for change in store.watch(cursor, timeout=PATIENCE):
            seen.append(change)
            if len(seen) == WRITERS * (TURNS + 1):  # each made a session first
                break
        return seen


def test_every_process_that_watches_sees_every_change_once_in_one_order(somewhere: StrPath) -> None:
    with bough.connect(somewhere) as store:
        store.session("cli:before")
        cursor = store.cursor()
    jobs = [(somewhere, f"{kind}{at}", cursor) for at in range(WRITERS) for kind in ("watcher", "writer")]
    seen = [changes for changes in run_together(work, jobs) if changes]
    assert len(seen) == WATCHERS
    assert seen[0] == seen[1] == seen[2]
    assert [change.cursor for change in seen[0]] == list(range(cursor + 1, cursor + 1 + WRITERS * (TURNS + 1)))
    for writer in range(WRITERS):
        own = [change.message_id for change in seen[0] if change.session == f"cli:writer{writer}"]
        with bough.connect(somewhere) as store:
            assert own[1:] == [node.id for node in store.session(f"cli:writer{writer}").path()][1::2]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no process fork here")
def test_one_who_watches_goes_on_after_a_process_fork(somewhere: StrPath) -> None:
    with bough.connect(somewhere) as store:
        watched = store.watch(timeout=PATIENCE)
        store.session("cli:a")
        assert next(watched).session == "cli:a"
        child = os.fork()
        if not child:
            with bough.connect(somewhere) as other:
                other.save_messages([bough.Save(user("from the child"))])
            os._exit(0)
        os.waitpid(child, 0)
        assert next(watched).kind == "added"
        store.session("cli:b")
        assert next(watched).session == "cli:b"
