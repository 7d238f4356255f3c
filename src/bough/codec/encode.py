"""Encodes messages as rows.

A message becomes a `Draft`: rows without numbers, already hashed and compressed, so that the transaction is short.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from bough.codec import column, verbatim
from bough.codec.digest import digest_input, encoded, full_hash, text_digest_input
from bough.compress import compress, compress_if_it_pays
from bough.model import ROLES, Block, Json, Media, Message, Other, Text, Thinking, ToolCall, ToolResult
from bough.model.ids import is_plain
from bough.model.tokens import MESSAGE, estimate, estimate_text
from bough.model.values import value

BLOB_FROM = 8192
"""Bytes of UTF-8. Text up to here is plain in its row, where any tool reads it; longer text is a compressed blob."""
JSON_INLINE = 512
# The columns of the rows that `_Writer` collects, as in `Draft.further`.
BLOB, EXTRA, RAW = 9, 10, 11
Cells: TypeAlias = Sequence[Any]
NO_BLOCK: Cells = (None,) * 10
"""The block columns of a message without blocks."""


@value
class Blob:
    """Content that is stored once and referred to by its digest."""

    digest: bytes
    size: int
    encoding: str | None
    bytes: bytes


@value
class Draft:
    """The rows of a message, without numbers."""

    role: str
    error: int
    envelope: str | None
    weight: int
    """In estimated tokens."""
    digest_input: bytes
    """The bytes that its digest covers."""
    first: Cells
    """Of the first block: type, modality, mime, call_id, name, content, packed, Blob or None, extra, raw."""
    further: Sequence[Cells] = ()
    """Of each block after it: position, inside, and the same columns."""
    blobs: Sequence[Blob] = ()

    def with_blob_numbers(self, held: Mapping[bytes, int]) -> tuple[Cells, Sequence[Cells]]:
        """The columns of the first block and of the further ones, with blobs replaced by their numbers."""

        def numbered(row: Cells) -> Cells:
            return [held[item.digest] if isinstance(item, Blob) else item for item in row]

        return numbered(self.first), [numbered(row) for row in self.further]


def draft(message: Message) -> Draft:
    """Encodes a message. Raises `Invalid` for anything that cannot be stored."""
    if isinstance(message, Message) and len(message.blocks) == 1 and message.envelope is None:
        (only,) = message.blocks
        if type(only) is Text and only.extra is only.raw is None and message.role in ROLES:  # nearly every message
            data = encoded(only.text)
            content, packed, blob = place_text(only.text, data)
            first = ("text", None, None, None, None, content, packed, blob, None, None)
            blobs = () if blob is None else (blob,)
            weight, hashed = MESSAGE + estimate_text(only.text, len(data)), text_digest_input(message, data)
            return Draft(message.role, int(message.error), None, weight, hashed, first, (), blobs)
    hashed = digest_input(message)  # raises `Invalid` for what is no message
    writer = _Writer()
    for block in message.blocks:
        writer.block(block)
    envelope = None if message.envelope is None else writer.json(message.envelope, "envelope", None)
    writer.finish()
    head, further = (writer.rows[0][2:], writer.rows[1:]) if writer.rows else (NO_BLOCK, ())
    return Draft(message.role, int(message.error), envelope, estimate(message), hashed, head, further, writer.blobs)


class _Writer:
    """Collects the rows of one message."""

    def __init__(self) -> None:
        self.rows: list[list[Any]] = []
        self.held: list[str | bytes | None] = []
        self.blobs: list[Blob] = []
        self._json: list[tuple[int, int, Json]] = []

    def block(self, block: Block, inside: int | None = None) -> None:
        match block:
            case Text():
                self._row(inside, "text", block.text, block)
            case Thinking():
                self._row(inside, "thinking", block.text, block)
            case ToolCall():
                self._row(inside, "tool_call", block.arguments, block, call_id=block.call_id, name=block.name)
            case ToolResult():
                self._result(block, inside)
            case Media():
                self._media(block, inside)
            case Other():
                self._row(inside, "other", None, block, name=block.type)

    def _result(self, block: ToolResult, inside: int | None) -> None:
        # Nearly every result is one plain text: it needs no row of its own.
        only = block.content[0] if len(block.content) == 1 else None
        plain = only.text if isinstance(only, Text) and only.extra is None and only.raw is None else None
        kind = "tool_error" if block.error else "tool_result"
        position = self._row(inside, kind, plain, block, call_id=block.call_id, name=block.name)
        if plain is None:
            for part in block.content:
                self.block(part, position)

    def _media(self, block: Media, inside: int | None) -> None:
        kind, content = "media", None
        if block.data is None:
            kind, content = ("media_url", block.url) if block.url is not None else ("media_file", block.file_id)
        position = self._row(inside, kind, content, block, modality=block.kind, mime=block.mime, name=block.name)
        if block.data is not None:
            self.rows[position][BLOB] = blob = make_blob(bytes(block.data))
            self.blobs.append(blob)
            self.held[position] = bytes(block.data)

    def _row(
        self,
        inside: int | None,
        kind: str,
        content: str | None,
        block: Block | None,
        *,
        modality: str | None = None,
        mime: str | None = None,
        call_id: str | None = None,
        name: str | None = None,
    ) -> int:
        position = len(self.rows)
        text, packed, blob = (None, None, None) if content is None else place_text(content, encoded(content))
        if blob is not None:
            self.blobs.append(blob)
        self.rows.append([
            position, inside, kind, modality, mime and column(mime), call_id and column(call_id),
            name and column(name), text, packed, blob, None, None,
        ])  # fmt: skip
        self.held.append(content)
        if block is not None and not block.extra is block.raw is None:
            self._json += [(position, EXTRA, block.extra), (position, RAW, block.raw)]
        return position

    def finish(self) -> None:
        """Encodes the JSON beside the blocks, after all contents that it may repeat."""
        for position, field, beside in self._json:
            self.rows[position][field] = self.json(beside, "extra" if field == EXTRA else "raw", position)

    def json(self, value: Json, kind: str, position: int | None) -> str | None:
        """The text for a JSON column; None for JSON that is too long, which gets a row of its own."""
        if value is None:
            return None
        text = verbatim.pack(value, self.held)
        if len(text) <= JSON_INLINE and is_plain(text):
            return text
        held = len(self.held)
        self._row(position, kind, text, None)
        del self.held[held:]  # JSON does not repeat other JSON
        return None


def place_text(text: str, data: bytes) -> tuple[str | None, bytes | None, Blob | None]:
    """Chooses where a text is stored: plain in the row, compressed there if no database holds it plain, or as a blob.

    `data` is its UTF-8."""
    if len(data) > BLOB_FROM:
        return None, None, make_blob(data)
    if is_plain(text):
        return text, None, None
    return None, compress(data), None


def make_blob(data: bytes) -> Blob:
    smaller = compress_if_it_pays(data)
    return Blob(full_hash(data), len(data), "zstd" if smaller else None, smaller or data)
