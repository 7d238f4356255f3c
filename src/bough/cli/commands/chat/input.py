"""Input of a chat: a terminal with history, line breaks and completion, or a pipe."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from bough.cli.output.console import is_plain
from bough.locations import state_directory

if TYPE_CHECKING:
    from prompt_toolkit.document import Document
    from prompt_toolkit.history import History
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

    from bough.cli.commands.chat.loop import ChatLoop
    from bough.model import Node

PROMPT = "› "


class EarlierQuestions:
    """The questions of the dialog, for the arrow keys."""

    def __init__(self, loop: ChatLoop) -> None:
        self._loop = loop
        self._questions: list[Node] = []
        self._place = 0

    def can_go_up(self) -> bool:
        """Whether Up edits a question: in an empty editor, or where the text is still the question before."""
        if not self._text:
            self._questions = self._find()
            self._place = len(self._questions)
        return self._place > 0 and self._is_untouched

    def can_go_down(self) -> bool:
        """Whether Down goes back towards the empty editor."""
        return bool(self._text) and self._place < len(self._questions) and self._is_untouched

    def up(self) -> Document:
        """Edit the question before."""
        self._place -= 1
        return self._document()

    def down(self) -> Document:
        """Edit the question after; after the last one, none."""
        self._place += 1
        return self._document()

    def _document(self) -> Document:
        from prompt_toolkit.document import Document

        if self._place == len(self._questions):
            self._loop.leave_edit()
            self._loop.draft = ""
            return Document()
        self._loop.edit(self._questions[self._place])
        text, self._loop.draft = self._loop.draft, ""
        return Document(text)

    def _find(self) -> list[Node]:
        path = self._loop.session.path()
        return [node for node in path if node.role == "user" and node.kind == "message" and node.message.text]

    @property
    def _text(self) -> str:
        from prompt_toolkit.application import get_app

        return get_app().current_buffer.text

    @property
    def _is_untouched(self) -> bool:
        if not self._text:
            return True
        return self._place < len(self._questions) and self._text == self._questions[self._place].message.text


def reader(loop: ChatLoop) -> Callable[[], str]:
    """A function that reads the next input; it raises `EOFError` at the end."""
    loop.interactive = sys.stdin.isatty() and sys.stdout.isatty()
    return on_terminal(loop) if loop.interactive else from_pipe


def from_pipe() -> str:
    """One line of stdin."""
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.rstrip("\n")


def on_terminal(loop: ChatLoop) -> Callable[[], str]:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.formatted_text import ANSI
    from prompt_toolkit.styles import Style

    from bough.cli.commands.chat.completion import ChatCompleter

    session: PromptSession[str] = PromptSession(
        history=history(loop.kept),
        completer=ChatCompleter(loop),
        complete_while_typing=False,
        multiline=True,
        prompt_continuation="  ",
        key_bindings=keys(loop),
        bottom_toolbar=None if is_plain() else loop.status,
        enable_open_in_editor=True,
        tempfile_suffix=".md",
        style=Style.from_dict({"bottom-toolbar": "noreverse fg:ansibrightblack"}),
    )

    def read() -> str:
        while True:
            draft, loop.draft = loop.draft, ""
            try:
                return session.prompt(PROMPT if is_plain() else ANSI(f"\x1b[1m{PROMPT}\x1b[0m"), default=draft)
            except KeyboardInterrupt:  # discards the line, as in a shell
                loop.leave_edit()

    return read


def history(kept: bool) -> History:
    """Earlier input, for the arrow keys; empty in an incognito chat."""
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    with suppress(OSError):  # a chat works without its history
        if kept:
            file = history_file()
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
            return FileHistory(file)
    return InMemoryHistory()


def history_file() -> Path:
    """File of the input history."""
    return Path(state_directory(), "history")


def keys(loop: ChatLoop) -> KeyBindings:
    """Enter sends; Alt+Enter, Ctrl+J, or Enter after a backslash, insert a line break.

    Up in an empty editor puts the last question of the dialog into it, to be asked as another branch, and again the
    one before. Where there is none, and with Ctrl+P, it is earlier input, as in a shell.
    """
    from prompt_toolkit.filters import Condition
    from prompt_toolkit.key_binding import KeyBindings

    bindings, earlier = KeyBindings(), EarlierQuestions(loop)

    @bindings.add("up", filter=Condition(earlier.can_go_up))
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.document = earlier.up()

    @bindings.add("down", filter=Condition(earlier.can_go_down))
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.document = earlier.down()

    @bindings.add("enter")
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.document.text_before_cursor.endswith("\\"):
            buffer.delete_before_cursor()
            buffer.newline(copy_margin=False)
        else:
            buffer.validate_and_handle()

    @bindings.add("escape", "enter")
    @bindings.add("c-j")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.newline(copy_margin=False)

    return bindings
