"""What is attached to a question: files, by what is in them and not by what they are called, and what is piped in."""

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

SOON = 1.0
"""Seconds after which it is odd that nothing is piped in yet."""
SIGNATURES: tuple[tuple[int, bytes, MediaKind, str], ...] = (
    (0, b"\x89PNG\r\n\x1a\n", "image", "image/png"),
    (0, b"\xff\xd8\xff", "image", "image/jpeg"),
    (0, b"GIF8", "image", "image/gif"),
    (8, b"WEBP", "image", "image/webp"),
    (0, b"BM", "image", "image/bmp"),
    (0, b"II*\0", "image", "image/tiff"),
    (0, b"MM\0*", "image", "image/tiff"),
    (4, b"ftypheic", "image", "image/heic"),
    (4, b"ftypavif", "image", "image/avif"),
    (0, b"%PDF-", "document", "application/pdf"),
    (8, b"WAVE", "audio", "audio/wav"),
    (0, b"ID3", "audio", "audio/mpeg"),
    (0, b"\xff\xfb", "audio", "audio/mpeg"),
    (0, b"OggS", "audio", "audio/ogg"),
    (0, b"fLaC", "audio", "audio/flac"),
    (4, b"ftypM4A", "audio", "audio/mp4"),
    (4, b"ftyp", "video", "video/mp4"),
    (0, b"\x1aE\xdf\xa3", "video", "video/webm"),
)
"""Where a file of this kind begins with what; the first that fits wins."""


def attached(files: Sequence[str]) -> list[Part]:
    """A block for each file. Raises `NotFound`, and `Invalid` for what no model can be shown."""
    return [from_url(file) if is_url(file) else from_file(file) for file in files]


def from_file(file: str) -> Part:
    """The file as a block: a picture, a sound, a document, or its text under its name."""
    path = Path(file).expanduser()
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise NotFound(f"There is no file {file!r}; nothing was asked.") from None
    except OSError as problem:
        raise Invalid(f"{file!r} cannot be attached: {problem.strerror}. Nothing was asked.") from None
    return block_of(content, path.name)


def block_of(content: bytes, name: str) -> Part:
    """These bytes as a block, by what they are."""
    if found := sniff(content):
        return Media(found[0], found[1], data=content, name=name)
    text = decoded(content)
    if text is None:
        raise Invalid(f"{name!r} is neither text nor a picture, a sound, a video or a PDF. Nothing was asked.")
    return Text(f'<file name="{name}">\n{text}\n</file>', extra={"file": name})


def sniff(content: bytes) -> tuple[MediaKind, str] | None:
    """What kind of media this is, and its MIME type; None for anything else."""
    for place, signature, kind, mime in SIGNATURES:
        if content.startswith(signature, place):
            return kind, mime
    return None


def decoded(content: bytes) -> str | None:
    """The text, if it is text: UTF-8, or UTF-16 that says so."""
    encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def is_url(file: str) -> bool:
    return file.startswith(("http://", "https://"))


def from_url(url: str) -> Part:
    """An address that the provider fetches: a picture, or a PDF by its name."""
    from mimetypes import guess_type

    mime = guess_type(url.partition("?")[0])[0] or "image/png"
    kind: MediaKind = "document" if mime == "application/pdf" else "image"
    if kind == "image" and not mime.startswith("image/"):
        raise Invalid(f"{url!r} is neither a picture nor a PDF; fetch it, and attach the file. Nothing was asked.")
    return Media(kind, mime, url=url)


def piped(asked: bool) -> bytes:
    """What is piped in, all of it; nothing from a terminal.

    A program that starts this one may leave its end open and say nothing. If something was `asked` anyway, that is told
    after a moment; and a socket, which no shell makes for a pipe, is not waited for any longer.
    """
    mode = stdin_mode()
    if stat.S_ISREG(mode):
        return sys.stdin.buffer.read()
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        return b""
    if asked and not comes_soon():
        if stat.S_ISSOCK(mode):
            return b""
        note("Waiting for what is piped in. --skip-stdin does not wait for it.")
    return sys.stdin.buffer.read()


def stdin_mode() -> int:
    """What kind of file stdin is; 0 if there is none."""
    try:
        return os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError, AttributeError):
        return 0


def comes_soon() -> bool:
    """Whether something is on stdin, or its end is."""
    if os.name != "posix":
        return True
    from select import select

    return bool(select([sys.stdin], [], [], SOON)[0])


def typed(text: str) -> str:
    """Words of the command line; UTF-8 that Python has not taken for it, in a locale without it, is understood."""
    if not re.search("[\udc80-\udcff]", text):
        return text
    try:
        return os.fsencode(text).decode("utf-8")
    except UnicodeError:
        return text


def question(words: Sequence[str], files: Sequence[str], stdin: bytes) -> list[Part]:
    """The blocks of the question: attachments first, then what was piped in, then the words.

    Without words, what was piped in is the question. Empty when there is nothing to ask. A file called `-` is what was
    piped in.
    """
    prompt = typed(" ".join(words))
    said = stdin.strip()
    if prompt == "-":
        prompt = ""
    parts = attached([file for file in files if file != "-"])
    if said:
        block = block_of(stdin, "stdin")
        if isinstance(block, Text):
            text = decoded(stdin) or ""
            block = Text(f"<stdin>\n{text}\n</stdin>", extra={"file": "stdin"}) if prompt else Text(text.strip("\n"))
        parts.append(block)
    return [*parts, Text(prompt)] if prompt.strip() else parts
