"""Group imported messages into turns: each one continues a turn or begins one."""

from __future__ import annotations

from bough.codec import json_text, turn_info
from bough.db import Database, Row
from bough.model import Json, Usage
from bough.model.ids import is_plain
from bough.model.imported import ImportedMessage
from bough.model.values import mutable
from bough.storage import lookup
from bough.storage.leases import SessionState
from bough.storage.turns import NO_REPLY, TurnDetails, dialog_size, turn_row

CUT_SHORT = "The reply was cut short."
COUNTS = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens", "cost")


@mutable
class ImportedTurn:
    """An imported turn, as far as it is known."""

    n: int
    parent: int | None
    last: int
    source_turn: str | None
    """`ImportedMessage.turn` of its messages."""
    details: TurnDetails
    last_usage: Usage | None = None
    """Usage of the last reply alone: it is subtracted if a longer version replaces that reply."""
    answered: bool = False
    finished: bool = True
    started_at: int | None = None
    finished_at: int | None = None
    is_stored: bool = False

    @property
    def metadata(self) -> dict[str, Json]:
        """What the next import needs to continue this turn."""
        counts = {} if self.last_usage is None else {name: getattr(self.last_usage, name) for name in COUNTS}
        reply = {name: count for name, count in counts.items() if count is not None}
        return {name: part for name, part in {"turn": self.source_turn, "last_reply": reply}.items() if part}

    @property
    def ending(self) -> tuple[str, str | None]:
        """Its status, and the error of one that is not complete."""
        if not self.answered:
            return "interrupted", NO_REPLY
        return ("complete", None) if self.finished else ("interrupted", CUT_SHORT)


class ImportedTurns:
    """The turns of one conversation that a transaction begins or continues."""

    def __init__(self, db: Database, session: int, caller: int | None, caller_call: str | None) -> None:
        self.db = db
        self.session = session
        self._caller = (caller, plain(caller_call))
        self._by_last: dict[int, ImportedTurn] = {}
        self._touched: dict[int, ImportedTurn] = {}

    def assign(self, imported: ImportedMessage, n: int, parent: int | None, replaces: int | None = None) -> int:
        """The number of the turn to which a message with the number `n` belongs."""
        turn = self._ending_at(parent if replaces is None else replaces)
        if turn is not None and replaces is not None:
            turn = self._without_last_reply(turn, replaces)
        elif turn is not None and not self._continues(turn, imported):
            turn = None
        if turn is None:
            caller, call = self._caller
            details = TurnDetails(caller=caller, caller_call=call)
            turn = ImportedTurn(n, parent, n, imported.turn, details, started_at=imported.created_at)
        self._extend(turn, imported, n)
        return turn.n

    def write(self, now: int) -> None:
        """Stores the turns in their present state."""
        self.db.run_many("insert_turn", [self._row(one, now) for one in self._touched.values() if not one.is_stored])
        for turn in self._touched.values():
            if turn.is_stored:
                self._update(turn, now)
        self._by_last, self._touched = {}, {}

    def _ending_at(self, n: int | None) -> ImportedTurn | None:
        """The turn of this session whose last message this is; a turn continues on one branch only."""
        if n is None or n in self._by_last:
            return None if n is None else self._by_last[n]
        header = lookup.header(self.db, n)
        if header is None or header.turn is None or header.turn in self._touched:
            return None
        span = lookup.span(self.db, header.turn)
        if span is None or span.last != n or span.session != self.session or span.status == "running":
            return None
        return self._load(header.turn, span.parent, n, answered=header.role != "user")

    def _load(self, turn: int, parent: int | None, last: int, answered: bool) -> ImportedTurn:
        row = self.db.row("turn", turn)
        assert row is not None
        info = turn_info(row)
        metadata = info.metadata if isinstance(info.metadata, dict) else {}
        last_usage = Usage(**metadata["last_reply"]) if "last_reply" in metadata else None
        details = TurnDetails(info.model, info.provider, info.request_id, info.usage)
        return ImportedTurn(
            turn, parent, last, metadata.get("turn"), details, last_usage, answered, info.status == "complete",
            info.started_at, info.finished_at, is_stored=True,
        )  # fmt: skip

    def _continues(self, turn: ImportedTurn, imported: ImportedMessage) -> bool:
        if imported.turn is not None:
            return imported.turn == turn.source_turn
        return turn.source_turn is None and (imported.message.role != "user" or not turn.answered)

    def _without_last_reply(self, turn: ImportedTurn, last: int) -> ImportedTurn | None:
        """The turn without its last reply; None if it had no other message."""
        if turn.n == last:
            return None
        if turn.last_usage is not None:
            turn.details.usage = subtract(turn.details.usage, turn.last_usage)
        return turn

    def _extend(self, turn: ImportedTurn, imported: ImportedMessage, n: int) -> None:
        p = turn.details
        p.model, p.provider = plain(imported.model) or p.model, plain(imported.provider) or p.provider
        p.request_id = plain(imported.request_id) or p.request_id
        if imported.usage is not None:
            p.usage, turn.last_usage = p.usage + imported.usage, imported.usage
            p.context_tokens = dialog_size(imported.usage) or p.context_tokens
        turn.answered, turn.finished = imported.message.role != "user", imported.finished
        turn.finished_at = imported.created_at or turn.finished_at
        self._by_last.pop(turn.last, None)
        turn.last = n
        self._by_last[n] = self._touched[turn.n] = turn

    def _row(self, turn: ImportedTurn, now: int) -> Row:
        status, error = turn.ending
        turn.details.metadata = turn.metadata
        started = min(turn.started_at or now, now)
        ended = min(turn.finished_at or started, now)
        state = SessionState(self.session, "", turn.parent, 0, None, None, None)
        return turn_row(state, turn.n, turn.last, status, turn.details, None, started, ended, error)

    def _update(self, turn: ImportedTurn, now: int) -> None:
        p, u = turn.details, turn.details.usage
        status, error = turn.ending
        self.db.run(
            "extend_turn", turn.last, p.model, p.provider, p.request_id,
            u.input_tokens, u.output_tokens, u.cached_tokens, u.reasoning_tokens, u.cost, p.context_tokens,
            None, json_text(turn.metadata or None), None, turn.n,
        )  # fmt: skip
        self.db.run("end_turn", status, error, min(turn.finished_at or now, now), turn.n)


def subtract(total: Usage, part: Usage) -> Usage:
    """`total` minus `part`, never below zero; a count that either lacks stays as it is in `total`."""

    def difference(name: str) -> Json:
        have, minus = getattr(total, name), getattr(part, name)
        return have if have is None or minus is None else max(have - minus, 0)

    return Usage(*(difference(name) for name in COUNTS))


def plain(text: str | None) -> str | None:
    """A short text, escaped if a column would refuse it."""
    return text if text is None or is_plain(text) else ascii(text)
