"""Convert media between bytes, base64, data URLs and MIME types."""

from __future__ import annotations

import binascii
from base64 import b64decode, b64encode

from bough.model import Json, Media, MediaKind

FORMATS = {
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "png": "image/png",
    "gif": "image/gif",
    "webp": "image/webp",
    "pdf": "application/pdf",
    "csv": "text/csv",
    "html": "text/html",
    "txt": "text/plain",
    "md": "text/markdown",
    "doc": "application/msword",
    "xls": "application/vnd.ms-excel",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "mp4": "video/mp4",
    "mov": "video/quicktime",
    "mkv": "video/x-matroska",
    "webm": "video/webm",
    "mp3": "audio/mpeg",
    "wav": "audio/wav",
    "ogg": "audio/ogg",
    "flac": "audio/flac",
    "aac": "audio/aac",
}
"""Short names that some providers use instead of MIME types. The first name of a type is the one encoded."""
NAMES = {mime: name for name, mime in reversed(FORMATS.items())}


def kind_of(mime: str) -> MediaKind:
    match mime.partition("/")[0]:
        case "image":
            return "image"
        case "audio":
            return "audio"
        case "video":
            return "video"
    return "document"


def from_base64(text: Json) -> bytes | None:
    """The bytes, or None if the text is not base64, in the standard or the URL-safe alphabet."""
    if not isinstance(text, str):
        return None
    try:
        return b64decode(text.replace("-", "+").replace("_", "/"), validate=True)
    except (binascii.Error, ValueError):
        return None


def to_base64(data: bytes) -> str:
    return b64encode(data).decode()


def from_url(url: str) -> tuple[str, bytes] | None:
    """MIME type and bytes of a data URL; None for any other URL."""
    head, comma, body = url.partition(",")
    if not (comma and head.startswith("data:") and head.endswith(";base64")):
        return None
    data = from_base64(body)
    return None if data is None else (head[5:-7], data)


def to_url(media: Media) -> str | None:
    """The bytes as a data URL, else the URL of the media."""
    if media.data is not None:
        return f"data:{media.mime};base64,{to_base64(media.data)}"
    return media.url


def media_at(url: str, raw: Json, kind: MediaKind = "image", name: str | None = None) -> Media:
    """The media at a URL, with its bytes if it is a data URL."""
    if held := from_url(url):
        return Media(kind, held[0], data=held[1], name=name, raw=raw)
    return Media(kind, "", url=url, name=name, raw=raw)


_SIGNATURES = {b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif", b"RIFF": "image/webp", b"BM": "image/bmp"}


def image_type(data: bytes) -> str:
    """The MIME type of an image by its first bytes; PNG if they are of no known type."""
    return next((mime for start, mime in _SIGNATURES.items() if data.startswith(start)), "image/png")


def describe(media: Media) -> str:
    """The line of text that replaces media for a provider that cannot take them."""
    what = media.name or media.url or media.file_id or f"{len(media.data or b'')} bytes"
    return f"[{media.kind}{' ' if media.mime else ''}{media.mime}: {what}]"
