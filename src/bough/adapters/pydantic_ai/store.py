"""The conversation store of Pydantic AI over a store."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter
from pydantic_ai.conversation_store import (
    ConversationConflict,
    ConversationEntry,
    ConversationRecord,
    ConversationStore,
)

from bough.adapters.common import json_of, key_of, open_store, settled
from bough.adapters.pydantic_ai.messages import message_of, provenance, restored
from bough.errors import Conflict, Invalid, NotFound
from bough.model import Document, Json, Node
from bough.session import Session
from bough.store import Store

if TYPE_CHECKING:
    from typing import Self

    from bough.db import StrPath

RECORD = "pydantic-ai.record"
ENTRY = "pydantic-ai.entry"
"""The kind of the external names of messages: the ids of their entries."""

RECORDS: TypeAdapter[Any] = TypeAdapter(ConversationRecord)


class BoughConversationStore(ConversationStore):
    """Conversations in a store: each is the session of its id, an entry is a message of the tree.

    `where` is a file, `:memory:`, or the URL of a server; without it, the default store. `store` is one that is open
    already. A conversation that another program led is loaded too, and continued. Deleting a conversation puts into
    the trash its entries that no other conversation has.
    """

    def __init__(self, where: StrPath | None = None, *, store: Store | None = None) -> None:
        self.store, self._owned = open_store(where, store)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the store, unless it was given."""
        if self._owned:
            self.store.close()

    async def read_record(self, conversation_id: str) -> ConversationRecord | None:
        """The record of a conversation; None if there is none."""
        return await settled(self._record, conversation_id)

    async def read_records(self, *, scope: str | None = None, limit: int | None = None) -> Sequence[ConversationRecord]:
        """The records, of one scope or all, the one that was saved last first."""
        return await settled(self._records, scope, limit)

    async def write_record(
        self, record: ConversationRecord, *, new_entries: Sequence[Any] = (), expected_revision: str | None
    ) -> None:
        """Writes entries and record in one transaction. Raises `ConversationConflict`, and then nothing is written."""
        try:
            await settled(self._write, record, list(new_entries), expected_revision)
        except Conflict as conflict:
            raise ConversationConflict(record.conversation_id) from conflict

    async def delete_record(self, conversation_id: str, *, expected_revision: str) -> None:
        """Deletes a conversation. Raises `ConversationConflict`."""
        await settled(self._delete, conversation_id, expected_revision)

    async def read_entry(self, entry_id: str) -> ConversationEntry:
        """An entry. Raises `KeyError`."""
        return (await self.read_history(entry_id, limit=1))[-1]

    async def read_history(self, head_id: str | None, *, limit: int | None = None) -> list[ConversationEntry]:
        """The entries up to one, or the last of them, in one statement. Raises `KeyError`."""
        return await settled(self._history, head_id, limit)

    # Inside ---------------------------------------------------------------------------------------------------------

    def _document(self, conversation_id: str) -> tuple[Session, Document | None] | None:
        key = key_of(conversation_id)
        if self.store.find_session(key) is None:
            return None
        session = self.store.session(key)
        return session, next(iter(session.documents(names=[RECORD])), None)

    def _record(self, conversation_id: str) -> Any:
        found = self._document(conversation_id)
        if found is None:
            return None
        session, document = found
        head = session.head
        if document is None:
            return self._adopted(conversation_id, session) if head is not None else None
        record = RECORDS.validate_python(json_of(document)["record"])
        record.conversation_id = conversation_id  # a session that was forked has the record of another one
        if head != json_of(document)["head"]:
            return self._moved(record, session)
        return record

    def _adopted(self, conversation_id: str, session: Session) -> Any:
        """The record of a conversation that another program led. Its revision changes as the session moves."""
        info = session.info
        return ConversationRecord(
            conversation_id=conversation_id,
            head_id=info.head_id,
            revision=revision_of(session),
            updated_at=info.updated,
        )

    def _moved(self, record: Any, session: Session) -> Any:
        """The record of a conversation that was continued by another program since."""
        path = session.path(1)
        record.head_id = self._entry_id(path[-1]) if path else None
        record.revision, record.updated_at = revision_of(session), session.info.updated
        return record

    def _records(self, scope: str | None, limit: int | None) -> list[Any]:
        found = []
        for info in self.store.sessions():
            document = next(iter(self.store.session(info.key).documents(names=[RECORD])), None)
            if document is not None:
                id = json_of(document)["record"]["conversation_id"]
                record = self._record(id if key_of(id) == info.key else info.key)
                if record is not None and scope in (None, record.scope):
                    found.append(record)
        found.sort(key=lambda record: record.updated_at, reverse=True)
        return found[:limit]

    def _write(self, record: Any, entries: list[Any], expected: str | None) -> None:
        id = record.conversation_id
        before = self._record(id)
        if (None if before is None else before.revision) != expected:
            raise ConversationConflict(id)
        found = self._document(id)
        session, document = found or (self.store.session(key_of(id)), None)
        revisions = {RECORD: document.revision if document else 0}
        head = session.head
        if not entries:
            self._place(record, session, revisions)
            return
        at = self._node(entries[0].parent_id, id) if entries[0].parent_id is not None else None
        if record.head_id != entries[-1].id or any(b.parent_id != a.id for a, b in pairwise(entries)):
            raise ValueError("New entries are a chain that ends at the head of the record.")

        def documents(ids: list[str]) -> dict[str, Json]:
            return {RECORD: {"record": RECORDS.dump_python(record, mode="json"), "head": ids[-1]}}

        messages = [entry.message for entry in entries]
        session.append(
            [message_of(message) for message in messages], after=head, at=at, documents=documents, revisions=revisions,
            external=[(ENTRY, entry.id) for entry in entries], **provenance(messages),
        )  # fmt: skip

    def _place(self, record: Any, session: Session, revisions: dict[str, int]) -> None:
        """Writes a record that ends at an entry which is stored, or at none."""
        head = None if record.head_id is None else self._node(record.head_id, record.conversation_id)
        value = {"record": RECORDS.dump_python(record, mode="json"), "head": head}
        session.put_documents({RECORD: value}, revisions=revisions)
        if session.head != head:
            session.move(head)

    def _delete(self, conversation_id: str, expected: str) -> None:
        record = self._record(conversation_id)
        if record is None or record.revision != expected:
            raise ConversationConflict(conversation_id)
        self.store.delete_session(key_of(conversation_id))

    def _node(self, entry_id: str, conversation_id: str) -> str:
        """The id of the message of an entry. Raises `ConversationConflict` if it is gone."""
        try:
            return self._find(entry_id)
        except KeyError:
            raise ConversationConflict(conversation_id) from None

    def _find(self, entry_id: str) -> str:
        found = self.store.find_external(ENTRY, entry_id)
        if found is not None:
            return found
        try:
            return self.store.get_messages([entry_id])[0].id
        except (NotFound, Invalid):
            raise KeyError(entry_id) from None

    def _entry_id(self, node: Node) -> str:
        return next((name.value for name in self.store.list_names([node.id]) if name.kind == ENTRY), node.id)

    def _history(self, head_id: str | None, limit: int | None) -> list[Any]:
        if head_id is None or limit == 0:
            return []
        path = self.store.path(self._find(head_id), None if limit is None else limit)
        named = {
            name.message_id: name.value
            for name in self.store.list_names([node.id for node in path])
            if name.kind == ENTRY
        }
        entries: list[Any] = []
        parent = None
        if limit is not None and path[0].parent_id is not None:
            (before,) = self.store.get_messages([path[0].parent_id])
            parent = self._entry_id(before)
        for node in path:
            id = named.get(node.id, node.id)
            entries.append(ConversationEntry(id=id, parent_id=parent, message=restored(node.message)))
            parent = id
        return entries


def revision_of(session: Session) -> str:
    info = session.info
    return f"bough-{info.revision}-{info.head_id}"
