"""Processes that work on one file, and say what came of it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

T = TypeVar("T")

PATIENCE = 90
"""Seconds after which a process counts as hanging. No test asserts a time shorter than this."""

processes = multiprocessing.get_context("fork")


def together(work: Callable[..., T], arguments: Iterable[Sequence[Any]]) -> list[T]:
    """Runs the work in one process for each set of arguments, all started at the same moment; what each returned."""
    jobs = [tuple(job) for job in arguments]
    barrier = processes.Barrier(len(jobs))
    started = []
    for job in jobs:
        mine, theirs = processes.Pipe(duplex=False)
        process = processes.Process(target=_report, args=(theirs, barrier, work, job), daemon=True)
        process.start()
        theirs.close()
        started.append((process, mine))
    try:
        return [_answer(pipe) for _, pipe in started]
    finally:
        for process, pipe in started:
            pipe.close()
            process.kill()
            process.join()


@contextmanager
def ended() -> Iterator[None]:
    """Fails what would go on for ever; whatever ends at all ends long before."""

    def give_up(*_: object) -> None:
        raise AssertionError("it does not end")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def alone(work: Callable[..., T], *arguments: Any) -> T:
    """Runs the work in a process of its own."""
    return together(work, [arguments])[0]


def _report(pipe: Connection, barrier: Any, work: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    try:
        barrier.wait(PATIENCE)
        pipe.send((True, work(*arguments)))
    except BaseException:
        pipe.send((False, traceback.format_exc()))
    finally:
        pipe.close()
        os._exit(0)


def _answer(pipe: Connection) -> Any:
    assert wait([pipe], PATIENCE), "a process hangs"
    try:
        good, value = pipe.recv()
    except EOFError:
        raise AssertionError("a process died without a word") from None
    assert good, value
    return value
