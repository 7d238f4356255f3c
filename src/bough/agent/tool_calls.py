"""Run the tool calls of one reply in parallel threads, and return results in the order of the calls.

A thread cannot be killed. A call that takes too long gets its `Stop` set and is abandoned; its result is an error.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from bough.agent.limits import Deadline, Stop
from bough.agent.tools import Bound, Call, Result, Toolbox
from bough.errors import BoughError, ToolError
from bough.model import Json, Message, ToolCall, ToolResult

if TYPE_CHECKING:
    from bough.session import Session

NOT_RUN = "Not done: the run was stopped first."
INTERRUPTED = "Interrupted before it was done. Whether it had any effect is not known."
NOT_RUN_STOPPED = "Not done: stopped by the user first."
STOPPED = "Stopped by the user before it was done. Whether it had any effect is not known."


class Job:
    """One running call."""

    def __init__(self, call: ToolCall, session: Session, message: str) -> None:
        self.call = call
        self.about = Call(session, message, call.call_id, call.name, Stop())
        self._result: Result | None = None
        self._done = threading.Event()
        self._seconds: float | None = None
        self._began = 0.0

    def start(self, toolbox: Toolbox, seconds: float | None) -> None:
        """Start the call. A call of an unknown tool fails at once."""
        try:
            bound, arguments = toolbox.find(self.call)
        except ToolError as problem:
            self._finish(Result.failed(str(problem)))
            return
        self._seconds = seconds if bound.seconds is None else bound.seconds
        self._began = time.monotonic()
        # A daemon: a tool that ignores its stop signal must not keep the process alive.
        threading.Thread(target=self._work, args=(bound, arguments), name=f"tool {self.call.name}", daemon=True).start()

    def wait(self, deadline: Deadline) -> Result:
        """Wait for the result; an error if it takes too long."""
        deadline.stop.add_callback(self._done.set)
        own = None if self._seconds is None else max(0.0, self._began + self._seconds - time.monotonic())
        self._done.wait(deadline.left(own))
        if deadline.by_user:
            return self.now(STOPPED if self._began else NOT_RUN_STOPPED, by_user=True)
        return self.now(None if deadline.reason else f"No answer within {self._seconds or 0:g} seconds; given up.")

    def now(self, otherwise: str | None = None, *, by_user: bool = False) -> Result:
        """The result if there is one, else an error; the call is then abandoned."""
        if (result := self._result) is None:
            self.about.stop.set(by_user=by_user)
        return result or Result.failed(otherwise or (INTERRUPTED if self._began else NOT_RUN))

    def _work(self, bound: Bound, arguments: dict[str, Json]) -> None:
        try:
            self._finish(bound.run(arguments, self.about))
        except BoughError as problem:
            self._finish(Result.failed(str(problem)))
        except BaseException as problem:  # the thread must always produce a result
            self._finish(Result.failed(f"{type(problem).__name__}: {problem}"))

    def _finish(self, result: Result) -> None:
        self._result = result
        self._done.set()


def result_message(call: ToolCall, result: Result) -> Message:
    """The tool_result message for a call."""
    block = ToolResult(call.call_id, result.content, result.error, call.name, result.extra)
    return Message("tool_result", (block,), result.error)


def results(
    jobs: Sequence[Job], toolbox: Toolbox, deadline: Deadline, seconds: float | None, parallel: int
) -> Iterator[Result]:
    """Run at parallel `parallel` calls at a time; yield the results in order, each as soon as possible."""
    for first in range(0, len(jobs), parallel):
        batch = jobs[first : first + parallel]
        if deadline.reason:
            yield from (Result.failed(NOT_RUN_STOPPED if deadline.by_user else NOT_RUN) for _ in batch)
            continue
        for job in batch:
            job.start(toolbox, seconds)
        for job in batch:
            yield job.wait(deadline)
