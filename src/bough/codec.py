"""Values to rows and back: the only place that knows both.

On the way down a message becomes a `Draft`: rows without numbers, with all the work of hashing and compressing done,
so that the transaction that stores them is short. On the way up the rows of the `load` fragment become nodes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any

from bough import verbatim
from bough.compress import compress, compress_if_it_pays, decompress
from bough.db import Row, Value
from bough.digest import full_hash
from bough.errors import Corrupt, Invalid
from bough.ids import is_plain
from bough.model import (
    ROLES,
    Block,
    Json,
    Media,
    Message,
    Node,
    Other,
    SessionInfo,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Totals,
    TurnInfo,
    Usage,
)
from bough.tokens import estimate
from bough.values import maker, value

PACK_FROM = 512
BLOB_FROM = 8192
JSON_INLINE = 512
ESCAPE = "\x01"
BESIDE = ("extra", "raw", "envelope")
PLAIN = ("text", "tool_call", "tool_result")

# Values are made directly where there are thousands of them: calling the class first takes half as long again.
new_text: Callable[..., Text] = maker(Text)
new_message: Callable[..., Message] = maker(Message)
new_node: Callable[..., Node] = maker(Node)

# The columns of the `load` fragment.
(
    N, ID, PARENT, TURN, ROLE, KIND, COVERS, LABEL, ERROR, DIGEST, ENVELOPE, CREATED_AT, WEIGHT, BLOCKS,
    POSITION, INSIDE, TYPE, MODALITY, MIME, CALL_ID, NAME, CONTENT, PACKED, EXTRA, RAW, ENCODING, BYTES,
) = range(27)  # fmt: skip


@value
class Blob:
    """Content that is stored once, whoever holds it."""

    digest: bytes
    size: int
    encoding: str | None
    bytes: bytes


@value
class Draft:
    """A message as rows that have no number yet."""

    role: str
    error: int
    envelope: str | None
    weight: int
    """In estimated tokens."""
    blocks: list[list[Any]]
    """position, inside, type, modality, mime, call_id, name, content, packed, Blob or None, extra, raw"""


# Down: values to rows -----------------------------------------------------------------------------------------------


def draft(message: Message) -> Draft:
    """The rows of a message. Raises `Invalid` for what is not a message or cannot be kept."""
    if not isinstance(message, Message) or message.role not in ROLES:
        raise Invalid(f"A message is bough.Message with a role of {', '.join(ROLES)}, not {message!r:.80}.")
    if len(message.blocks) == 1 and message.envelope is None:
        (only,) = message.blocks
        if type(only) is Text and only.extra is only.raw is None:  # nearly every message
            row = [0, None, "text", None, None, None, None, *place_text(only.text), None, None]
            return Draft(message.role, int(message.error), None, estimate(message), [row])
    writer = _Writer()
    for block in message.blocks:
        writer.block(block)
    envelope = writer.json(message.envelope, "envelope", None)
    writer.finish()
    return Draft(message.role, int(message.error), envelope, estimate(message), writer.rows)


class _Writer:
    """Collects the rows of one message."""

    def __init__(self) -> None:
        self.rows: list[list[Any]] = []
        self.held: list[str | bytes | None] = []
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
            case _:
                raise Invalid(f"{block!r:.80} is not a block; nothing was saved.")

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
            self.rows[position][9] = make_blob(bytes(block.data))
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
        places = (None, None, None) if content is None else place_text(content)
        self.rows.append(
            [position, inside, kind, modality, column(mime), column(call_id), column(name), *places, None, None]
        )
        self.held.append(content)
        if block is not None and not block.extra is block.raw is None:
            self._json += [(position, 10, block.extra), (position, 11, block.raw)]
        return position

    def finish(self) -> None:
        """Writes the JSON beside the blocks, when everything that it may repeat is known."""
        for position, field, beside in self._json:
            self.rows[position][field] = self.json(beside, "extra" if field == 10 else "raw", position)

    def json(self, value: Json, kind: str, position: int | None) -> str | None:
        """The text for a JSON column; what is too long for it becomes a row of its own."""
        if value is None:
            return None
        text = verbatim.pack(value, self.held)
        if len(text) <= JSON_INLINE and is_plain(text):
            return text
        held = len(self.held)
        self._row(position, kind, text, None)
        del self.held[held:]  # JSON does not repeat other JSON
        return None


def place_text(text: str) -> tuple[str | None, bytes | None, Blob | None]:
    """Where a text goes: in the row as it is, in the row compressed, or among the blobs."""
    if not isinstance(text, str):
        raise Invalid(f"The text of a block is a string, not {type(text).__name__}; nothing was saved.")
    if len(text) <= PACK_FROM and is_plain(text):
        return text, None, None
    data = text.encode("utf-8", "surrogatepass")
    if len(data) > BLOB_FROM:
        return None, None, make_blob(data)
    packed = compress(data)
    if len(packed) < len(data) or not is_plain(text):
        return None, packed, None
    return text, None, None


def make_blob(data: bytes) -> Blob:
    smaller = compress_if_it_pays(data)
    return Blob(full_hash(data), len(data), "zstd" if smaller else None, smaller or data)


def column(text: str | None) -> str | None:
    """A short text for a column of any database; what no column takes is escaped."""
    if text is None or (is_plain(text) and not text.startswith(ESCAPE)):
        return text
    return ESCAPE + text.encode("utf-8", "surrogatepass").hex()


def uncolumn(text: str | None) -> str | None:
    if text is not None and text.startswith(ESCAPE):
        return bytes.fromhex(text[1:]).decode("utf-8", "surrogatepass")
    return text


# Up: rows to values -------------------------------------------------------------------------------------------------


def nodes(rows: Sequence[Row], lookup: Callable[[list[int]], dict[int, str]]) -> list[Node]:
    """The nodes of rows: one for each message, with its first block, and one for every further block.

    `lookup` gives the ids of the parents, turns and covered nodes that are not among the rows.
    """
    heads, further = apart(rows)
    id_of = _names(heads, lookup).get
    found: list[Node] = []
    # Every message of every path passes through this loop.
    for row in heads:
        (
            n, id_, parent, turn, role, kind, covers, label, error, digest, envelope, created_at, weight, blocks,
            _, _, type_, _, _, _, _, content, packed, extra, raw, _, _,
        ) = row  # fmt: skip
        try:
            if type_ == "text" and blocks == 0 and envelope is extra is raw is None:
                if packed is not None:
                    content = decompress(packed).decode("utf-8", "surrogatepass")
                elif content is None:
                    content = _held(row)
                message = new_message(Message, role, (new_text(Text, content, None, None),), error == 1, None)
            else:
                message = _message(row, further.get(n, []))
            if label is not None:
                label = uncolumn(label)
        except (ValueError, TypeError, LookupError, AssertionError) as problem:
            raise Corrupt(f"The content of message {id_!r} is damaged: {problem}. Run verify().") from None
        found.append(
            new_node(
                Node, id_, id_of(parent), created_at, message, label, id_of(turn), digest, kind or "message",
                covers and id_of(covers), weight,
            )
        )  # fmt: skip
    return found


def apart(rows: Sequence[Row]) -> tuple[list[Row], dict[int, list[Row]]]:
    """The rows of messages, and those of further blocks by the message that they belong to."""
    heads = [row for row in rows if row[ID] is not None]
    further: dict[int, list[Row]] = {}
    if len(heads) < len(rows):
        for row in rows:
            if row[ID] is None:
                further.setdefault(row[N], []).append(row)
    return heads, further


def ends_at_a_root(rows: Sequence[Row]) -> bool:
    """Whether the last message of these rows, from a node upwards, has nothing above it."""
    return next(row[PARENT] for row in reversed(rows) if row[ID] is not None) is None


def _names(rows: Sequence[Row], lookup: Callable[[list[int]], dict[int, str]]) -> dict[int, str]:
    """The ids of all nodes that the rows speak of."""
    ids: dict[int, str] = {row[N]: row[ID] for row in rows}
    named = set(chain.from_iterable(map(itemgetter(PARENT, TURN, COVERS), rows)))
    if missing := named - ids.keys() - {None}:
        ids |= lookup(sorted(missing))
    return ids


def _message(head: Row, further: list[Row]) -> Message:
    """A message from its own row and those of its further blocks."""
    if head[ENVELOPE] is None and len(further) == head[BLOCKS]:
        blocks = [_plain(row, place) for place, row in enumerate((head, *further))]
        if all(blocks):
            return Message(head[ROLE], tuple(blocks), head[ERROR] == 1)  # type: ignore[arg-type]
    return _general(head, further)


def _plain(row: Row, place: int) -> Block | None:
    """The block of nearly every row: a text, a call or a result, with nothing beside it. None for any other."""
    kind = row[TYPE]
    if kind not in PLAIN or row[POSITION] != place or not row[INSIDE] is row[EXTRA] is row[RAW] is None:
        return None
    content = _content(row)
    if content is None:
        return None
    if kind == "text":
        return new_text(Text, content, None, None)
    if kind == "tool_call":
        return ToolCall(uncolumn(row[CALL_ID]) or "", uncolumn(row[NAME]) or "", content)
    said = (new_text(Text, content, None, None),)
    return ToolResult(uncolumn(row[CALL_ID]) or "", said, False, uncolumn(row[NAME]))


def _held(row: Row) -> Any:
    """What a row holds, and must hold unless it is one of those that may be empty."""
    content = _content(row)
    if content is None and row[TYPE] not in ("tool_result", "tool_error", "other"):
        raise ValueError(f"the content of block {row[POSITION]} is gone")
    return content


def _content(row: Row) -> Any:
    """The text or the bytes that a row holds."""
    if row[CONTENT] is not None:
        return row[CONTENT]
    if row[PACKED] is not None:
        return decompress(row[PACKED]).decode("utf-8", "surrogatepass")
    if row[BYTES] is None:
        return None
    data = decompress(row[BYTES]) if row[ENCODING] == "zstd" else row[BYTES]
    return data if row[TYPE] == "media" else data.decode("utf-8", "surrogatepass")


def _general(head: Row, further: list[Row]) -> Message:
    """A message from any rows: its own, and those of its further blocks."""
    rows = sorted(further, key=itemgetter(POSITION))
    if len(rows) != head[BLOCKS]:
        raise ValueError(f"it has {len(rows)} further blocks, and not {head[BLOCKS]}")
    if head[TYPE] is not None:
        rows.insert(0, head)
    if [row[POSITION] for row in rows] != list(range(len(rows))):
        raise ValueError("a block of it is gone")
    held = [_held(row) for row in rows]
    beside = {(row[INSIDE], row[TYPE]): held[row[POSITION]] for row in rows if row[TYPE] in BESIDE}

    def json_beside(position: int | None, kind: str, inline: str | None) -> Json:
        text = beside.get((position, kind)) if inline is None else inline
        return None if text is None else verbatim.unpack(text, held)

    def build(inside: int | None) -> tuple[Any, ...]:
        built = []
        for row in rows:
            if row[INSIDE] == inside and row[TYPE] not in BESIDE:
                position = row[POSITION]
                extra = json_beside(position, "extra", row[EXTRA])
                raw = json_beside(position, "raw", row[RAW])
                built.append(_block(row, held[position], build, extra, raw))
        return tuple(built)

    return Message(head[ROLE], build(None), head[ERROR] == 1, json_beside(None, "envelope", head[ENVELOPE]))


def _block(row: Row, content: Any, inner: Callable[[int], tuple[Any, ...]], extra: Json, raw: Json) -> Block:
    kind, name = row[TYPE], uncolumn(row[NAME])
    match kind:
        case "text":
            return Text(content, extra, raw)
        case "thinking":
            return Thinking(content, extra, raw)
        case "tool_call":
            return ToolCall(uncolumn(row[CALL_ID]) or "", name or "", content, extra, raw)
        case "tool_result" | "tool_error":
            parts = inner(row[POSITION]) if content is None else (Text(content),)
            return ToolResult(uncolumn(row[CALL_ID]) or "", parts, kind == "tool_error", name, extra, raw)
        case "media" | "media_url" | "media_file":
            data, url, file_id = (
                content if kind == source else None for source in ("media", "media_url", "media_file")
            )
            return Media(row[MODALITY], uncolumn(row[MIME]) or "", data, url, file_id, name, extra, raw)
        case "other":
            return Other(name or "", raw, extra)
    raise ValueError(f"a block of the unknown type {kind!r}")


def json_text(value: Json) -> str | None:
    """JSON beside a session or a turn."""
    return None if value is None else column(verbatim.pack(value, ()))


def json_value(text: str | None) -> Json:
    return None if text is None else json.loads(uncolumn(text) or "null")


def session_info(row: Row) -> SessionInfo:
    """A session from a row of the `session` fragment."""
    (
        key, channel, channel_id, head, revision, directory, title, agent, model,
        parent, caller, origin, extra, made, used, cursor,
    ) = row  # fmt: skip
    return SessionInfo(
        key, channel, channel_id, head, revision, uncolumn(directory), uncolumn(title), agent, model,
        parent, caller, origin, json_value(extra), made, used, cursor,
    )  # fmt: skip


def turn_info(row: Row) -> TurnInfo:
    """A turn from a row of the `turn` fragment."""
    values = [*row[:5], Usage(*row[5:10]), *row[10:]]
    values[13], values[14] = uncolumn(row[17]), json_value(row[18])
    return TurnInfo(*values)


def totals(row: Row) -> Totals:
    """A sum from a row that names something and then has the `totals` fragment."""
    return Totals(row[0], row[1], Usage(*row[2:7]), row[7])


def json_list(values: Iterable[Value]) -> str:
    """Several values as one parameter."""
    return json.dumps(list(values))
