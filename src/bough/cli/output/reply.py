"""The form in which `bough run` writes a reply: as it comes, or whole: its code, JSON, a copy."""

from __future__ import annotations

import sys

from bough.cli.output import console
from bough.cli.output.code import code_blocks
from bough.cli.output.live import RunPrinter
from bough.cli.output.text import sanitize
from bough.errors import NotFound
from bough.model.values import value


@value
class ReplyForm:
    """What is written of a reply."""

    raw: bool = False
    as_json: bool = False
    extract: bool = False
    """Only its first code block."""
    copies: bool = False
    """Whether it goes to the clipboard too."""


class ReplyPrinter(RunPrinter):
    """Prints a run, and at its end what the form asks for. With `waits`, nothing of the reply is written before."""

    def __init__(self, form: ReplyForm, waits: bool = False, *, kept: bool = True) -> None:
        self.form = form
        self.waits = waits or form.extract
        super().__init__(raw=form.raw, silent=form.as_json, kept=kept, holds=self.waits)

    def print_reply(self, text: str) -> None:
        """Write a whole reply, if it was not written as it came. Raises `NotFound` for a reply without code."""
        if self.form.extract:
            text = self._code(text)
        if self.waits and text:
            self._print(text)
        if self.form.copies and text:
            from bough.cli.output.clipboard import copy

            copy(text)
            self.note(f"Copied {len(text):,} characters.")

    def _code(self, text: str) -> str:
        blocks = code_blocks(text)
        if not blocks:
            raise NotFound("There is no code in the reply. It is stored; bough run -r prints it.")
        if len(blocks) > 1:
            self.note(f"This is the first of {len(blocks)} code blocks; bough run -r prints the whole reply.")
        return blocks[0]

    def _print(self, text: str) -> None:
        from bough.cli.output.transcript import text_lines

        if console.on_terminal():
            text = sanitize(text) if self.form.raw or self.form.extract else "\n".join(text_lines(text))
        self._write(sys.stdout, text if text.endswith("\n") else f"{text}\n")
