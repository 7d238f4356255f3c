"""Archives of bough's own, brought in: into an empty store they are the store they came from, with every id.

In a store with a history of its own they come beside it. A message is known by its id together with its digest, or by
the name under which it was brought in before; one whose id is taken by another message gets a new one.
"""

from __future__ import annotations

from copy import copy

from bough.codec import column, json_list, json_text
from bough.codec.digest import digest
from bough.codec.encode import Draft
from bough.db import Database
from bough.ingest import sessions
from bough.ingest.batches import drafts
from bough.ingest.matching import Known
from bough.model import ExternalName, Node, SessionInfo, TurnInfo
from bough.model.ids import is_id, is_plain
from bough.model.imported import Brought, Conversation, Outcome, Record, Skipped
from bough.storage import lookup, turns
from bough.storage.messages import Entry, insert, next_number

SOURCE = "bough"
STILL_RUNNING = "It was still running when it was exported."


def nodes_of(lot: list[Record]) -> list[Node]:
    return [record for record in lot if isinstance(record, Node)]


class Unpacking:
    """An archive on its way in. `after` and `finish` run inside a transaction that the caller holds."""

    def __init__(self, db: Database, again: bool = False) -> None:
        self.db = db
        self.again = again
        self.skipped: list[Skipped] = []
        self.added = self.known = self.sessions = 0
        self._links: tuple[tuple[int, str, str | None], ...] = ()

    is_unwanted = False
    """Of an archive, each message is looked at by itself."""

    def seen(self, lot: list[Record]) -> Unpacking | None:  # noqa: ARG002
        """Nothing is known of records before they are looked at."""
        return None

    def drafts(self, lot: list[Record]) -> dict[str, Draft]:
        """The messages among some records, hashed and compressed."""
        return drafts(nodes_of(lot), self.skipped)

    def after(self, lot: list[Record], drafts: dict[str, Draft], now: int) -> Unpacking:
        """The work when some records are stored. This one stays as it is: transactions are retried."""
        work = copy(self)
        if nodes := [node for node in nodes_of(lot) if node.id in drafts]:
            work._add(nodes, drafts, now)
        for record in lot:
            match record:
                case SessionInfo():
                    work._stand(record, now)
                case TurnInfo():
                    work._turn(record)
                case ExternalName():
                    work._name(record)
        return work

    def count(self, lot: list[Record]) -> None:
        """Says what would be new of some records, and stores nothing."""
        nodes = nodes_of(lot)
        met = self._met(nodes)
        for node in nodes:
            known = met.get(node.id)
            if known is None or (known.n is None and self.again):
                self.added += 1
            else:
                self.known += 1
        self.sessions += sum(isinstance(record, SessionInfo) for record in lot)

    def finish(self, now: int) -> Brought:  # noqa: ARG002
        """Links sessions to those that they worked for."""
        for session, parent, message in self._links:
            owner = self._session(parent)
            if owner:
                self.db.run("link_session", owner, self._number(message), session)
        return self.foresight()

    def foresight(self) -> Brought:
        """What has become of it, or would."""
        status: Outcome = "known" if not self.added else "grown" if self.known else "new"
        if not self.added + self.known + self.sessions:
            status = "empty"
        return Brought(status, None, None, self.added, self.known, tuple(self.skipped), max(self.sessions, 1))

    # Messages -------------------------------------------------------------------------------------------------------

    def _met(self, lot: list[Node]) -> dict[str, Known]:
        """What is stored under the ids of these messages, and of those that they name."""
        named = {name for node in lot for name in (node.id, node.parent_id, node.turn_id, node.covers)}
        wanted = json_list(name for name in named if name is not None and is_plain(name))
        here = {id: Known(n, row[2]) for id, n in self.db.rows("numbers", wanted) if (row := self.db.row("step", n))}
        return here | {row[0]: Known(row[1], row[2]) for row in self.db.rows("brought", SOURCE, wanted)}

    def _add(self, lot: list[Node], drafts: dict[str, Draft], now: int) -> None:
        met, first = self._met(lot), next_number(self.db)
        places: dict[str, int | None] = {}
        digests: dict[int | None, bytes] = {None: b""}
        entries: list[Entry] = []
        for node in lot:
            if node.id in places:
                continue
            parent = self._place(node.parent_id, places, met)
            mine = digest(node.message, self._digest(parent, digests))
            if (known := met.get(node.id)) and (found := self._recognised(known, mine, parent, first)):
                places[node.id] = found.n if found.n is not None else parent
                self.known += 1
                continue
            n = places[node.id] = first + len(entries)
            digests[n] = mine
            entry = self._entry(node, drafts[node.id], places, met)
            entry.parent, entry.after = (None, parent - first) if parent and parent >= first else (parent, None)
            entries.append(entry)
        self._insert(entries, {name: n for name, n in places.items() if n is not None and n >= first}, now)

    def _recognised(self, known: Known, digest: bytes, parent: int | None, first: int) -> Known | None:
        """What has this id, if it is the same message or was it before it was deleted here; or its like beside it."""
        if known.n is None:
            return None if self.again else known
        if known.digest == digest:
            return known
        if parent is None:
            alike = [n for (n,) in self.db.rows("roots_by_digest", digest)]
        else:
            beside = self.db.rows("steps_below", parent) if parent < first else []
            alike = [n for n, other in beside if other == digest]
        return Known(alike[0], digest) if alike else None

    def _entry(self, node: Node, drafted: Draft, places: dict[str, int | None], met: dict[str, Known]) -> Entry:
        return Entry(
            node.message, drafted, label=node.label, created_at=node.created_at, kind=node.kind,
            covers=self._place(node.covers, places, met), turn=self._place(node.turn_id, places, met),
            name=node.id if is_id(node.id) else None,
        )  # fmt: skip

    def _insert(self, entries: list[Entry], names: dict[str, int], now: int) -> None:
        if entries:
            insert(self.db, entries, now)
        self.db.run_many("give_external", [(SOURCE, column(name), n, None) for name, n in names.items()])
        self.added += len(entries)

    def _place(self, name: str | None, places: dict[str, int | None], met: dict[str, Known]) -> int | None:
        if name is None or name in places:
            return None if name is None else places[name]
        known = met.get(name)
        return None if known is None else known.n

    def _digest(self, n: int | None, digests: dict[int | None, bytes]) -> bytes:
        if n not in digests:
            row = self.db.row("step", n)
            digests[n] = row[2] if row else b""
        return digests[n]

    def _number(self, name: str | None) -> int | None:
        """The number of a message of the archive."""
        if name is None or not is_plain(name):
            return None
        row = self.db.row("find_external", SOURCE, name) or self.db.row("number", name)
        return None if row is None else row[0]

    # Sessions, turns and names --------------------------------------------------------------------------------------

    def _session(self, key: str | None) -> int:
        """The number of a session of the archive; 0, which no session has, for one that is not here."""
        if key is None:
            return 0
        row = self.db.row("find_external", sessions.kind_of(SOURCE), column(key))
        if row is not None:
            return int(row[1])
        return found.n if (found := self._here(key)) else 0

    def _was_told(self, key: str) -> bool:
        return self.db.row("find_external", sessions.kind_of(SOURCE), column(key)) is not None

    def _here(self, key: str) -> turns.State | None:
        return turns.find_state(self.db, key) if is_plain(key) else None

    def _stand(self, info: SessionInfo, now: int) -> None:
        self.sessions += 1
        at = self._number(info.head_id)
        known = self._session(info.key) if self._was_told(info.key) else 0
        here = None if known else self._here(info.key)
        if here is not None and (here.head == at or (here.head and at in lookup.ancestors(self.db, here.head))):
            return  # the very session that was exported, or the same one, further on
        told = Conversation(
            SOURCE, info.key, (), info.key, None, (), info.title, info.directory, info.model, info.agent,
            created_at=info.created_at, updated_at=info.updated_at,
        )  # fmt: skip
        sessions.follow(self.db, told, sessions.Stand(info.key, info.key, at, info.title, again=self.again), now)
        if self._session(info.key) != known:
            self._describe(info)

    def _describe(self, info: SessionInfo) -> None:
        """What else a session says of itself, once it is made."""
        session = self._session(info.key)
        self.db.run(
            "restore_description", info.revision, info.forked_from, json_text(info.extra), info.created_at,
            info.updated_at, session,
        )  # fmt: skip
        if info.parent_key is not None:
            self._links = (*self._links, (session, info.parent_key, info.parent_message_id))

    def _turn(self, info: TurnInfo) -> None:
        n, last = self._number(info.id), self._number(info.last_id)
        if n is None or last is None:
            return
        span = self.db.row("turn_span", n)
        if span is not None and span[0] >= last:
            return  # known, or further on here
        self.db.run("delete_turn", n)
        session, key, u = self._session(info.session), info.idempotency_key, info.usage
        running = info.status == "running"
        self.db.run(
            "insert_turn", n, session, None if key and self.db.row("turn_by_key", session, key) else key,
            self._number(info.parent_id), last, "interrupted" if running else info.status, info.model, info.provider,
            info.request_id, u.input_tokens, u.output_tokens, u.cached_tokens, u.reasoning_tokens, u.cost,
            info.context_tokens, info.instructions_digest, self._number(info.caller_id), info.caller_call,
            STILL_RUNNING if running else column(info.error), json_text(info.metadata), info.started_at,
            info.first_token_at, info.finished_at,
        )  # fmt: skip

    def _name(self, name: ExternalName) -> None:
        message = self._number(name.message_id)
        session = self._session(name.session) or None
        self.db.run("insert_external", name.kind, column(name.value), message, session)
