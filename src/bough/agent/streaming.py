"""One reply, from the request to the store.

The answer is read by a thread of its own, so that the run can look at the clock while nothing comes: what has come is
sketched once a second, a time limit holds, and Ctrl+C is heard at once.
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

EVERY = 1.0
"""Seconds between two sketches: what a crash may cost of a stream."""


class Stream:
    """An answer that a thread reads. Use it in a `with` block: leaving it stops the model."""

    def __init__(self, ask: Callable[[], Answer]) -> None:
        self._ask = ask
        self._answer: Answer | None = None
        self._closed = False
        self.whole = False
        """Whether everything has come."""
        self._came: SimpleQueue[Piece | BaseException | Literal["end", "stop"]] = SimpleQueue()
        threading.Thread(target=self._read, name="answer", daemon=True).start()

    @property
    def answer(self) -> Answer:
        assert self._answer is not None, "nothing has come yet"
        return self._answer

    def spent(self) -> Usage:
        """What the provider has counted so far of an answer that was cut off; as a rule it counts at the end only."""
        self._closed = True
        self._let_go()
        with suppress(Exception):  # whatever the thread is doing just now, a count is not worth an error
            return self.answer.usage
        return Usage()

    def pieces(self, deadline: Deadline, pause: Callable[[], float]) -> Iterator[Piece | None]:
        """The pieces as they come, and None when there was none for a while. Ends early when the time is up."""
        deadline.stop.add_callback(lambda: self._came.put("stop"))
        while True:
            self._closed = deadline.reason is not None  # what has come by then is still given
            try:
                came = self._came.get(timeout=0 if self._closed else deadline.left(pause()))
            except Empty:
                if self._closed:
                    return
                yield None
                continue
            if isinstance(came, BaseException):
                raise came
            if isinstance(came, str):
                self.whole = came == "end"
                return
            yield came

    def _read(self) -> None:
        try:
            self._answer = self._ask()
            for piece in self._answer:
                self._came.put(piece)
                if self._closed:
                    self._came.put("stop")
                    break
            else:
                self._came.put("end")
        except BaseException as error:
            self._came.put(error)
        if self._closed:
            self._let_go()

    def _let_go(self) -> None:
        # The thread may be in the middle of reading what is closed under it; whatever that gives, nobody wants it.
        with suppress(Exception):
            if self._answer is not None:
                self._answer.close()

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._closed = True
        self._let_go()


class PartialReply:
    """What has come of a reply, kept in the store once a second."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._parts: list[tuple[type[Text] | type[Thinking], list[str]]] = []
        self._stale = False
        self._kept_at = time.monotonic()

    def add(self, piece: Piece | None) -> None:
        """Takes a piece, and keeps everything so far if it is time."""
        if piece is not None and piece.kind != "call" and piece.text:
            kind = Text if piece.kind == "text" else Thinking
            if not self._parts or self._parts[-1][0] is not kind:
                self._parts.append((kind, []))
            self._parts[-1][1].append(piece.text)
            self._stale = True
        if time.monotonic() - self._kept_at >= EVERY:
            self.keep()

    def keep(self) -> None:
        """Keeps everything so far."""
        if self._stale:
            blocks = tuple(kind("".join(texts)) for kind, texts in self._parts)
            self._turn.sketch(Message("assistant", blocks))
            self._stale, self._kept_at = False, time.monotonic()

    def pause(self) -> float:
        """How long nothing may come before it is time again."""
        return max(0.01, self._kept_at + EVERY - time.monotonic()) if self._stale else EVERY


def receive(
    turn: Turn, ask: Callable[[], Answer], deadline: Deadline, listener: Callable[[Piece], object]
) -> Answer | None:
    """The whole answer; None when the time was up before it was whole. What came of it is kept in any case."""
    sketch = PartialReply(turn)
    with Stream(ask) as stream:
        try:
            for piece in stream.pieces(deadline, sketch.pause):
                sketch.add(piece)
                if piece is not None:
                    listener(piece)
        except BaseException:
            keep_partial(turn, stream, sketch)
            raise
        if stream.whole:
            return stream.answer
        keep_partial(turn, stream, sketch)
    return None


def keep_partial(turn: Turn, stream: Stream, sketch: PartialReply) -> None:
    """Keeps what came of an answer that was cut off, and what it has cost."""
    sketch.keep()
    if (spent := stream.spent()) != Usage():
        turn.add([], usage=spent)
