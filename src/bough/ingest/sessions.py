"""Where the sessions of imported conversations stand, and whether somebody has moved them since."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bough.codec import column, json_text
from bough.db import Database
from bough.errors import Invalid
from bough.ingest.turns import plain
from bough.model import Json, ids, keys
from bough.model.imported import Conversation, Head, Skipped
from bough.model.values import value
from bough.storage import lookup, sessions, turns
from bough.storage.sessions import Description

ELSEWHERE = "elsewhere"
RAW_KEPT = 65_536
"""Characters of what was not understood that a session keeps,"""
SKIPPED_KEPT = 100
"""and of how many things."""


@value
class Stand:
    """A session that the other program has: its name there, and where it stands."""

    name: str
    key: str
    at: int | None
    title: str | None
    exact: bool = True
    """False where it merely stands at the last message told: then one told shorter than before did not go back."""
    again: bool = False
    """Whether it is made anew when it was deleted here."""


def kind_of(source: str) -> str:
    """The kind of the external names of a source's conversations."""
    return f"{source}:conversation"


def was_deleted(db: Database, source: str, id: str) -> bool:
    row = db.row("find_external", kind_of(source), column(id))
    return row is not None and db.row("session_by_number", row[1]) is None


def own_session(db: Database, told: Conversation, now: int) -> tuple[int, bool]:
    """The number of a conversation's session, and whether it was made just now. It stands nowhere until `stand`."""
    row = db.row("find_external", kind_of(told.source), column(told.id))
    if row is not None and db.row("session_by_number", row[1]) is not None:
        return int(row[1]), False
    return _make(db, told, told.id, told.key or f"{told.source}:{told.id}", now), True


def stand(
    db: Database,
    told: Conversation,
    find: Callable[[str], int | None],
    last: int | None,
    skipped: Sequence[Skipped],
    again: bool,
    now: int,
) -> tuple[str, str | None]:
    """Moves every session of a conversation to where it stands elsewhere; the key of the main one, and of its twin.

    A session that was moved or continued here stays; then another one, `{key}:elsewhere`, follows the other program.
    """
    session, _ = own_session(db, told, now)
    _describe(db, told, session, skipped)
    at = _answered(db, last if told.head is None else find(told.head))
    main = Stand(told.id, _key(db, session), at, told.title, told.head is not None)
    elsewhere = follow(db, told, main, now)
    _link(db, told, session, find)
    for head in told.heads:
        at = _answered(db, last if head.at is None else find(head.at))
        follow(db, told, _fork(told, head, at, again), now)
    return main.key, elsewhere


def _fork(told: Conversation, head: Head, at: int | None, again: bool) -> Stand:
    return Stand(f"{told.id} {head.key}", head.key, at, head.title or told.title, head.at is not None, again)


def follow(db: Database, told: Conversation, place: Stand, now: int) -> str | None:
    """Moves a session; the key of the one that was moved in its stead, if it was continued here."""
    kind, name = kind_of(told.source), column(place.name)
    row = db.row("find_external", kind, name)
    if row is None or (place.again and db.row("session_by_number", row[1]) is None):
        row = (None, _make(db, told, place.name, place.key, now, place.title))
    left_at, session = row
    found = db.row("session_by_number", session)
    if found is None or left_at == place.at or _is_before(db, place, left_at):
        return None
    current = turns.state(db, found[0])
    if current.head in (left_at, place.at) and not turns.is_leased(current, now):
        if current.head != place.at:
            _move(db, told, session, place.at, now)
        db.run("give_external", kind, name, place.at, session)
        return None
    twin = Stand(f"{place.name} {ELSEWHERE}", f"{found[0]}:{ELSEWHERE}", place.at, place.title, place.exact)
    return None if place.name.endswith(f" {ELSEWHERE}") else follow(db, told, twin, now) or _key_of(db, kind, twin)


def _is_before(db: Database, place: Stand, left_at: int | None) -> bool:
    return not place.exact and left_at is not None and place.at in lookup.ancestors(db, left_at)


def _key_of(db: Database, kind: str, place: Stand) -> str | None:
    row = db.row("find_external", kind, column(place.name))
    found = db.row("session_by_number", row[1]) if row else None
    return found[0] if found else None


def _move(db: Database, told: Conversation, session: int, at: int | None, now: int) -> None:
    turns.move_head(db, session, at, now)
    step = db.row("step", at) if at is not None else None
    ended = told.updated_at or (step[5] if step else now)
    begun = told.created_at or ended
    db.run("date_session", min(begun, ended, now), min(ended, now), session)


def _answered(db: Database, n: int | None) -> int | None:
    """A message, or the one before it where nobody answered; nobody continues from a question. A summary is none."""
    while n is not None and (step := db.row("step", n)) is not None and step[3] == "user" and step[7] != n:
        n = step[1]
    return n


def _make(db: Database, told: Conversation, name: str, key: str, now: int, title: str | None = None) -> int:
    given = Description(told.directory, title or told.title, plain(told.agent), plain(told.model), None)
    session = sessions.insert(db, _free_key(db, key), given, min(told.created_at or now, now))
    db.run("give_external", kind_of(told.source), column(name), None, session)
    return session


def _free_key(db: Database, wanted: str) -> str:
    """The key, or the next one like it when it is in use here."""
    key = wanted if ids.is_plain(wanted) else ascii(wanted)
    key = key[: keys.LONGEST_KEY - 20] or "imported"
    free, number = key, 2
    while db.row("session_number", free):
        free, number = f"{key}~{number}", number + 1
    return free


def _key(db: Database, session: int) -> str:
    row = db.row("session_by_number", session)
    assert row is not None
    return str(row[0])


def _describe(db: Database, told: Conversation, session: int, skipped: Sequence[Skipped]) -> None:
    """Writes down what the other program says of the conversation; a title that was changed here stays."""
    info = sessions.find(db, _key(db, session))
    assert info is not None
    noted = info.extra.get("imported", {}) if isinstance(info.extra, dict) else {}
    retitled = "title" in noted and info.title != noted["title"]
    title = info.title if retitled else told.title
    extra = _extra(told, skipped)
    columns = Description(told.directory, title, plain(told.agent), plain(told.model), None).columns
    if extra != json_text(info.extra) or title != info.title:
        db.run("update_session", *columns[:4], extra, info.updated_at, session)


def _extra(told: Conversation, skipped: Sequence[Skipped]) -> str | None:
    """What else is known of the conversation, as a column's text; without what cannot be written down."""
    imported: dict[str, Json] = {"source": told.source, "id": told.id, "title": told.title}
    kept = _kept(skipped)
    said = told.extra if isinstance(told.extra, dict) else {}
    try:
        return json_text({**said, "imported": {**imported, "skipped": kept} if kept else imported})
    except Invalid:
        return json_text({"imported": imported})


def _kept(skipped: Sequence[Skipped]) -> list[Json]:
    """What was not understood, as it came, as far as it is short."""
    kept: list[Json] = []
    left = RAW_KEPT
    for one in skipped[:SKIPPED_KEPT]:
        left -= _length(one.raw)
        kept.append({"place": one.place, "reason": one.reason, "raw": one.raw if left >= 0 else None})
    return kept


def _length(raw: Json) -> int:
    try:
        return len(json_text(raw) or "")
    except Invalid:
        return RAW_KEPT + 1


def _link(db: Database, told: Conversation, session: int, find: Callable[[str], int | None]) -> None:
    """Remembers for whom it worked."""
    if told.parent is None:
        return
    row = db.row("find_external", kind_of(told.source), column(told.parent))
    if row is not None and db.row("session_by_number", row[1]) is not None:
        message = None if told.parent_message is None else find(told.parent_message)
        db.run("link_session", row[1], message, session)
