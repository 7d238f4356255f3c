"""Row types of statements that are read in more than one place.

The row types of whole tables are in `bough.db.rows`.
"""

from typing import NamedTuple

from bough.model import Status


class MessageHeader(NamedTuple):
    """A row of `message_header`: a message without its content."""

    n: int
    parent: int | None
    digest: bytes
    role: str
    turn: int | None
    created_at: int
    weight: int
    summary: int | None


class NumberedId(NamedTuple):
    """A row of `numbers` or `numbers_by_prefix`."""

    id: str
    n: int


class TurnSpan(NamedTuple):
    """A row of `turn_span`: the last message, the parent and the status of a turn."""

    last: int
    parent: int | None
    status: Status
    session: int


class ExternalTarget(NamedTuple):
    """A row of `find_external`: the message or the session with an external id; neither if it was deleted."""

    message: int | None
    session: int | None


class RunningTurn(NamedTuple):
    """A row of `running_turns` or `running_turns_in`: a turn marked as running, and the lease of its session."""

    n: int
    session: int | None
    lease_turn: int | None
    lease_owner: str | None
    lease_until: int | None
    key: str | None
    parent: int | None = None

    @property
    def is_held(self) -> bool:
        """Whether the lease of the session is this turn's: its number, or, below zero, that of the question."""
        lease = self.lease_turn
        return lease is not None and (lease == self.n if lease > 0 else -lease in (self.n, self.parent))


class IndexState(NamedTuple):
    """A row of `search_state`: the last indexed message, the format of the index, and the newest message."""

    indexed: int
    format: int
    newest: int


class TrashContent(NamedTuple):
    """A row of `trash_entry`, `trash_holding`, `trash_payloads` or `trash_by_number`: an entry and its payload."""

    n: int
    id: str
    payload: bytes
