"""Input of a chat: a terminal with history, line breaks and completion, or a pipe."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from bough.locations import state_directory

if TYPE_CHECKING:
    from prompt_toolkit.history import History
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

    from bough.cli.commands.chat.loop import ChatLoop

PROMPT = "› "


def reader(loop: ChatLoop) -> Callable[[], str]:
    """A function that reads the next input; it raises `EOFError` at the end."""
    return on_terminal(loop) if sys.stdin.isatty() and sys.stdout.isatty() else from_pipe


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
        key_bindings=keys(),
        bottom_toolbar=loop.status,
        style=Style.from_dict({"bottom-toolbar": "noreverse fg:ansibrightblack"}),
    )

    def read() -> str:
        while True:
            try:
                return session.prompt(ANSI(f"\x1b[1m{PROMPT}\x1b[0m"))
            except KeyboardInterrupt:  # discards the line, as in a shell
                continue

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


def keys() -> KeyBindings:
    """Enter sends; Alt+Enter, Ctrl+J, or Enter after a backslash, insert a line break."""
    from prompt_toolkit.key_binding import KeyBindings

    bindings = KeyBindings()

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
