"""Import of bough's own exports: an empty store becomes equal to the exported one, with every id.

In a store with other content they are added to it. A message is recognised by its id and digest, or by the id under
which it was imported before; one whose id belongs to another message gets a new id.
"""

from __future__ import annotations

from copy import copy

from bough.codec import column, json_list, json_text
from bough.codec.digest import link
from bough.db import Database
from bough.db.rows import TurnRow
from bough.errors import Invalid
from bough.ingest import sessions
from bough.ingest.batches import Prepare, prepare_messages
from bough.ingest.matching import KnownMessage
from bough.model import Document, ExternalName, Node, Pin, ReplyInfo, SessionInfo, TurnInfo
from bough.model.ids import is_id, is_plain
from bough.model.imported import Conversation, ImportResult, Outcome, Record, Skipped
from bough.model.values import replace
from bough.storage import changes, documents, leases, lookup
from bough.storage.messages import Entry, insert, next_number
from bough.storage.replies import ReplyDetails, reply_of, reply_row, sum_turns

SOURCE = "bough"
STILL_RUNNING = "It was still running when it was exported."


def nodes_of(records: list[Record]) -> list[Node]:
    return [record for record in records if isinstance(record, Node)]


class ArchiveIngestion:
    """The import of an archive. `store` and `finish` run inside a transaction that the caller holds."""

    def __init__(self, db: Database, again: bool = False) -> None:
        self.db = db
        self.again = again
        self.skipped: list[Skipped] = []
        self.added = self.known = self.sessions = 0
        self._links: tuple[tuple[int, str, str | None], ...] = ()
        """Sessions to link: the number, the key of the parent, and the id of the parent's message."""

    is_deleted = False
    """An archive has no name; each of its messages may be deleted."""

    def distinct(self, records: list[Record]) -> list[Record]:
        """The records as they are: messages of bough are compared by their digests."""
        return records

    def skip_known(self, records: list[Record]) -> ArchiveIngestion | None:  # noqa: ARG002
        """None: only `store` compares records with the store."""
        return None

    def prepare(self, records: list[Record], prepare: Prepare) -> dict[str, Entry]:
        """The messages among some records, hashed and compressed."""
        return prepare_messages(nodes_of(records), prepare, self.skipped)

    def store(self, records: list[Record], entries: dict[str, Entry], now: int) -> ArchiveIngestion:
        """The state after some records are stored. `self` stays as it is: transactions are retried."""
        after = copy(self)
        if nodes := [node for node in nodes_of(records) if node.id in entries]:
            after._add(nodes, entries, now)
        for record in records:
            match record:
                case SessionInfo():
                    after._store_session(record, now)
                case ReplyInfo():
                    after._store_reply(record)
                case TurnInfo():
                    after._store_turn(record)
                case ExternalName():
                    after._store_name(record)
                case Pin():
                    after._store_pin(record)
                case Document():
                    after._store_document(record)
        return after

    def preview(self, records: list[Record]) -> None:
        """Counts what is new among some records and stores nothing."""
        nodes = nodes_of(records)
        stored = self._stored(nodes)
        for node in nodes:
            known = stored.get(node.id)
            if known is None or (known.n is None and self.again):
                self.added += 1
            else:
                self.known += 1
        self.sessions += sum(isinstance(record, SessionInfo) for record in records)

    def finish(self, now: int) -> ImportResult:
        """Links the sessions of subagents to the sessions that delegated them."""
        for session, parent, message in self._links:
            owner = self._session(parent)
            if owner:
                self.db.run("link_session", owner, self._number(message), session)
        changes.add(self.db, "imported", now)
        return self.preview_result()

    def preview_result(self) -> ImportResult:
        """The result of everything that was stored or previewed so far."""
        status: Outcome = "known" if not self.added else "grown" if self.known else "new"
        if not self.added + self.known + self.sessions:
            status = "empty"
        return ImportResult(status, None, None, self.added, self.known, tuple(self.skipped), max(self.sessions, 1))

    # Messages -------------------------------------------------------------------------------------------------------

    def _stored(self, nodes: list[Node]) -> dict[str, KnownMessage]:
        """The stored messages under the ids of these nodes and of those that they refer to."""
        referenced = {id for node in nodes for id in (node.id, node.parent_id, node.turn_id, node.covers)}
        wanted = json_list(id for id in referenced if id is not None and is_plain(id))
        own = {
            id: KnownMessage(n, header.digest)
            for id, n in self.db.rows("numbers", wanted)
            if (header := lookup.header(self.db, n))
        }
        # The ids of an earlier import take precedence: such an id may belong to another message here.
        imported = self.db.rows("imported_messages", SOURCE, wanted)
        return own | {id: KnownMessage(n, digest) for id, n, digest, _ in imported}

    def _add(self, nodes: list[Node], prepared: dict[str, Entry], now: int) -> None:
        stored, first = self._stored(nodes), next_number(self.db)
        numbers: dict[str, int | None] = {}
        digests: dict[int | None, bytes] = {None: b""}
        entries: list[Entry] = []
        for node in nodes:
            if node.id in numbers:
                continue
            parent = self._number_of(node.parent_id, numbers, stored)
            own_digest = link(self._digest(parent, digests), prepared[node.id].draft.digest_input)
            if (known := stored.get(node.id)) and (match := self._match(known, own_digest, parent, first)):
                numbers[node.id] = match.n if match.n is not None else parent
                self.known += 1
                continue
            n = numbers[node.id] = first + len(entries)
            digests[n] = own_digest
            entry = self._entry(node, prepared[node.id], numbers, stored)
            entry.parent, entry.after = (None, parent - first) if parent and parent >= first else (parent, None)
            entries.append(entry)
        self._insert(entries, {id: n for id, n in numbers.items() if n is not None and n >= first}, now)

    def _match(self, known: KnownMessage, digest: bytes, parent: int | None, first: int) -> KnownMessage | None:
        """The stored message that equals the one with this digest: itself, a sibling, or a deleted one; else None."""
        if known.n is None:
            return None if self.again else known
        if known.digest == digest:
            return known
        if parent is None:
            siblings = [n for (n,) in self.db.rows("roots_by_digest", digest)]
        else:
            below = self.db.rows("child_digests", parent) if parent < first else []
            siblings = [n for n, other in below if other == digest]
        return KnownMessage(siblings[0], digest) if siblings else None

    def _entry(
        self, node: Node, entry: Entry, numbers: dict[str, int | None], stored: dict[str, KnownMessage]
    ) -> Entry:
        return replace(
            entry, label=node.label, created_at=node.created_at, kind=node.kind,
            covers=self._number_of(node.covers, numbers, stored), turn=self._number_of(node.turn_id, numbers, stored),
            id=node.id if is_id(node.id) else None,
        )  # fmt: skip

    def _insert(self, entries: list[Entry], names: dict[str, int], now: int) -> None:
        if entries:
            saved = insert(self.db, entries, now)
            changes.add(self.db, "added", now, None, saved.last)
        self.db.run_many("give_external", [(SOURCE, column(name), n, None) for name, n in names.items()])
        self.added += len(entries)

    def _number_of(self, id: str | None, numbers: dict[str, int | None], stored: dict[str, KnownMessage]) -> int | None:
        if id is None or id in numbers:
            return None if id is None else numbers[id]
        known = stored.get(id)
        return None if known is None else known.n

    def _digest(self, n: int | None, digests: dict[int | None, bytes]) -> bytes:
        if n not in digests:
            header = lookup.header(self.db, n)
            digests[n] = header.digest if header else b""
        return digests[n]

    def _number(self, id: str | None) -> int | None:
        """The number of a message of the archive."""
        if id is None or not is_plain(id):
            return None
        if named := lookup.external(self.db, SOURCE, id):
            return named.message
        return lookup.number_of(self.db, id)

    # Sessions, replies, turns and external ids ------------------------------------------------------------------------

    def _session(self, key: str | None) -> int:
        """The number of a session of the archive; 0, which no session has, if it is not stored."""
        if key is None:
            return 0
        named = lookup.external(self.db, sessions.conversation_kind(SOURCE), key)
        if named is not None:
            return named.session or 0
        return found.n if (found := self._existing(key)) else 0

    def _was_imported(self, key: str) -> bool:
        return lookup.external(self.db, sessions.conversation_kind(SOURCE), key) is not None

    def _existing(self, key: str) -> leases.SessionState | None:
        return leases.find_session_state(self.db, key) if is_plain(key) else None

    def _store_session(self, info: SessionInfo, now: int) -> None:
        self.sessions += 1
        at = self._number(info.head_id)
        known = self._session(info.key) if self._was_imported(info.key) else 0
        existing = None if known else self._existing(info.key)
        if existing is not None and self._contains(existing, at):
            return  # This is the exported session itself, at the same message or further on.
        conversation = Conversation(
            SOURCE, info.key, (), info.key, None, (), info.title, info.directory, info.model, info.agent,
            created_at=info.created_at, updated_at=info.updated_at,
        )  # fmt: skip
        source = sessions.SourceSession(info.key, info.key, at, info.title, again=self.again)
        sessions.follow(self.db, conversation, source, now)
        if self._session(info.key) != known:
            self._describe(info)

    def _contains(self, session: leases.SessionState, at: int | None) -> bool:
        return session.head == at or bool(session.head and at in lookup.ancestors(self.db, session.head))

    def _describe(self, info: SessionInfo) -> None:
        """Restores the remaining metadata of a session that was just created."""
        session = self._session(info.key)
        time = info.expires_at if info.expires_after is None else None
        self.db.run("pin_session", info.pinned_at, session)
        self.db.run("set_expiry", time, info.expires_after, session)
        self.db.run(
            "restore_description", info.revision, info.forked_from, json_text(info.extra), info.created_at,
            info.updated_at, session,
        )  # fmt: skip
        sessions.place(self.db, session, info.updated_at)
        if info.parent_key is not None:
            # The parent may come later in the archive, so the link waits for `finish`.
            self._links = (*self._links, (session, info.parent_key, info.parent_message_id))

    def _store_reply(self, info: ReplyInfo) -> None:
        """Stores a reply, unless its turn has been stored with it."""
        n, turn = self._number(info.message_id), self._number(info.turn_id)
        span = lookup.span(self.db, turn)
        if n is None or (turn is None and info.turn_id is not None) or (span is not None and span.last >= n):
            return
        details = ReplyDetails(
            info.model, info.provider, info.request_id, info.usage, info.started_at, info.first_token_at
        )
        self.db.run("keep_reply", *reply_row(n, turn, self._session(info.session), details, info.finished_at))

    def _store_turn(self, info: TurnInfo) -> None:
        n, last = self._number(info.id), self._number(info.last_id)
        if n is None or last is None:
            return
        span = lookup.span(self.db, n)
        if span is not None and span.last >= last:
            return  # It is stored, or was continued here.
        self.db.run("delete_turn", n)
        session, key, u = self._session(info.session), info.idempotency_key, info.usage
        running = info.status == "running"
        row = TurnRow(
            n, session, None if key and self.db.row("turn_by_key", session, key) else key,
            self._number(info.parent_id), last, "interrupted" if running else info.status, info.model, info.provider,
            info.request_id, u.input_tokens, u.output_tokens, u.cached_tokens, u.reasoning_tokens, u.cost,
            info.context_tokens, info.instructions_digest, self._number(info.caller_id), info.caller_call,
            STILL_RUNNING if running else column(info.error), json_text(info.metadata), info.started_at,
            info.first_token_at, info.finished_at,
        )  # fmt: skip
        self.db.run("insert_turn", *row)
        self._sum_up(row)

    def _sum_up(self, turn: TurnRow) -> None:
        """Makes the figures of a turn the sums of its replies; those of an archive without replies become one reply."""
        known = self.db.rows("replies", None, turn.n, turn.n, turn.last, None, None, 1)
        if not known and (only := reply_of(turn)) is not None:
            self.db.run("keep_reply", *only)
        elif known:
            sum_turns(self.db, [turn.n])

    def _store_pin(self, pin: Pin) -> None:
        if (message := self._number(pin.message_id)) is not None:
            self.db.run("insert_pin", message, pin.pinned_at)

    def _store_document(self, document: Document) -> None:
        session = self._session(document.session)
        try:
            if session:
                documents.restore(self.db, session, document)
        except Invalid as error:
            self.skipped.append(Skipped(f"document {document.name!r:.60} of {document.session!r:.60}", str(error)))

    def _store_name(self, name: ExternalName) -> None:
        message = self._number(name.message_id)
        session = self._session(name.session) or None
        self.db.run("insert_external", name.kind, column(name.value), message, session)
