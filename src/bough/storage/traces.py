"""The trace of a session and its delegates, in a number of statements that does not depend on how many there are."""

from __future__ import annotations

from bough.codec import json_list, session_infos, turn_info
from bough.db import Database
from bough.model import TurnInfo, Usage
from bough.model.traces import Trace
from bough.storage import lookup, replies


def trace(db: Database, key: str) -> Trace:
    """The trace of a session. Raises `NotFound`."""
    lookup.check_session(db, key)
    infos = session_infos(db.rows("family", key))
    turns: dict[str | None, list[TurnInfo]] = {}
    for row in db.rows("turns_of_family", json_list(info.key for info in infos)):
        turn = turn_info(row)
        turns.setdefault(turn.session, []).append(turn)
    spent = {total.name: total.usage for total in replies.usage(db, key, "session", None, None, delegates=True)}
    below: dict[str | None, list[str]] = {}
    for info in infos:
        if info.key != key:
            below.setdefault(info.parent_key, []).append(info.key)
    known = {info.key: info for info in infos}
    order = [key]
    for each in order:  # callers first
        order += below.get(each, ())
    made: dict[str, Trace] = {}
    for each in reversed(order):
        delegates = tuple(made[child] for child in below.get(each, ()))
        made[each] = Trace(known[each], tuple(turns.get(each, ())), spent.get(each, Usage()), delegates)
    return made[key]
