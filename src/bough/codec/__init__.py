"""Conversion between values and rows.

`encode` turns messages into rows, `decode` turns rows into nodes. Here are sessions, turns and totals, which are one
row each, and the encoding of single columns.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from json.encoder import encode_basestring_ascii as quoted

from bough.codec import verbatim
from bough.db import Row
from bough.model import Json, ReplyInfo, SessionInfo, Totals, TurnInfo, Usage
from bough.model.ids import is_plain
from bough.model.values import maker

ESCAPE = "\x01"
BESIDE = ("extra", "raw", "envelope")
"""Types of the block rows that hold JSON too long for its column."""


def column(text: str | None) -> str | None:
    """Encodes a short text for a column of any database. What PostgreSQL's TEXT refuses is escaped."""
    if text is None or (text.isascii() and text.isprintable()):  # nearly every one
        return text
    if is_plain(text) and not text.startswith(ESCAPE):
        return text
    return ESCAPE + text.encode("utf-8", "surrogatepass").hex()


def uncolumn(text: str | None) -> str | None:
    """Decodes what `column` encoded. Raises `ValueError` for damaged text."""
    if text is not None and text.startswith(ESCAPE):
        return bytes.fromhex(text[1:]).decode("utf-8", "surrogatepass")
    return text


def json_text(value: Json) -> str | None:
    """Encodes JSON for a column of a session or a turn."""
    return None if value is None else column(verbatim.pack(value, ()))


def json_value(text: str | None) -> Json:
    return None if text is None else json.loads(uncolumn(text) or "null")


def session_infos(rows: Iterable[Row]) -> list[SessionInfo]:
    """Sessions from rows of the `session` fragment."""
    new: Callable[..., SessionInfo] = maker(SessionInfo)  # a list has many: calling the class takes a quarter longer
    return [
        new(
            SessionInfo, key, channel, channel_id, head, revision, directory and uncolumn(directory),
            title and uncolumn(title), agent, model, parent, caller, origin, extra and json_value(extra),
            made, used, cursor, pinned, expires if after is None else used + after, after,
        )
        for key, channel, channel_id, head, revision, directory, title, agent, model,
            parent, caller, origin, extra, made, used, cursor, pinned, expires, after in rows
    ]  # fmt: skip


def turn_info(row: Row) -> TurnInfo:
    """A turn from a row of the `turn` fragment."""
    (
        id_, session, status, parent, last, *usage, model, provider, request_id, key, instructions, caller, call,
        error, metadata, started, first_token, finished, context_tokens,
    ) = row  # fmt: skip
    return TurnInfo(
        id_, session, status, parent, last, Usage(*usage), model, provider, request_id, key, instructions, caller, call,
        uncolumn(error), json_value(metadata), started, first_token, finished, context_tokens,
    )  # fmt: skip


def reply_info(row: Row) -> ReplyInfo:
    """A reply from a row of the `reply` fragment."""
    values = [*row[:6], Usage(*row[6:11]), *row[11:]]
    return ReplyInfo(*values)


def totals(row: Row, by: Sequence[str]) -> Totals:
    """A total from a row of `usage`; `by` has the meaning of its first columns."""
    first, second, turns, *usage, without_cost, replies = row
    found = zip(by, (first, second), strict=False)
    names = tuple(uncolumn(name) if kind == "label" else name for kind, name in found)
    return Totals(names[0] if len(names) == 1 else None, turns, Usage(*usage), without_cost, names, replies or 0)


def json_list(values: Iterable[str | int]) -> str:
    """Encodes several values as one parameter, in half the time of `json.dumps`, which builds an encoder per call."""
    return f"[{','.join([quoted(value) if isinstance(value, str) else str(value) for value in values])}]"
