"""Live output of a run: the reply on stdout, everything else on stderr."""

from __future__ import annotations

import os
import sys
from errno import EIO, EPIPE
from typing import TYPE_CHECKING, TextIO

from bough.agent import Answered, Began, Called, Compacted, Event, Outcome, Replied
from bough.cli.output import console
from bough.cli.output.markdown import MarkdownRenderer
from bough.cli.output.text import one_line, sanitize, truncate
from bough.model import ToolCall, ToolResult, Usage
from bough.providers.types import Piece, PieceKind

if TYPE_CHECKING:
    from bough.session import Session

DIM, RESET, CLEAR_LINE = "\x1b[2m", "\x1b[0m", "\r\x1b[K"


class RunPrinter:
    """Prints the events of a run. An output stream that fails is dropped, and the run continues."""

    def __init__(self, *, raw: bool = False, silent: bool = False, kept: bool = True, holds: bool = False) -> None:
        self.turn: str | None = None
        """The id of the turn, once it has started."""
        self.kept = kept
        """Whether the turn is stored."""
        self._failed: dict[TextIO, OSError] = {}
        self._silent = silent
        self._holds = holds
        """Whether the text of the reply is not written."""
        self._markdown = None if raw or silent or not console.has_colour() else MarkdownRenderer(console.columns())
        self._kind: PieceKind | None = None
        self._last_text = "\n"
        self._waiting = False

    @property
    def broken(self) -> bool:
        """Whether stdout has failed."""
        return sys.stdout in self._failed

    @property
    def status(self) -> int:
        """The exit status: 0, that of a broken pipe, or that of another error of stdout."""
        from bough.cli.exits import BROKEN_PIPE, STATUSES

        error = self._failed.get(sys.stdout)
        if error is None:
            return 0
        return BROKEN_PIPE if error.errno in (EPIPE, EIO) else STATUSES["error"]

    def __call__(self, event: Event) -> None:
        """Print an event."""
        match event:
            case Piece():
                self._piece(event)
            case Began():
                self.turn = event.turn
                self._wait()
            case Replied():
                self.finish()
            case Called():
                self.note(call_line(event.call))
            case Answered():
                self.note(result_line(event.result))
                self._wait()
            case Compacted():
                self.note(compaction_line(event))

    def finish(self) -> None:
        """End the current line of output."""
        self._stop_waiting()
        if self._kind == "text":
            if self._markdown:
                self._write(sys.stdout, self._markdown.end())
            elif not self._last_text.endswith("\n"):
                self._write(sys.stdout, "\n")
        elif self._kind == "thinking":
            self._write(sys.stderr, f"{RESET}\n")
        self._kind, self._last_text = None, "\n"

    def _wait(self) -> None:
        """Show on a terminal that a reply is awaited."""
        if is_watched() and not self._silent and not self._waiting:
            self._write(sys.stderr, dimmed("…"))
            self._waiting = True

    def _stop_waiting(self) -> None:
        if self._waiting:
            self._write(sys.stderr, CLEAR_LINE)
            self._waiting = False

    def _piece(self, piece: Piece) -> None:
        if self._holds and piece.kind == "text":
            return
        if self._silent or piece.kind in ("call", "arguments") or (piece.kind == "thinking" and not is_watched()):
            return
        if piece.kind != self._kind:
            self.finish()
            self._kind = piece.kind
            self._write(sys.stderr, DIM if piece.kind == "thinking" else "")
        if piece.kind == "thinking":
            self._write(sys.stderr, sanitize(piece.text))
        else:
            self._write(sys.stdout, self._rendered(piece.text))

    def _rendered(self, text: str) -> str:
        self._last_text = text or self._last_text
        if self._markdown:
            return self._markdown.feed(text)
        return sanitize(text) if console.on_terminal() else text

    def note(self, text: str) -> None:
        """Write a line that is not part of the reply to stderr."""
        self.finish()
        if not self._silent:
            self._write(sys.stderr, dimmed(sanitize(text)) + "\n")

    def print_reply_id(self, done: Outcome) -> None:
        """Print the id of the reply of a complete turn that is stored."""
        if self.kept and done.status == "complete":
            self.note(f"[{done.last}]")

    def print_stopped(self, done: Outcome) -> None:
        """Print what of a stopped turn is part of the conversation."""
        part = "the question and the part received are" if done.message else "the question is"
        self.note(f"Stopped; {part} part of the conversation." if self.kept else "Stopped.")

    def print_resume_hint(self, kept: str = "The partial reply is kept") -> None:
        """Print how to resume a turn that did not complete."""
        if self.turn and self.kept:
            self.note(f"{kept}: bough run --resume {self.turn} resumes it.")

    def _write(self, stream: TextIO, text: str) -> None:
        if stream in self._failed or not text:
            return
        try:
            stream.write(text)
            stream.flush()
        except OSError as error:
            # The reader of a pipe exited, or the terminal was closed. The reply must still reach the store.
            self._failed[stream] = error
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            if stream is sys.stdout and not isinstance(error, BrokenPipeError):
                self.note(f"The reply cannot be written here: {error.strerror}.")


def unfinished_line(session: Session, command: str) -> str:
    """The newest interrupted turn at the head of a session, and the command that resumes it; empty if none."""
    turn = next((turn for turn in session.unfinished if turn.status == "interrupted"), None)
    return f"Turn {turn.id} was interrupted here: {command} {turn.id} resumes it." if turn else ""


def is_watched() -> bool:
    """Whether stderr is a terminal with colours."""
    return console.has_colour(sys.stderr)


def dimmed(text: str) -> str:
    """Text for stderr, dimmed if it has colours."""
    return f"{DIM}{text}{RESET}" if is_watched() else text


def aside(text: str) -> None:
    """Write a dimmed line to stderr."""
    print(dimmed(sanitize(text)), file=sys.stderr, flush=True)


def call_line(call: ToolCall) -> str:
    """A tool call on one line: the name of the tool and the start of its arguments."""
    return truncate(f"→ {one_line(call.name)} {one_line(call.arguments)}", 100)


def result_line(result: ToolResult) -> str:
    """A tool's result on one line."""
    return truncate(f"{'✗' if result.error else '←'} {one_line(result.text) or 'done'}", 100)


def compaction_line(event: Compacted) -> str:
    """Result of a compaction on one line."""
    if event.id is None:
        return f"Nothing was summarized: {event.error}"
    return f"Older turns are summarized in {event.id}{token_counts(event.spent)}."


def token_counts(usage: Usage) -> str:
    """The tokens of a summary in brackets; empty if they are unknown."""
    if usage.input_tokens is None or usage.output_tokens is None:
        return ""
    return f" ({usage.input_tokens:,} → {usage.output_tokens:,} tokens)"
