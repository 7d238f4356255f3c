"""Values to rows and back: the only place that knows both.

`down` makes the rows of a message, `up` makes nodes of rows. Here is what both need, and the rows that are one value.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from json.encoder import encode_basestring_ascii as quoted

from bough.codec import verbatim
from bough.db import Row
from bough.model import Json, SessionInfo, Totals, TurnInfo, Usage
from bough.model.ids import is_plain
from bough.model.values import maker

ESCAPE = "\x01"
BESIDE = ("extra", "raw", "envelope")
"""The types of rows that hold JSON which is too long for its column."""


def column(text: str | None) -> str | None:
    """A short text for a column of any database; what no column takes is escaped."""
    if text is None or (text.isascii() and text.isprintable()):  # nearly every one
        return text
    if is_plain(text) and not text.startswith(ESCAPE):
        return text
    return ESCAPE + text.encode("utf-8", "surrogatepass").hex()


def uncolumn(text: str | None) -> str | None:
    if text is not None and text.startswith(ESCAPE):
        return bytes.fromhex(text[1:]).decode("utf-8", "surrogatepass")
    return text


def json_text(value: Json) -> str | None:
    """JSON beside a session or a turn."""
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
            made, used, cursor,
        )
        for key, channel, channel_id, head, revision, directory, title, agent, model,
            parent, caller, origin, extra, made, used, cursor in rows
    ]  # fmt: skip


def turn_info(row: Row) -> TurnInfo:
    """A turn from a row of the `turn` fragment."""
    values = [*row[:5], Usage(*row[5:10]), *row[10:]]
    values[13], values[14] = uncolumn(row[17]), json_value(row[18])
    return TurnInfo(*values)


def totals(row: Row) -> Totals:
    """A sum from a row that names something and then has the `totals` fragment."""
    return Totals(row[0], row[1], Usage(*row[2:7]), row[7])


def json_list(values: Iterable[str | int]) -> str:
    """Several values as one parameter. `json.dumps` would make an encoder for each, and every turn needs one."""
    return f"[{','.join([quoted(value) if isinstance(value, str) else str(value) for value in values])}]"
