"""Files of a ChatGPT export: images, audio and attachments."""

from __future__ import annotations

import mimetypes
import re
from pathlib import PurePosixPath

from bough.formats.media import kind_of
from bough.formats.payload import text_or_none
from bough.importers.common.files import Files
from bough.model import Json, Media

LARGEST = 256 * 2**20
"""Bytes; of a larger file only the id is stored, because blobs are built in memory."""
_ID = re.compile(r"file[-_][0-9A-Za-z]+|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
"""The id of a file, at the beginning of its name in the export: `file-…`, `file_…`, or a UUID."""
_MAGIC = {b"\x89PNG": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif", b"%PDF": "application/pdf"}


class Assets:
    """Finds the bytes behind a pointer (`file-service://file-…`, `sediment://file_…`) among the files of the export."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._names = {
            match[0]: name for name in files.names if (match := _ID.match(PurePosixPath(name).name)) is not None
        }

    def media(self, pointer: str, name: str | None, mime: str | None, raw: Json) -> Media:
        """The media of a pointer: with its bytes if the export has them, else with its id."""
        file_id = pointer_id(pointer)
        where = self._names.get(file_id or "")
        if where is None or self._files.size(where) > LARGEST:
            mime = mime or _guess(name or "")
            return Media(kind_of(mime), mime, file_id=file_id or pointer, name=name, raw=raw)
        with self._files.open(where) as stream:
            data = stream.read()
        mime = mime or _sniff(data) or _guess(name or where)
        return Media(kind_of(mime), mime, data=data, name=name or PurePosixPath(where).name, raw=raw)


def pointer_id(pointer: Json) -> str | None:
    """The file id in a pointer, which is also in the file's name."""
    match = _ID.match((text_or_none(pointer) or "").rpartition("://")[2])
    return match[0] if match else None


def _sniff(data: bytes) -> str | None:
    if data[:4] == b"RIFF":
        return "image/webp" if data[8:12] == b"WEBP" else "audio/wav"
    return next((mime for magic, mime in _MAGIC.items() if data.startswith(magic)), None)


def _guess(name: str) -> str:
    return mimetypes.guess_type(name)[0] or ""
