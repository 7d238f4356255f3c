"""The columns of the tables, in the order in which the statements read and write them.

`queries.sql` takes them from here as `{turn_columns}` and `{turn_values}`, so a new column is one line here and one in
the schema. Add it at the end, with a default: the trash may hold rows that were written without it.
"""

from typing import NamedTuple

# No `from __future__ import annotations`: NamedTuple compiles annotations that are texts, which doubles the import.


class MessageRow(NamedTuple):
    n: int
    id: str
    parent: int | None
    blocks: int
    turn: int | None
    role: str
    kind: str | None
    covers: int | None
    summary: int | None
    weight: int
    label: str | None
    error: int
    digest: bytes
    envelope: str | None
    created_at: int
    type: str | None
    modality: str | None
    mime: str | None
    call_id: str | None
    name: str | None
    content: str | None
    packed: bytes | None
    blob: int | None
    extra: str | None
    raw: str | None


class BlockRow(NamedTuple):
    message: int
    position: int
    inside: int | None
    type: str
    modality: str | None
    mime: str | None
    call_id: str | None
    name: str | None
    content: str | None
    packed: bytes | None
    blob: int | None
    extra: str | None
    raw: str | None


class TurnRow(NamedTuple):
    n: int
    session: int
    idempotency_key: str | None
    parent: int | None
    last: int
    status: str
    model: str | None
    provider: str | None
    request_id: str | None
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    reasoning_tokens: int | None
    cost: float | None
    context_tokens: int | None
    instructions_digest: bytes | None
    caller: int | None
    caller_call: str | None
    error: str | None
    metadata: str | None
    started_at: int
    first_token_at: int | None
    finished_at: int | None


class SessionRow(NamedTuple):
    n: int
    key: str
    channel: str | None
    channel_id: str | None
    directory: str | None
    head: int | None
    revision: int
    activity: int
    parent: int | None
    parent_message: int | None
    forked_from: str | None
    title: str | None
    agent: str | None
    model: str | None
    lease_turn: int | None
    lease_owner: str | None
    lease_until: int | None
    extra: str | None
    created_at: int
    updated_at: int
    pinned_at: int | None = None
    expires_at: int | None = None
    expires_after: int | None = None
    placed: int | None = None

    def without_lease(self) -> "SessionRow":
        return self._replace(lease_turn=None, lease_owner=None, lease_until=None)


class DirectoryRow(NamedTuple):
    path: str
    session: int
    at: int


class ExternalRow(NamedTuple):
    kind: str
    value: str
    message: int | None
    session: int | None


class ReplyRow(NamedTuple):
    message: int
    turn: int | None
    session: int
    model: str | None
    provider: str | None
    request_id: str | None
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    reasoning_tokens: int | None
    cost: float | None
    started_at: int | None
    first_token_at: int | None
    finished_at: int


class DocumentRow(NamedTuple):
    session: int
    name: str
    revision: int
    json: str | None
    bytes: bytes | None
    updated_at: int


class PinRow(NamedTuple):
    message: int
    at: int


class JournalRow(NamedTuple):
    n: int
    at: int
    verb: str
    session: int | None
    message: int | None
    before: str | None
    after: str | None
    trash: str | None


TABLES: dict[
    str,
    type[
        MessageRow
        | BlockRow
        | TurnRow
        | ReplyRow
        | SessionRow
        | DocumentRow
        | DirectoryRow
        | ExternalRow
        | PinRow
        | JournalRow
    ],
] = {
    "message": MessageRow,
    "block": BlockRow,
    "turn": TurnRow,
    "reply": ReplyRow,
    "session": SessionRow,
    "directory": DirectoryRow,
    "external": ExternalRow,
    "document": DocumentRow,
    "pin": PinRow,
    "journal": JournalRow,
}
"""By the name that the statements give their columns."""
