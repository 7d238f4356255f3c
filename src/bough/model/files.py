"""Files as blocks of a message: their type is detected from their content."""

from __future__ import annotations

from bough.errors import Invalid
from bough.model.blocks import Media, MediaKind, Part, Text

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
"""Offset, bytes, kind and MIME type; the first match wins."""


def block_of(content: bytes, name: str) -> Part:
    """The content as a block, by its detected type. Raises `Invalid`."""
    if found := sniff(content):
        return Media(found[0], found[1], data=content, name=name)
    text = decoded(content)
    if text is None:
        raise Invalid(f"{name!r} is neither text nor a picture, a sound, a video or a PDF. Nothing was asked.")
    return Text(f'<file name="{name}">\n{text}\n</file>', extra={"file": name})


def sniff(content: bytes) -> tuple[MediaKind, str] | None:
    """The kind of media and its MIME type; None for anything else."""
    for offset, signature, kind, mime in SIGNATURES:
        if content.startswith(signature, offset):
            return kind, mime
    return None


def decoded(content: bytes) -> str | None:
    """The content as text, if it is UTF-8, or UTF-16 with a byte order mark."""
    encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text
