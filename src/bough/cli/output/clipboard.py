"""The clipboard: by the system's own program, and by OSC 52, which also works over SSH."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from base64 import b64encode

from bough.errors import Refused

PROGRAMS = (
    ("WAYLAND_DISPLAY", ("wl-copy",)),
    ("DISPLAY", ("xclip", "-selection", "clipboard")),
    ("DISPLAY", ("xsel", "--clipboard", "--input")),
)
"""The variable without which a program does not work, and its command."""
LONGEST = 74_994
"""Bytes of text that terminals accept in OSC 52, which is 100,000 characters of base64."""


def program() -> tuple[str, ...] | None:
    """The command that copies its input on this system."""
    if sys.platform == "darwin":
        return ("pbcopy",)
    if sys.platform == "win32":
        return ("clip",)
    return next((words for need, words in PROGRAMS if os.environ.get(need) and shutil.which(words[0])), None)


def osc52(text: str) -> str:
    """The escape sequence that puts a text on the clipboard of the terminal."""
    return f"\x1b]52;c;{b64encode(text.encode('utf-8', 'replace')).decode()}\x07"


def copy(text: str) -> None:
    """Put a text on the clipboard. Raises `Refused` where there is neither a program nor a terminal for it."""
    words = program()
    if words is not None:
        done = subprocess.run(words, input=text.encode("utf-8", "replace"), capture_output=True, check=False)
        if done.returncode == 0:
            return
    if len(text.encode("utf-8", "replace")) > LONGEST:
        raise Refused("The text is too long for the terminal's clipboard, and no program for it is installed.")
    from bough.cli.output.console import supports_escapes

    for stream in (sys.stderr, sys.stdout):
        if supports_escapes(stream):
            stream.write(osc52(text))
            stream.flush()
            return
    raise Refused("There is no clipboard here: no terminal, and none of pbcopy, wl-copy, xclip and xsel.")
