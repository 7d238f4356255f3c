"""Turns out of messages that happened elsewhere: each message goes on with a turn, or begins one."""

from __future__ import annotations

from bough.codec import json_text, turn_info
from bough.db import Database, Row
from bough.model import Json, Usage
from bough.model.ids import is_plain
from bough.model.imported import Said
from bough.model.values import workpiece
from bough.storage.turns import NO_REPLY, Provenance, State, dialog_size, turn_row

CUT_SHORT = "The reply was cut short."
COUNTS = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens", "cost")


@workpiece
class Run:
    """A turn that happened elsewhere, as far as it is known."""

    n: int
    parent: int | None
    last: int
    word: str | None
    provenance: Provenance
    newest: Usage | None = None
    """What the last reply alone cost, in case there will be more of it."""
    answered: bool = False
    finished: bool = True
    started_at: int | None = None
    finished_at: int | None = None
    is_stored: bool = False

    @property
    def metadata(self) -> dict[str, Json]:
        counts = {} if self.newest is None else {name: getattr(self.newest, name) for name in COUNTS}
        kept = {"turn": self.word, "last_reply": {name: count for name, count in counts.items() if count is not None}}
        return {name: said for name, said in kept.items() if said}

    @property
    def ending(self) -> tuple[str, str | None]:
        """Its status, and why it is not complete."""
        if not self.answered:
            return "interrupted", NO_REPLY
        return ("complete", None) if self.finished else ("interrupted", CUT_SHORT)


class Runs:
    """The turns of one conversation that a transaction begins or goes on with."""

    def __init__(self, db: Database, session: int, caller: int | None, caller_call: str | None) -> None:
        self.db = db
        self.session = session
        self._caller = (caller, plain(caller_call))
        self._tips: dict[int, Run] = {}
        self._touched: dict[int, Run] = {}

    def of(self, said: Said, n: int, parent: int | None, instead_of: int | None = None) -> int:
        """The number of the turn that a message with the number `n` belongs to."""
        run = self._at(parent if instead_of is None else instead_of)
        if run is not None and instead_of is not None:
            run = self._shortened(run, instead_of)
        elif run is not None and not self._goes_on(run, said):
            run = None
        if run is None:
            caller, call = self._caller
            run = Run(n, parent, n, said.turn, Provenance(caller=caller, caller_call=call), started_at=said.created_at)
        self._extend(run, said, n)
        return run.n

    def write(self, now: int) -> None:
        """Stores the turns as they are now."""
        self.db.run_many("insert_turn", [self._row(run, now) for run in self._touched.values() if not run.is_stored])
        for run in self._touched.values():
            if run.is_stored:
                self._update(run, now)
        self._tips, self._touched = {}, {}

    def _at(self, n: int | None) -> Run | None:
        """The turn of this conversation that ends at a message, and has not gone on from there in this transaction."""
        if n is None or n in self._tips:
            return None if n is None else self._tips[n]
        step = self.db.row("step", n)
        if step is None or step[4] is None or step[4] in self._touched:
            return None
        span = self.db.row("turn_span", step[4])
        if span is None or span[0] != n or span[3] != self.session or span[2] == "running":
            return None
        return self._load(step[4], span[1], n, answered=step[3] != "user")

    def _load(self, turn: int, parent: int | None, last: int, answered: bool) -> Run:
        row = self.db.row("turn", turn)
        assert row is not None
        info = turn_info(row)
        noted = info.metadata if isinstance(info.metadata, dict) else {}
        newest = Usage(**noted["last_reply"]) if "last_reply" in noted else None
        provenance = Provenance(info.model, info.provider, info.request_id, info.usage)
        return Run(
            turn, parent, last, noted.get("turn"), provenance, newest, answered, info.status == "complete",
            info.started_at, info.finished_at, is_stored=True,
        )  # fmt: skip

    def _goes_on(self, run: Run, said: Said) -> bool:
        if said.turn is not None:
            return said.turn == run.word
        return run.word is None and (said.message.role != "user" or not run.answered)

    def _shortened(self, run: Run, last: int) -> Run | None:
        """The turn without its last reply; None when there was nothing else in it."""
        if run.n == last:
            return None
        if run.newest is not None:
            run.provenance.usage = subtract(run.provenance.usage, run.newest)
        return run

    def _extend(self, run: Run, said: Said, n: int) -> None:
        p = run.provenance
        p.model, p.provider = plain(said.model) or p.model, plain(said.provider) or p.provider
        p.request_id = plain(said.request_id) or p.request_id
        if said.usage is not None:
            p.usage, run.newest = p.usage + said.usage, said.usage
            p.context_tokens = dialog_size(said.usage) or p.context_tokens
        run.answered, run.finished = said.message.role != "user", said.finished
        run.finished_at = said.created_at or run.finished_at
        self._tips.pop(run.last, None)
        run.last = n
        self._tips[n] = self._touched[run.n] = run

    def _row(self, run: Run, now: int) -> Row:
        status, error = run.ending
        run.provenance.metadata = run.metadata
        started = min(run.started_at or now, now)
        ended = min(run.finished_at or started, now)
        place = State(self.session, "", run.parent, 0, None, None, None)
        return turn_row(place, run.n, run.last, status, run.provenance, None, started, ended, error)

    def _update(self, run: Run, now: int) -> None:
        p, u = run.provenance, run.provenance.usage
        status, error = run.ending
        self.db.run(
            "extend_turn", run.last, p.model, p.provider, p.request_id,
            u.input_tokens, u.output_tokens, u.cached_tokens, u.reasoning_tokens, u.cost, p.context_tokens,
            None, json_text(run.metadata or None), None, run.n,
        )  # fmt: skip
        self.db.run("end_turn", status, error, min(run.finished_at or now, now), run.n)


def subtract(whole: Usage, part: Usage) -> Usage:
    """What is left of some usage without a part of it."""

    def left(name: str) -> Json:
        mine, theirs = getattr(whole, name), getattr(part, name)
        return mine if mine is None or theirs is None else max(mine - theirs, 0)

    return Usage(*(left(name) for name in COUNTS))


def plain(text: str | None) -> str | None:
    """A short text that any column takes."""
    return text if text is None or is_plain(text) else ascii(text)
