"""Import of one conversation: known messages are recognised, new ones become nodes and turns.

`external_ids` keeps the source's id of every message, and that of every session together with the message where the
last import left it. An id without a message behind it was deleted here. Decision record 0009 defines "grown" and
"deleted".
"""

from __future__ import annotations

from copy import copy

from bough.codec import column, decode, json_list
from bough.db import Database
from bough.ingest import sessions
from bough.ingest.batches import Prepare, note_skipped, prepare_messages
from bough.ingest.identity import Identities
from bough.ingest.matching import KnownMessage, find_replay, has_grown
from bough.ingest.times import Times, nearest_times
from bough.ingest.turns import ImportedTurns
from bough.model import Message
from bough.model.imported import Conversation, ImportedMessage, ImportResult, Outcome, Skipped
from bough.model.keys import subagent_label
from bough.model.values import mutable, replace
from bough.storage import changes, lookup, trash, turns
from bough.storage.messages import Entry, insert, next_number


@mutable
class Batch:
    """The additions of one transaction."""

    first: int
    """The number of the first new message; the others follow."""
    known: dict[str, KnownMessage]
    numbers: dict[str, int | None]
    """The numbers of the messages that this transaction has matched or added, by external id."""
    entries: list[Entry]
    names: list[tuple[str, int]]
    """The external ids of the new messages."""
    grown: list[tuple[int, int]]
    """The number of a shorter message, and that of the one that replaces it."""
    times: Times
    """The times of new messages, by external id."""


class ConversationIngestion:
    """The import of one conversation. `store` and `finish` run inside a transaction that the caller holds."""

    def __init__(self, db: Database, conversation: Conversation, again: bool = False) -> None:
        self.db = db
        self.conversation = conversation
        self.again = again
        self.skipped: list[Skipped] = []
        self.added = self.known = 0
        self.last: int | None = None
        self._deleted: dict[str, int | None] = {}
        """For each message that was deleted here, the nearest ancestor that is left."""
        self._turns: ImportedTurns | None = None
        self._made_session = False
        self._orphans: list[Skipped] = []
        self._label = label_of_subagent(conversation)
        self._identities = Identities(self._load)

    @property
    def is_deleted(self) -> bool:
        """Whether it was deleted here and is not wanted again."""
        return not self.again and sessions.was_deleted(self.db, self.conversation.source, self.conversation.id)

    # Steps ----------------------------------------------------------------------------------------------------------

    def distinct(self, messages: list[ImportedMessage]) -> list[ImportedMessage]:
        """The messages, each under an id that no message with other words has."""
        return self._identities.distinct(messages, self._batch(messages).known)

    def skip_known(self, messages: list[ImportedMessage]) -> ConversationIngestion | None:
        """The state after messages that are all stored already; None if there is something to store."""
        batch, after = self._batch(messages), copy(self)
        for imported in messages:
            known = batch.known.get(imported.id)
            if known is None or known.n is None or self._has_grown(batch, known, imported):
                return None
            after._pass(known)
        return after

    def prepare(self, messages: list[ImportedMessage], prepare: Prepare) -> dict[str, Entry]:
        """The messages that may be new, hashed and compressed."""
        known = self._batch(messages).known
        # A known message that another one follows cannot grow, so it needs no entry.
        new = (one for one in messages if not (one.id in known and known[one.id].continued))
        return prepare_messages(new, prepare, self.skipped)

    def store(self, messages: list[ImportedMessage], entries: dict[str, Entry], now: int) -> ConversationIngestion:
        """The state after new messages are stored. `self` stays as it is: transactions are retried."""
        after = copy(self)
        after._turns, after._orphans = None, [*self._orphans]
        after._add(messages, entries, now)
        return after

    def preview(self, messages: list[ImportedMessage]) -> None:
        """Counts the new ones of some messages and stores nothing."""
        batch = self._batch(messages)
        for imported in messages:
            known = batch.known.get(imported.id)
            if known is None or (known.n is None and self.again):
                self.added += 1
                batch.known[imported.id] = KnownMessage(0)
            else:
                self.known += 1

    def preview_result(self) -> ImportResult:
        """The expected result of the messages that were previewed."""
        if not self.added + self.known:
            return self._result("empty")
        kind = sessions.conversation_kind(self.conversation.source)
        row = self.db.row("find_external", kind, column(self.conversation.id))
        return self._result("new" if row is None else "grown" if self.added else "known")

    def finish(self, now: int) -> ImportResult:
        """Moves the sessions to their heads in the other program."""
        if not self.added + self.known:
            return self._result("empty")
        _, made = sessions.main_session(self.db, self.conversation, now)
        main, elsewhere = sessions.update_sessions(
            self.db, self.conversation, self.find, self.last, self._all_skipped, self.again, now
        )
        status: Outcome = "new" if made or self._made_session else "grown" if self.added else "known"
        if status != "known":
            changes.add(self.db, "imported", now, lookup.session_number(self.db, main))
        return self._result(status, main, elsewhere)

    def _result(self, status: Outcome, session: str | None = None, elsewhere: str | None = None) -> ImportResult:
        notes = tuple(self._identities.notes) if self.added else ()
        return ImportResult(status, session, elsewhere, self.added, self.known, self._all_skipped, notes=notes)

    @property
    def _all_skipped(self) -> tuple[Skipped, ...]:
        return (*self.skipped, *self._orphans)

    def find(self, id: str) -> int | None:
        """The number of an imported message; of its nearest ancestor that is left, if it was deleted."""
        if id in self._deleted:
            return self._deleted[id]
        named = lookup.external(self.db, self.conversation.source, id)
        return named and named.message

    def _load(self, n: int) -> Message | None:
        rows = self.db.rows("nodes", json_list([n]))
        found = decode.nodes(rows, lambda missing: lookup.ids_of(self.db, missing))
        return found[0].message if found else None

    def _time(self, id: str) -> int | None:
        """The time of a stored message of this source."""
        header = lookup.header(self.db, self.find(id))
        return None if header is None else header.created_at

    # One transaction ------------------------------------------------------------------------------------------------

    def _add(self, messages: list[ImportedMessage], entries: dict[str, Entry], now: int) -> None:
        batch = self._batch(messages)
        batch.times = nearest_times(messages, self._time, self.conversation.created_at or self.conversation.updated_at)
        for imported in messages:
            self._take(batch, imported, entries.get(imported.id), now)
        if not batch.entries:
            return
        saved = insert(self.db, batch.entries, now)
        self._give_names(batch.names)
        own = self._own_turns(now)
        own.write(now)
        changes.add(self.db, "added", now, own.session, saved.last)
        for before, whole in batch.grown:
            self._replace(before, whole, now)
        self.added += len(batch.entries)

    def _batch(self, messages: list[ImportedMessage]) -> Batch:
        wanted = {id for one in messages for id in (one.id, one.parent, one.covers) if id is not None}
        ids = {column(id) or "": id for id in wanted}
        rows = self.db.rows("imported_messages", self.conversation.source, json_list(ids))
        known = {ids[id]: KnownMessage(n, digest, continued > 0) for id, n, digest, continued in rows}
        return Batch(next_number(self.db), known, {}, [], [], [], {})

    def _take(self, batch: Batch, imported: ImportedMessage, entry: Entry | None, now: int) -> None:
        """Decides what a message is: a repetition, deleted here, known, a replay of another one, new, or invalid."""
        if imported.id in batch.numbers:
            self.known += 1
            return
        parent = self._parent(batch, imported)
        known = batch.known.get(imported.id)
        if known is not None and known.n is None and not self.again:
            self._deleted[imported.id] = parent
            self.known += 1
        elif known is not None and known.n is not None and not has_grown(self.db, known, imported.message, parent):
            self._pass(known)
            batch.numbers[imported.id] = known.n
        elif (replayed := self._replayed(batch, imported, parent, now)) is not None:
            self._give_names([(imported.id, replayed)])
            self.known, self.last = self.known + 1, replayed
            batch.numbers[imported.id] = replayed
        elif entry is not None:
            self._new(batch, imported, entry, parent, None if known is None else known.n, now)
        else:  # It cannot be stored: its children follow its parent.
            batch.numbers[imported.id] = parent

    def _parent(self, batch: Batch, imported: ImportedMessage) -> int | None:
        """The number of the parent, or of its nearest ancestor that is left. A missing parent is reported."""
        id = imported.parent
        if id is not None and id not in batch.numbers and id not in self._deleted and id not in batch.known:
            note_skipped(self._orphans, Skipped(imported.id, f"Begins a tree: its parent {id!r} is missing."))
        return self._parent_number(batch, imported)

    def _parent_number(self, batch: Batch, imported: ImportedMessage) -> int | None:
        if imported.parent is None or imported.parent in batch.numbers:
            return None if imported.parent is None else batch.numbers[imported.parent]
        known = batch.known.get(imported.parent)
        return self._deleted.get(imported.parent) if known is None or known.n is None else known.n

    def _has_grown(self, batch: Batch, known: KnownMessage, imported: ImportedMessage) -> bool:
        return has_grown(self.db, known, imported.message, self._parent_number(batch, imported))

    def _pass(self, known: KnownMessage) -> None:
        self.known += 1
        if known.n is not None:
            self.last = known.n

    def _new(
        self,
        batch: Batch,
        imported: ImportedMessage,
        entry: Entry,
        parent: int | None,
        replaces: int | None,
        now: int,
    ) -> None:
        n = batch.first + len(batch.entries)
        if imported.created_at is None:
            imported = replace(imported, created_at=batch.times.get(imported.id))
        stored, after = (None, parent - batch.first) if parent and parent >= batch.first else (parent, None)
        batch.entries.append(replace(
            entry, parent=stored, after=after, label=imported.label or self._label, created_at=imported.created_at,
            kind=imported.kind, covers=self._covers(batch, imported),
            turn=self._turn(imported, n, parent, replaces, now),
        ))  # fmt: skip
        batch.names.append((imported.id, n))
        batch.numbers[imported.id] = self.last = n
        if replaces is not None:
            batch.grown.append((replaces, n))

    def _turn(
        self, imported: ImportedMessage, n: int, parent: int | None, replaces: int | None, now: int
    ) -> int | None:
        own = self._own_turns(now)  # Also for a summary, which belongs to no turn: this makes the session.
        if imported.kind == "summary":
            own.add_reply(imported, n, None)
            return None
        return own.assign(imported, n, parent, replaces)

    def _covers(self, batch: Batch, imported: ImportedMessage) -> int | None:
        if imported.covers is None:
            return None
        if imported.covers in batch.numbers:
            return batch.numbers[imported.covers]
        known = batch.known.get(imported.covers)
        return None if known is None else known.n

    def _give_names(self, names: list[tuple[str, int]]) -> None:
        source = self.conversation.source
        self.db.run_many("give_external", [(source, column(name), n, None) for name, n in names])

    def _own_turns(self, now: int) -> ImportedTurns:
        """The turns of the conversation in this transaction. Makes the session, to which turns belong."""
        if self._turns is None:
            session, made = sessions.main_session(self.db, self.conversation, now)
            self._made_session = self._made_session or made
            caller = self.conversation.parent_message
            number = None if caller is None else self.find(caller)
            self._turns = ImportedTurns(self.db, session, number, self.conversation.parent_call)
        return self._turns

    def _replayed(self, batch: Batch, imported: ImportedMessage, parent: int | None, now: int) -> int | None:
        """The stored message that this one repeats under a new id. A parent added just now has no stored children."""
        is_new = parent is not None and parent >= batch.first
        return None if is_new else find_replay(self.db, imported, parent, now)

    def _replace(self, before: int, whole: int, now: int) -> None:
        """Replaces a shorter message, which nothing follows, by the whole one."""
        for session, _ in self.db.rows("sessions_at", json_list([before])):
            turns.move_head(self.db, session, whole)
            changes.add(self.db, "moved", now, session, whole)
        self.db.run("rename_externals", whole, before)
        trash.delete(self.db, [before], now, "outgrown", keep=False)


def label_of_subagent(conversation: Conversation) -> str | None:
    """The label for every message of a subagent's conversation, by which lists leave it out."""
    if conversation.parent is None:
        return None
    return subagent_label(conversation.agent or "unknown", conversation.id.rpartition(":")[2])
