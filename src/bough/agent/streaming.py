"""Receive one streamed reply.

A separate thread reads the answer, so that a stalled stream never blocks the run: the received part is saved every
second, the time limit holds, and Ctrl+C takes effect at once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Literal

from bough.agent.limits import Deadline
from bough.model import Message, Text, Thinking, Usage

if TYPE_CHECKING:
    from bough.providers.types import Answer, Piece
    from bough.turn import Turn

INTERVAL = 1.0
"""Seconds between two saves of a partial reply: the most that a crash can lose."""


class Stream:
    """An answer that a thread reads. Leaving its `with` block stops the model."""

    def __init__(self, ask: Callable[[], Answer]) -> None:
        self._ask = ask
        self._answer: Answer | None = None
        self._closed = False
        self.complete = False
        """Whether the answer was received completely."""
        self._queue: SimpleQueue[Piece | BaseException | Literal["end", "stop"]] = SimpleQueue()
        # A daemon: a provider that does not answer must not keep the process alive.
        threading.Thread(target=self._read, name="answer", daemon=True).start()

    @property
    def answer(self) -> Answer:
        assert self._answer is not None, "nothing has come yet"
        return self._answer

    def usage(self) -> Usage:
        """Close the answer and return its usage so far; most providers report it only at the end."""
        self._closed = True
        self._close_answer()
        with suppress(Exception):  # the thread may still be reading; a missing count is no reason to fail
            return self.answer.usage
        return Usage()

    def pieces(self, deadline: Deadline, pause: Callable[[], float]) -> Iterator[Piece | None]:
        """The pieces as they arrive, and None after each pause without any. Ends early at the deadline."""
        deadline.stop.add_callback(lambda: self._queue.put("stop"))
        while True:
            self._closed = deadline.reason is not None  # pieces already received are still returned
            try:
                came = self._queue.get(timeout=0 if self._closed else deadline.left(pause()))
            except Empty:
                if self._closed:
                    return
                yield None
                continue
            if isinstance(came, BaseException):
                raise came
            if isinstance(came, str):
                self.complete = came == "end"
                return
            yield came

    def _read(self) -> None:
        try:
            self._answer = self._ask()
            for piece in self._answer:
                self._queue.put(piece)
                if self._closed:
                    self._queue.put("stop")
                    break
            else:
                self._queue.put("end")
        except BaseException as error:
            self._queue.put(error)
        if self._closed:
            self._close_answer()

    def _close_answer(self) -> None:
        # The thread may be reading while the answer is closed; its errors do not matter then.
        with suppress(Exception):
            if self._answer is not None:
                self._answer.close()

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._closed = True
        self._close_answer()


class PartialReply:
    """The received part of a reply, saved in the store once a second."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._parts: list[tuple[type[Text] | type[Thinking], list[str]]] = []
        self._stale = False
        self._saved_at = time.monotonic()

    def add(self, piece: Piece | None) -> None:
        """Add a piece, if any, and save if the interval has passed."""
        if piece is not None and piece.kind in ("text", "thinking") and piece.text:
            kind = Text if piece.kind == "text" else Thinking
            if not self._parts or self._parts[-1][0] is not kind:
                self._parts.append((kind, []))
            self._parts[-1][1].append(piece.text)
            self._stale = True
        if time.monotonic() - self._saved_at >= INTERVAL:
            self.save()

    def save(self) -> None:
        """Save everything received so far."""
        if self._stale:
            blocks = tuple(kind("".join(texts)) for kind, texts in self._parts)
            self._turn.sketch(Message("assistant", blocks))
            self._stale, self._saved_at = False, time.monotonic()

    def pause(self) -> float:
        """Seconds until the next save is due."""
        return max(0.01, self._saved_at + INTERVAL - time.monotonic()) if self._stale else INTERVAL


def receive(
    turn: Turn, ask: Callable[[], Answer], deadline: Deadline, listener: Callable[[Piece], object]
) -> Answer | None:
    """Receive an answer; None if the deadline comes first. The received part is stored in any case."""
    partial = PartialReply(turn)
    with Stream(ask) as stream:
        try:
            for piece in stream.pieces(deadline, partial.pause):
                partial.add(piece)
                if piece is not None:
                    listener(piece)
        except BaseException:
            keep_partial(turn, stream, partial)
            raise
        if stream.complete:
            return stream.answer
        keep_partial(turn, stream, partial)
    return None


def keep_partial(turn: Turn, stream: Stream, partial: PartialReply) -> None:
    """Store the received part of an answer that was cut off, and its usage."""
    partial.save()
    if (spent := stream.usage()) != Usage():
        turn.add([], usage=spent)
