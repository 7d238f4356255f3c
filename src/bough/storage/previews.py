"""Rows of lists of sessions, in a number of statements that does not depend on how many there are."""

from __future__ import annotations

from collections.abc import Sequence

from bough.codec import json_list
from bough.db import Database
from bough.model import Headline, SessionInfo, Usage
from bough.model.previews import SessionPreview
from bough.storage import outline

NO_DIALOG = (0, 0, None, None)
NO_TURNS = (None, None, None, None, None, None, None)


def previews(db: Database, infos: Sequence[SessionInfo]) -> list[SessionPreview]:
    """The previews of these sessions, in this order, without those that were deleted since."""
    found = {
        key: (n, head) for key, n, head in db.rows("session_numbers_by_key", json_list(info.key for info in infos))
    }
    wanted = json_list(n for n, _ in found.values())
    dialogs = {session: tuple(row) for session, *row in db.rows("dialogs", wanted)}
    turns = {session: tuple(row) for session, *row in db.rows("turns_of_sessions", wanted)}
    delegates: dict[int, int] = dict(db.rows("delegates_of_sessions", wanted))
    roots = {root for *_, root in dialogs.values()}
    leaves: dict[int, int] = dict(db.rows("leaves_below", json_list(roots)))
    shown = {head for _, head in found.values()} | {question for *_, question, _ in dialogs.values()}
    headlines = _headlines(db, shown - {None})
    made = []
    for info in infos:
        if info.key not in found:
            continue
        n, head = found[info.key]
        messages, count, question, root = dialogs.get(n, NO_DIALOG)
        *usage, status, model = turns.get(n, NO_TURNS)
        made.append(SessionPreview(
            info, headlines.get(question), headlines.get(head), messages, count, leaves.get(root, 0),
            delegates.get(n, 0), Usage(*usage), status, model or info.model,
        ))  # fmt: skip
    return made


def _headlines(db: Database, numbers: set[int]) -> dict[int | None, Headline]:
    wanted = sorted(numbers)
    return dict(zip(wanted, outline.headlines(db, wanted, below=False), strict=True))
