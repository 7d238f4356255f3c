"""Decodes rows of the `load` fragment into nodes."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any

from bough.codec import BESIDE, uncolumn, verbatim
from bough.compress import decompress
from bough.db import Row
from bough.errors import Corrupt
from bough.model import Block, Json, Media, Message, Node, Other, Text, Thinking, ToolCall, ToolResult
from bough.model.values import lazy_maker, maker

# A load makes thousands of values: the compiled constructors take two thirds of the time of calling the classes.
new_text: Callable[..., Text] = maker(Text)
new_call: Callable[..., ToolCall] = maker(ToolCall)
new_result: Callable[..., ToolResult] = maker(ToolResult)
new_message: Callable[..., Message] = maker(Message)
new_node: Callable[..., Node] = maker(Node)
new_lazy_node: Callable[..., Node] = lazy_maker(Node)

# The columns of the `load` fragment. Not a NamedTuple: making one per row would slow down the hot loops of a load.
(
    N, ID, PARENT, TURN, ROLE, KIND, COVERS, LABEL, ERROR, DIGEST, ENVELOPE, CREATED_AT, WEIGHT, BLOCKS,
    POSITION, INSIDE, TYPE, MODALITY, MIME, CALL_ID, NAME, CONTENT, PACKED, EXTRA, RAW, ENCODING, BYTES,
) = range(27)  # fmt: skip


def nodes(rows: Sequence[Row], lookup: Callable[[list[int]], dict[int, str]]) -> list[Node]:
    """The nodes of rows: one for each message, with its first block, and one for every further block.

    `lookup` gives the ids of the parents, turns and covered nodes that are not among the rows. The content of a
    message that is not one plain text is decompressed and checked at the first access to it, which raises `Corrupt`
    if it is damaged.
    """
    heads, further = split_rows(rows)
    id_of = _names(heads, lookup).get
    found: list[Node] = []
    message: Any
    # Every message of every path passes through this loop.
    for row in heads:
        (
            n, id_, parent, turn, role, kind, covers, label, error, digest, envelope, created_at, weight, blocks,
            _, _, type_, _, _, _, _, content, _, extra, raw, _, _,
        ) = row  # fmt: skip
        if type_ == "text" and content is not None and blocks == 0 and envelope is extra is raw is None:
            # Nearly every message. To decode it costs no more than to keep what it takes to decode it later.
            new, message = (
                new_node,
                new_message(Message, role, (new_text(Text, content, None, None),), error == 1, None),
            )
        else:
            new, message = new_lazy_node, (_message, row, further.get(n, ()))
        found.append(
            new(
                Node, id_, id_of(parent), created_at, message, label and _label(row), id_of(turn), digest,
                kind or "message", covers and id_of(covers), weight,
            )
        )  # fmt: skip
    return found


def messages(rows: Sequence[Row]) -> Iterator[tuple[int, Message]]:
    """The numbers and messages of rows, without their places in the tree. Raises `Corrupt`."""
    heads, further = split_rows(rows)
    for row in heads:
        yield row[N], _message(row, further.get(row[N], ()))


def read_all(loaded: list[Node]) -> list[Node]:
    """The nodes, with every message decoded. Raises `Corrupt`."""
    for node in loaded:
        node.message  # noqa: B018
    return loaded


def _message(row: Row, further: Sequence[Row]) -> Message:
    """A message from its own row and those of its further blocks."""
    try:
        return _plain_message(row, further) or _general(row, further)
    except (ValueError, TypeError, LookupError, AssertionError) as problem:
        raise _damaged(row[ID], problem) from None


def _label(row: Row) -> str | None:
    try:
        return uncolumn(row[LABEL])
    except ValueError as problem:
        raise _damaged(row[ID], problem) from None


def _damaged(id_: str, problem: Exception) -> Corrupt:
    return Corrupt(f"The content of message {id_!r} is damaged: {problem}. Run verify().")


class gc_paused:
    """Disables the garbage collector during a load. It would traverse all new values again and again, of which none is
    garbage: for a path of 10,000 messages that is a third of the time.
    """

    __slots__ = ("_was_on",)

    def __enter__(self) -> None:
        self._was_on = gc.isenabled()
        gc.disable()

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if self._was_on:
            gc.enable()


def split_rows(rows: Sequence[Row]) -> tuple[list[Row], dict[int, list[Row]]]:
    """The rows of messages, and the rows of further blocks by the number of their message."""
    heads = [row for row in rows if row[ID] is not None]
    further: dict[int, list[Row]] = {}
    if len(heads) < len(rows):
        for row in rows:
            if row[ID] is None:
                further.setdefault(row[N], []).append(row)
    return heads, further


def ends_at_root(rows: Sequence[Row]) -> bool:
    """Whether the last message of a path, read from its end to its root, has no parent."""
    return next(row[PARENT] for row in reversed(rows) if row[ID] is not None) is None


def _names(rows: Sequence[Row], lookup: Callable[[list[int]], dict[int, str]]) -> dict[int, str]:
    """The ids of all nodes to which the rows refer, by their numbers."""
    ids: dict[int, str] = {row[N]: row[ID] for row in rows}
    named = set(chain.from_iterable(map(itemgetter(PARENT, TURN, COVERS), rows)))
    if missing := named - ids.keys() - {None}:
        ids |= lookup(sorted(missing))
    return ids


def _plain_message(head: Row, further: Sequence[Row]) -> Message | None:
    """Decodes a message of plain blocks only, as nearly all are. None for any other."""
    if head[ENVELOPE] is None and len(further) == head[BLOCKS] and (first := _plain(head, 0)) is not None:
        blocks = [first]
        for place, row in enumerate(further, 1):
            if (block := _plain(row, place)) is None:
                break
            blocks.append(block)
        else:
            return new_message(Message, head[ROLE], tuple(blocks), head[ERROR] == 1, None)
    return None


def _plain(row: Row, place: int) -> Block | None:
    """Decodes a plain block: a text, a call or a result without extra JSON. None for any other."""
    position, inside, kind, _, _, call_id, name, content, packed, extra, raw, _, stored = row[POSITION:]
    if position != place or not inside is extra is raw is None:
        return None
    if packed is not None:
        content = decompress(packed).decode("utf-8", "surrogatepass")
    elif stored is not None:
        content = _content(row)
    if content is None:
        return None
    if kind == "text":
        return new_text(Text, content, None, None)
    if kind == "tool_call":
        return new_call(ToolCall, uncolumn(call_id) or "", uncolumn(name) or "", content, None, None)
    if kind == "tool_result":
        parts = (new_text(Text, content, None, None),)
        return new_result(ToolResult, uncolumn(call_id) or "", parts, False, uncolumn(name), None, None)
    return None


def _held(row: Row) -> Any:
    """The content of a row. Raises `ValueError` if it has none and its type requires one."""
    content = _content(row)
    if content is None and row[TYPE] not in ("tool_result", "tool_error", "other"):
        raise ValueError(f"the content of block {row[POSITION]} is gone")
    return content


def _content(row: Row) -> Any:
    """The text or the bytes of a row; None if it has none."""
    if row[CONTENT] is not None:
        return row[CONTENT]
    if row[PACKED] is not None:
        return decompress(row[PACKED]).decode("utf-8", "surrogatepass")
    if row[BYTES] is None:
        return None
    data = decompress(row[BYTES]) if row[ENCODING] == "zstd" else row[BYTES]
    return data if row[TYPE] == "media" else data.decode("utf-8", "surrogatepass")


def _general(head: Row, further: Sequence[Row]) -> Message:
    """Decodes any message, from its own row and those of its further blocks."""
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
