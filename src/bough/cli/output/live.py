"""Tells a run while it happens: the reply on stdout, everything else on stderr."""

from __future__ import annotations

import os
import sys
from errno import EIO, EPIPE
from typing import TextIO

from bough.agent import Answered, Began, Called, Compacted, Event, Outcome, Replied
from bough.cli.exits import BROKEN_PIPE, STATUSES
from bough.cli.output import console
from bough.cli.output.markdown import Markdown
from bough.cli.output.text import one_line, sanitize, truncate
from bough.model import ToolCall, ToolResult, Usage
from bough.providers.types import Piece, PieceKind

DIM, PLAIN, CLEARED = "\x1b[2m", "\x1b[0m", "\r\x1b[K"


class RunPrinter:
    """Listens to a run. What it cannot write any more, because nobody reads, does not keep the run from its end."""

    def __init__(self, *, raw: bool = False, silent: bool = False, kept: bool = True) -> None:
        self.turn: str | None = None
        """The turn that has begun."""
        self.kept = kept
        """Whether it can be found again afterwards."""
        self._lost: dict[TextIO, OSError] = {}
        self._silent = silent
        self._markdown = None if raw or silent or not console.has_colour() else Markdown(console.columns())
        self._telling: PieceKind | None = None
        self._ended = "\n"
        self._waiting = False

    @property
    def broken(self) -> bool:
        """Whether the reply cannot be written any more."""
        return sys.stdout in self._lost

    @property
    def status(self) -> int:
        """What that means for the exit status: that the reader went away, or that something is wrong."""
        error = self._lost.get(sys.stdout)
        if error is None:
            return 0
        return BROKEN_PIPE if error.errno in (EPIPE, EIO) else STATUSES["error"]

    def __call__(self, event: Event) -> None:
        """Tells what happened."""
        match event:
            case Piece():
                self._piece(event)
            case Began():
                self.turn = event.turn
                self._wait()
            case Replied():
                self.finish()
            case Called():
                self.note(called(event.call))
            case Answered():
                self.note(answered(event.result))
                self._wait()
            case Compacted():
                self.note(compacted(event))

    def finish(self) -> None:
        """Ends the line that is being written."""
        self._stop_waiting()
        if self._telling == "text":
            if self._markdown:
                self._write(sys.stdout, self._markdown.end())
            elif not self._ended.endswith("\n"):
                self._write(sys.stdout, "\n")
        elif self._telling == "thinking":
            self._write(sys.stderr, f"{PLAIN}\n")
        self._telling, self._ended = None, "\n"

    def _wait(self) -> None:
        """Shows that something will come."""
        if is_watched() and not self._silent and not self._waiting:
            self._write(sys.stderr, dimmed("…"))
            self._waiting = True

    def _stop_waiting(self) -> None:
        if self._waiting:
            self._write(sys.stderr, CLEARED)
            self._waiting = False

    def _piece(self, piece: Piece) -> None:
        if self._silent or piece.kind == "call" or (piece.kind == "thinking" and not is_watched()):
            return
        if piece.kind != self._telling:
            self.finish()
            self._telling = piece.kind
            self._write(sys.stderr, DIM if piece.kind == "thinking" else "")
        if piece.kind == "thinking":
            self._write(sys.stderr, sanitize(piece.text))
        else:
            self._write(sys.stdout, self._shown(piece.text))

    def _shown(self, text: str) -> str:
        self._ended = text or self._ended
        if self._markdown:
            return self._markdown.feed(text)
        return sanitize(text) if console.on_terminal() else text

    def note(self, text: str) -> None:
        """Says something that is not part of the reply."""
        self.finish()
        if not self._silent:
            self._write(sys.stderr, dimmed(sanitize(text)) + "\n")

    def print_reply_id(self, done: Outcome) -> None:
        """Says what the reply is called, if it is one."""
        if self.kept and done.status == "complete":
            self.note(f"[{done.last}]")

    def print_resume_hint(self, kept: str = "What came is kept") -> None:
        """Says what can be done about a turn that did not complete."""
        if self.turn and self.kept:
            self.note(f"{kept}: bough run --resume {self.turn} takes it up again.")

    def _write(self, stream: TextIO, text: str) -> None:
        if stream in self._lost or not text:
            return
        try:
            stream.write(text)
            stream.flush()
        except OSError as error:
            # A pipe whose reader went away, or a terminal that was closed: the reply is still wanted in the store.
            self._lost[stream] = error
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            if stream is sys.stdout and not isinstance(error, BrokenPipeError):
                self.note(f"The reply cannot be written here: {error.strerror}.")


def is_watched() -> bool:
    """Whether a person reads stderr, in colours."""
    return console.has_colour(sys.stderr)


def dimmed(text: str) -> str:
    """A text for stderr that does not want to be noticed."""
    return f"{DIM}{text}{PLAIN}" if is_watched() else text


def aside(text: str) -> None:
    """Says something on stderr that does not want to be noticed."""
    print(dimmed(sanitize(text)), file=sys.stderr, flush=True)


def called(call: ToolCall) -> str:
    """A call on one line: the tool's name and the beginning of what it is given."""
    return truncate(f"→ {one_line(call.name)} {one_line(call.arguments)}", 100)


def answered(result: ToolResult) -> str:
    """A tool's result on one line."""
    return truncate(f"{'✗' if result.error else '←'} {one_line(result.text) or 'done'}", 100)


def compacted(event: Compacted) -> str:
    """What became of older turns."""
    if event.id is None:
        return f"Nothing was summed up: {event.error}"
    return f"Older turns are summed up in {event.id}{spent(event.spent)}."


def spent(usage: Usage) -> str:
    """What a summary has cost, in brackets; nothing where nobody has counted."""
    if usage.input_tokens is None or usage.output_tokens is None:
        return ""
    return f" ({usage.input_tokens:,} → {usage.output_tokens:,} tokens)"
