"""Attachments of a question: files, whose type is detected from their content, and piped input."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

from bough.cli.output.console import note
from bough.errors import Invalid, NotFound
from bough.model import Media, MediaKind, Part, Text
from bough.model.files import block_of, decoded

SILENT_WAIT = 1.0
"""Seconds to wait for piped input before saying so."""


def attached(files: Sequence[str]) -> list[Part]:
    """A block for each file or URL. Raises `NotFound`, and `Invalid` for an unsupported type."""
    return [from_url(file) if is_web_url(file) else from_file(file) for file in files]


def from_file(file: str) -> Part:
    """The file as a block: media, or its text with its name. Raises `NotFound` and `Invalid`."""
    path = Path(file).expanduser()
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise NotFound(f"There is no file {file!r}; nothing was asked.") from None
    except OSError as problem:
        raise Invalid(f"{file!r} cannot be attached: {problem.strerror}. Nothing was asked.") from None
    return block_of(content, path.name)


def is_web_url(file: str) -> bool:
    return file.startswith(("http://", "https://"))


def from_url(url: str) -> Part:
    """A URL that the provider fetches: an image, or a PDF by its name. Raises `Invalid` for another type."""
    from mimetypes import guess_type

    mime = guess_type(url.partition("?")[0])[0] or "image/png"
    kind: MediaKind = "document" if mime == "application/pdf" else "image"
    if kind == "image" and not mime.startswith("image/"):
        raise Invalid(f"{url!r} is neither a picture nor a PDF; fetch it, and attach the file. Nothing was asked.")
    return Media(kind, mime, url=url)


def piped(asked: bool) -> bytes:
    """All of the piped input; nothing from a terminal.

    A parent process may leave stdin open and never write to it. If there is a prompt (`asked`), the user is told of the
    wait; a socket, which no shell uses for a pipe, is then not waited for at all.
    """
    mode = stdin_mode()
    if stat.S_ISREG(mode):
        return sys.stdin.buffer.read()
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        return b""
    if asked and not is_ready():
        if stat.S_ISSOCK(mode):
            return b""
        note("Waiting for piped input. --skip-stdin does not read it.")
    return sys.stdin.buffer.read()


def stdin_mode() -> int:
    """The file mode of stdin; 0 if there is none."""
    try:
        return os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError, AttributeError):  # closed, or replaced by an object without a file
        return 0


def is_ready() -> bool:
    """Whether stdin can be read, or has ended, within a moment."""
    if os.name != "posix":
        return True
    from select import select

    return bool(select([sys.stdin], [], [], SILENT_WAIT)[0])


def typed(text: str) -> str:
    """Text of the command line; UTF-8 is decoded even in a locale that is not UTF-8."""
    if not re.search("[\udc80-\udcff]", text):
        return text
    try:
        return os.fsencode(text).decode("utf-8")
    except UnicodeError:
        return text


def question(words: Sequence[str], files: Sequence[str], stdin: bytes) -> list[Part]:
    """The blocks of the question: attachments, then piped input, then the words. Raises `NotFound` and `Invalid`.

    Without words, the piped input is the question. Empty when there is nothing to ask. A file named `-` is the piped
    input.
    """
    prompt = typed(" ".join(words))
    if prompt == "-":
        prompt = ""
    parts = attached([file for file in files if file != "-"])
    if stdin.strip():
        block = block_of(stdin, "stdin")
        if isinstance(block, Text):
            text = decoded(stdin) or ""
            block = Text(f"<stdin>\n{text}\n</stdin>", extra={"file": "stdin"}) if prompt else Text(text.strip("\n"))
        parts.append(block)
    return [*parts, Text(prompt)] if prompt.strip() else parts
