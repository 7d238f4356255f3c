"""Group imported messages into turns: each one continues a turn or begins one."""

from __future__ import annotations

from bough.codec import json_list, json_text, turn_info
from bough.db import Database, Row
from bough.db.rows import ReplyRow
from bough.model import Json, Usage
from bough.model.ids import is_plain
from bough.model.imported import ImportedMessage
from bough.model.usage import COUNTS, subtract
from bough.model.values import mutable, value
from bough.storage import lookup
from bough.storage.leases import SessionState
from bough.storage.replies import ReplyDetails, reply_row, sum_turns
from bough.storage.turns import NO_REPLY, TurnDetails, dialog_size, turn_row

CUT_SHORT = "The reply was cut short."


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
    """In a store made before there was a row per reply: the usage of the last one, which is part of the turn's row."""
    answered: bool = False
    finished: bool = True
    started_at: int | None = None
    finished_at: int | None = None
    is_stored: bool = False

    @property
    def metadata(self) -> dict[str, Json]:
        """What the next import needs to continue this turn."""
        return {} if self.source_turn is None else {"turn": self.source_turn}

    @property
    def ending(self) -> tuple[str, str | None]:
        """Its status, and the error of one that is not complete."""
        if not self.answered:
            return "interrupted", NO_REPLY
        return ("complete", None) if self.finished else ("interrupted", CUT_SHORT)


@value
class ImportedReply:
    """How the reply at message `n` came about."""

    n: int
    turn: int | None
    details: ReplyDetails
    created_at: int | None


class ImportedTurns:
    """The turns of one conversation that a transaction begins or continues."""

    def __init__(self, db: Database, session: int, caller: int | None, caller_call: str | None) -> None:
        self.db = db
        self.session = session
        self._caller = (caller, plain(caller_call))
        self._by_last: dict[int, ImportedTurn] = {}
        self._touched: dict[int, ImportedTurn] = {}
        self._replies: list[ImportedReply] = []

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
        rows = [
            reply_row(one.n, one.turn, self.session, one.details, min(one.created_at or now, now))
            for one in self._replies
        ]
        self.db.run_many("add_reply", rows)
        sum_turns(self.db, (turn.n for turn in self._touched.values() if turn.is_stored))
        self._by_last, self._touched, self._replies = {}, {}, []

    def add_reply(self, imported: ImportedMessage, n: int, turn: int | None) -> None:
        """Stores with the turns how a reply came about, if that is known."""
        details = ReplyDetails(
            plain(imported.model), plain(imported.provider), plain(imported.request_id), imported.usage or Usage()
        )
        if imported.usage is not None or (imported.message.role == "assistant" and details != ReplyDetails()):
            self._replies.append(ImportedReply(n, turn, details, imported.created_at))

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
            self._keep_rest(turn, turn.last_usage, last)
        return turn

    def _keep_rest(self, turn: ImportedTurn, replaced: Usage, last: int) -> None:
        """Keeps the usage of the other replies, which is in the row of the one that is replaced."""
        for row in map(ReplyRow._make, self.db.rows("reply_rows", json_list([last]))):
            stored = Usage(row.input_tokens, row.output_tokens, row.cached_tokens, row.reasoning_tokens, row.cost)
            if stored != replaced:
                details = ReplyDetails(row.model, row.provider, usage=subtract(stored, replaced))
                self._replies.append(ImportedReply(turn.n, turn.n, details, row.finished_at))

    def _extend(self, turn: ImportedTurn, imported: ImportedMessage, n: int) -> None:
        p = turn.details
        p.model, p.provider = plain(imported.model) or p.model, plain(imported.provider) or p.provider
        p.request_id = plain(imported.request_id) or p.request_id
        if imported.usage is not None:
            p.usage += imported.usage
            if imported.usage.input_tokens:  # else it is the rest of a reply that was counted before
                p.context_tokens = dialog_size(imported.usage) or p.context_tokens
        turn.answered, turn.finished = imported.message.role != "user", imported.finished
        turn.finished_at = imported.created_at or turn.finished_at
        self._by_last.pop(turn.last, None)
        turn.last = n
        self.add_reply(imported, n, turn.n)
        self._by_last[n] = self._touched[turn.n] = turn

    def _row(self, turn: ImportedTurn, now: int) -> Row:
        status, error = turn.ending
        turn.details.metadata = turn.metadata
        started = min(turn.started_at or now, now)
        ended = min(turn.finished_at or started, now)
        state = SessionState(self.session, "", turn.parent, 0, None, None, None)
        return turn_row(state, turn.n, turn.last, status, turn.details, None, started, ended, error)

    def _update(self, turn: ImportedTurn, now: int) -> None:
        p, unknown = turn.details, (None,) * len(COUNTS)
        status, error = turn.ending
        self.db.run(
            "extend_turn", turn.last, p.model, p.provider, p.request_id, *unknown, p.context_tokens, None,
            json_text(turn.metadata or None), None, turn.n,
        )  # fmt: skip
        self.db.run("end_turn", status, error, min(turn.finished_at or now, now), turn.n)


def plain(text: str | None) -> str | None:
    """A short text, escaped if a column would refuse it."""
    return text if text is None or is_plain(text) else ascii(text)
