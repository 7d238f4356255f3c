"""Sessions of imported conversations: create them, move them, and leave alone the ones that were used here."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bough.codec import column, json_text
from bough.db import Database
from bough.errors import Invalid
from bough.ingest.turns import plain
from bough.model import Json, ids, keys
from bough.model.imported import Conversation, Head, Skipped
from bough.model.values import value
from bough.storage import changes, leases, lookup, sessions, trash, turns
from bough.storage.rows import ExternalTarget
from bough.storage.sessions import Description

ELSEWHERE = "elsewhere"
RAW_KEPT = 65_536
"""Characters of skipped content that a session keeps."""
SKIPPED_KEPT = 100
"""Skipped items that a session keeps."""


@value
class SourceSession:
    """A session as the other program has it."""

    name: str
    """Its external id."""
    key: str
    at: int | None
    """The number of its current message."""
    title: str | None
    exact: bool = True
    """False if the source has no current message, and `at` is the last one: then a message before that of the last
    import means a truncated file, not a rewind."""
    again: bool = False
    """Whether to create it anew if it was deleted here."""


def conversation_kind(source: str) -> str:
    """The kind of the external ids of a source's conversations."""
    return f"{source}:conversation"


def was_deleted(db: Database, source: str, id: str) -> bool:
    """Whether a conversation was imported and its session has been deleted here."""
    named = lookup.external(db, conversation_kind(source), id)
    return named is not None and lookup.session_key(db, named.session) is None


def main_session(db: Database, conversation: Conversation, now: int) -> tuple[int, bool]:
    """The number of a conversation's session, and whether it is new. It has no head until `update_sessions`."""
    named = lookup.external(db, conversation_kind(conversation.source), conversation.id)
    if named is not None and named.session and lookup.session_key(db, named.session) is not None:
        return named.session, False
    key = conversation.key or f"{conversation.source}:{conversation.id}"
    return _create(db, conversation, conversation.id, key, now), True


def update_sessions(
    db: Database,
    conversation: Conversation,
    find: Callable[[str], int | None],
    last: int | None,
    skipped: Sequence[Skipped],
    again: bool,
    now: int,
) -> tuple[str, str | None]:
    """Moves all sessions of a conversation to where the source has them; the keys of the main one and of its second.

    A session that was moved or continued here stays; then a second one, `{key}:elsewhere`, follows the other program.
    """
    session, _ = main_session(db, conversation, now)
    _describe(db, conversation, session, skipped)
    at = _before_question(db, last if conversation.head is None else find(conversation.head))
    main = SourceSession(conversation.id, _key(db, session), at, conversation.title, conversation.head is not None)
    elsewhere = follow(db, conversation, main, now)
    _link(db, conversation, session, find)
    for head in conversation.heads:
        at = _before_question(db, last if head.at is None else find(head.at))
        follow(db, conversation, _further(conversation, head, at, again), now)
    return main.key, elsewhere


def _further(conversation: Conversation, head: Head, at: int | None, again: bool) -> SourceSession:
    name, title = f"{conversation.id} {head.key}", head.title or conversation.title
    return SourceSession(name, head.key, at, title, head.at is not None, again)


def follow(db: Database, conversation: Conversation, source: SourceSession, now: int) -> str | None:
    """Moves a session to where the source has it; the key of the second one if it was continued here."""
    kind = conversation_kind(conversation.source)
    named = lookup.external(db, kind, source.name)
    if named is None or (source.again and lookup.session_key(db, named.session) is None):
        created = _create(db, conversation, source.name, source.key, now, source.title)
        named = ExternalTarget(None, created)
    left_at, session = named
    key = lookup.session_key(db, session)
    if session is None or key is None or left_at == source.at or _is_truncated(db, source, left_at):
        return None
    current = leases.session_state(db, key)
    # It may be moved only if it has not been moved since the last import, and no turn is open.
    if current.head in (left_at, source.at) and not leases.is_leased(current, now):
        if current.head != source.at:
            _move(db, conversation, session, source.at, now)
        db.run("give_external", kind, column(source.name), source.at, session)
        return None
    if source.name.endswith(f" {ELSEWHERE}"):
        return None  # The second session was continued here, too: there is no third.
    second = SourceSession(f"{source.name} {ELSEWHERE}", f"{key}:{ELSEWHERE}", source.at, source.title, source.exact)
    return follow(db, conversation, second, now) or _key_of(db, kind, second)


def _is_truncated(db: Database, source: SourceSession, left_at: int | None) -> bool:
    return not source.exact and left_at is not None and source.at in lookup.ancestors(db, left_at)


def _key_of(db: Database, kind: str, source: SourceSession) -> str | None:
    named = lookup.external(db, kind, source.name)
    return named and lookup.session_key(db, named.session)


def _move(db: Database, conversation: Conversation, session: int, at: int | None, now: int) -> None:
    turns.move_head(db, session, at)
    changes.add(db, "moved", now, session, at)
    header = lookup.header(db, at)
    _date(db, conversation, session, header.created_at if header else now, now)


def _date(db: Database, conversation: Conversation, session: int, otherwise: int, now: int) -> None:
    """Gives an imported session the times that it has in the source, and its place in the order of last use."""
    updated = min(conversation.updated_at or otherwise, now)
    db.run("date_session", min(conversation.created_at or updated, updated), updated, session)
    place(db, session, updated)


def place(db: Database, session: int, at: int) -> None:
    """Puts an imported session where it belongs in the order of last use: an import is no use."""
    db.run("renew_activity", at)
    trash.place(db, session, at)


def _before_question(db: Database, n: int | None) -> int | None:
    """A message; its nearest ancestor that is no question, if it is a question without an answer.

    A session that continued from a question would send two user messages. A summary is a user message, but no question.
    """
    while (header := lookup.header(db, n)) and header.role == "user" and header.summary != n:
        n = header.parent
    return n


def _create(db: Database, conversation: Conversation, name: str, key: str, now: int, title: str | None = None) -> int:
    description = Description(
        conversation.directory, title or conversation.title, plain(conversation.agent), plain(conversation.model), None
    )
    session = sessions.insert(db, _free_key(db, key), description, min(conversation.created_at or now, now))
    _date(db, conversation, session, conversation.created_at or now, now)
    db.run("give_external", conversation_kind(conversation.source), column(name), None, session)
    return session


def _free_key(db: Database, wanted: str) -> str:
    """The wanted key, with `~2`, `~3`, … appended if it is in use."""
    key = wanted if ids.is_plain(wanted) else ascii(wanted)
    key = key[: keys.LONGEST_KEY - 20] or "imported"
    free, number = key, 2
    while lookup.session_number(db, free):
        free, number = f"{key}~{number}", number + 1
    return free


def _key(db: Database, session: int) -> str:
    key = lookup.session_key(db, session)
    assert key is not None
    return key


def _describe(db: Database, conversation: Conversation, session: int, skipped: Sequence[Skipped]) -> None:
    """Updates the metadata of a session; a title that was changed here stays."""
    info = sessions.find(db, _key(db, session))
    assert info is not None
    imported = info.extra.get("imported", {}) if isinstance(info.extra, dict) else {}
    retitled = "title" in imported and info.title != imported["title"]
    title = info.title if retitled else conversation.title
    extra = _extra(conversation, skipped)
    description = Description(conversation.directory, title, plain(conversation.agent), plain(conversation.model), None)
    if extra != json_text(info.extra) or title != info.title:
        db.run("update_session", *description.columns[:4], extra, session)


def _extra(conversation: Conversation, skipped: Sequence[Skipped]) -> str | None:
    """Further metadata as the text of a column; reduced to the ids if the rest is not valid JSON."""
    imported: dict[str, Json] = {"source": conversation.source, "id": conversation.id, "title": conversation.title}
    kept = _kept(skipped)
    extra = conversation.extra if isinstance(conversation.extra, dict) else {}
    try:
        return json_text({**extra, "imported": {**imported, "skipped": kept} if kept else imported})
    except Invalid:
        return json_text({"imported": imported})


def _kept(skipped: Sequence[Skipped]) -> list[Json]:
    """The skipped items, with their content until `RAW_KEPT` is used up."""
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


def _link(db: Database, conversation: Conversation, session: int, find: Callable[[str], int | None]) -> None:
    """Links a subagent's session to the one that delegated it."""
    if conversation.parent is None:
        return
    owner = lookup.external(db, conversation_kind(conversation.source), conversation.parent)
    if owner is not None and lookup.session_key(db, owner.session) is not None:
        message = None if conversation.parent_message is None else find(conversation.parent_message)
        db.run("link_session", owner.session, message, session)
