"""Conversations that happened elsewhere, on their way in: the known is recognised, the new becomes nodes and turns.

Every message keeps the name that the other program gave it (`external_ids`, under the source), and every session the
name of its conversation together with the message where the last import left it. A name with nothing behind it was
deleted here. What "grown" and "deleted" mean is decided in docs/decisions/0009.
"""

from __future__ import annotations

from copy import copy

from bough.codec import column, json_list
from bough.codec.encode import Draft
from bough.db import Database
from bough.ingest import sessions
from bough.ingest.batches import drafts, note
from bough.ingest.matching import Known, is_outgrown, twin
from bough.ingest.turns import Runs
from bough.model.imported import Brought, Conversation, Outcome, Said, Skipped
from bough.model.keys import subagent_label
from bough.model.values import workpiece
from bough.storage import trash, turns
from bough.storage.messages import Entry, insert, next_number


@workpiece
class Batch:
    """What one transaction adds."""

    first: int
    """The number of its first message; the others follow."""
    known: dict[str, Known]
    places: dict[str, int | None]
    """The numbers of the messages that were met or made in it."""
    entries: list[Entry]
    names: list[tuple[str, int]]
    outgrown: list[tuple[int, int]]
    """Messages of which there is more now: the number before, and the number of the whole."""


def subagents_label(told: Conversation) -> str | None:
    """What is put on every message of a subagent's conversation, so that lists can leave it out."""
    if told.parent is None:
        return None
    return subagent_label(told.agent or "unknown", told.id.rpartition(":")[2])


class Bringing:
    """One conversation on its way in. `after` and `finish` run inside a transaction that the caller holds."""

    def __init__(self, db: Database, told: Conversation, again: bool = False) -> None:
        self.db = db
        self.told = told
        self.again = again
        self.skipped: list[Skipped] = []
        self.added = self.known = 0
        self.last: int | None = None
        self._deleted: dict[str, int | None] = {}
        self._runs: Runs | None = None
        self._made = False
        self._lost: list[Skipped] = []
        self._label = subagents_label(told)

    @property
    def is_unwanted(self) -> bool:
        """Whether it was deleted here."""
        return not self.again and sessions.was_deleted(self.db, self.told.source, self.told.id)

    def seen(self, lot: list[Said]) -> Bringing | None:
        """The work when all of these messages are known as they are; None when there is something to store."""
        batch, work = self._batch(lot), copy(self)
        for said in lot:
            met = batch.known.get(said.id)
            if met is None or met.n is None or is_outgrown(self.db, met, said.message, self._parent_of(batch, said)):
                return None
            work._see(met)
        return work

    def drafts(self, lot: list[Said]) -> dict[str, Draft]:
        """What may be new of some messages, hashed and compressed."""
        known = self._batch(lot).known
        return drafts((said for said in lot if not (said.id in known and known[said.id].continued)), self.skipped)

    def after(self, lot: list[Said], drafts: dict[str, Draft], now: int) -> Bringing:
        """The work when what is new of some messages is stored. This one stays as it is: transactions are retried."""
        work = copy(self)
        work._runs, work._lost = None, [*self._lost]
        work._add(lot, drafts, now)
        return work

    def _add(self, lot: list[Said], drafts: dict[str, Draft], now: int) -> None:
        batch = self._batch(lot)
        for said in lot:
            self._take(batch, said, drafts.get(said.id), now)
        if not batch.entries:
            return
        insert(self.db, batch.entries, now)
        self._name(batch.names)
        self._turns(now).write(now)
        for before, whole in batch.outgrown:
            self._replace(before, whole, now)
        self.added += len(batch.entries)

    def count(self, lot: list[Said]) -> None:
        """Says what would be new of some messages, and stores nothing."""
        batch = self._batch(lot)
        for said in lot:
            met = batch.known.get(said.id)
            if met is None or (met.n is None and self.again):
                self.added += 1
                batch.known[said.id] = Known(0)
            else:
                self.known += 1

    def finish(self, now: int) -> Brought:
        """Makes the sessions stand where the other program's stand, if everything was told."""
        if not self.added + self.known:
            return self._report("empty")
        _, made = sessions.own_session(self.db, self.told, now)
        main, elsewhere = sessions.stand(self.db, self.told, self.find, self.last, self._all_skipped, self.again, now)
        return self._report("new" if made or self._made else "grown" if self.added else "known", main, elsewhere)

    def foresight(self) -> Brought:
        """What would become of it."""
        if not self.added + self.known:
            return self._report("empty")
        row = self.db.row("find_external", sessions.kind_of(self.told.source), column(self.told.id))
        return self._report("new" if row is None else "grown" if self.added else "known")

    def _report(self, status: Outcome, session: str | None = None, elsewhere: str | None = None) -> Brought:
        return Brought(status, session, elsewhere, self.added, self.known, self._all_skipped)

    @property
    def _all_skipped(self) -> tuple[Skipped, ...]:
        return (*self.skipped, *self._lost)

    def find(self, name: str) -> int | None:
        """The number of a message that was told, or of the nearest before it that is left."""
        if name in self._deleted:
            return self._deleted[name]
        row = self.db.row("find_external", self.told.source, column(name))
        return None if row is None else row[0]

    # One message ----------------------------------------------------------------------------------------------------

    def _batch(self, lot: list[Said]) -> Batch:
        wanted = {name for one in lot for name in (one.id, one.parent, one.covers) if name is not None}
        names = {column(name) or "": name for name in wanted}
        rows = self.db.rows("brought", self.told.source, json_list(names))
        known = {names[row[0]]: Known(row[1], row[2], bool(row[3])) for row in rows}
        return Batch(next_number(self.db), known, {}, [], [], [])

    def _take(self, batch: Batch, said: Said, drafted: Draft | None, now: int) -> None:
        if said.id in batch.places:
            self.known += 1
            return
        parent = self._parent(batch, said)
        met = batch.known.get(said.id)
        if met is not None and met.n is None and not self.again:
            self._deleted[said.id] = parent
            self.known += 1
        elif met is not None and met.n is not None and not is_outgrown(self.db, met, said.message, parent):
            self._see(met)
            batch.places[said.id] = met.n
        elif (same := self._same(batch, said, parent, now)) is not None:
            self._name([(said.id, same)])
            self.known, self.last = self.known + 1, same
            batch.places[said.id] = same
        elif drafted is not None:
            self._new(batch, said, drafted, parent, None if met is None else met.n, now)
        else:  # it cannot be stored; what follows it follows what was before it
            batch.places[said.id] = parent

    def _parent(self, batch: Batch, said: Said) -> int | None:
        """The number of the message before, or of the nearest before that which is left. One never told is noted."""
        name = said.parent
        if name is not None and name not in batch.places and name not in self._deleted and name not in batch.known:
            note(self._lost, Skipped(said.id, f"Begins a tree: {name!r}, which it follows, was not told."))
        return self._parent_of(batch, said)

    def _parent_of(self, batch: Batch, said: Said) -> int | None:
        if said.parent is None or said.parent in batch.places:
            return None if said.parent is None else batch.places[said.parent]
        known = batch.known.get(said.parent)
        return self._deleted.get(said.parent) if known is None or known.n is None else known.n

    def _see(self, met: Known) -> None:
        self.known += 1
        if met.n is not None:
            self.last = met.n

    def _new(
        self, batch: Batch, said: Said, drafted: Draft, parent: int | None, instead_of: int | None, now: int
    ) -> None:
        n = batch.first + len(batch.entries)
        entry = Entry(
            said.message, drafted, label=said.label or self._label, created_at=said.created_at, kind=said.kind,
            covers=self._covers(batch, said), turn=self._turn(said, n, parent, instead_of, now),
        )  # fmt: skip
        if parent is not None and parent >= batch.first:
            entry.after = parent - batch.first
        else:
            entry.parent = parent
        batch.entries.append(entry)
        batch.names.append((said.id, n))
        batch.places[said.id] = self.last = n
        if instead_of is not None:
            batch.outgrown.append((instead_of, n))

    def _turn(self, said: Said, n: int, parent: int | None, instead_of: int | None, now: int) -> int | None:
        runs = self._turns(now)  # also for a summary, which belongs to no turn: its session must be there
        return None if said.kind == "summary" else runs.of(said, n, parent, instead_of)

    def _covers(self, batch: Batch, said: Said) -> int | None:
        if said.covers is None:
            return None
        if said.covers in batch.places:
            return batch.places[said.covers]
        known = batch.known.get(said.covers)
        return None if known is None else known.n

    def _name(self, names: list[tuple[str, int]]) -> None:
        self.db.run_many("give_external", [(self.told.source, column(name), n, None) for name, n in names])

    def _turns(self, now: int) -> Runs:
        """The turns of the conversation; its session is made when the first one is needed."""
        if self._runs is None:
            session, made = sessions.own_session(self.db, self.told, now)
            self._made = self._made or made
            caller = None if self.told.parent_message is None else self.find(self.told.parent_message)
            self._runs = Runs(self.db, session, caller, self.told.parent_call)
        return self._runs

    def _same(self, batch: Batch, said: Said, parent: int | None, now: int) -> int | None:
        """What is stored of it under another name; nothing follows what this transaction has made."""
        is_new = parent is not None and parent >= batch.first
        return None if is_new else twin(self.db, said, parent, now)

    def _replace(self, before: int, whole: int, now: int) -> None:
        """Lets the whole message take the place of its beginning, which nothing follows."""
        for session, _ in self.db.rows("sessions_at", json_list([before]), None):
            turns.move_head(self.db, session, whole, now)
        self.db.run("rename_externals", whole, before)
        trash.delete(self.db, [before], now, "outgrown", keep=False)
