"""Run functions in several processes at the same time, and return their results."""

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

multiprocess = multiprocessing.get_context("fork")


def run_together(work: Callable[..., T], arguments: Iterable[Sequence[Any]]) -> list[T]:
    """Run `work` in one process per set of arguments, all started together; return the results."""
    jobs = [tuple(job) for job in arguments]
    barrier = multiprocess.Barrier(len(jobs))
    started = []
    for job in jobs:
        mine, theirs = multiprocess.Pipe(duplex=False)
        process = multiprocess.Process(target=_report, args=(theirs, barrier, work, job), daemon=True)
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
def time_limit() -> Iterator[None]:
    """Fail a test that does not end."""

    def fail(*_: object) -> None:
        raise AssertionError("the test does not end")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def run_alone(work: Callable[..., T], *arguments: Any) -> T:
    """Run `work` in another process; return its result."""
    return run_together(work, [arguments])[0]


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
        raise AssertionError("a process died without a result") from None
    assert good, value
    return value
