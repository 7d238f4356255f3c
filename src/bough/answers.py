"""Several answers to one question, which are written at the same time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from bough.errors import Conflict, Invalid
from bough.storage import answers, lookup
from bough.storage.leases import unregister
from bough.turn import Turn

if TYPE_CHECKING:
    from typing import Self

    from bough.session import Session


class Answers:
    """Use it in a `with` block: leaving it ends the answers that are open, and moves the head to the chosen one.

    Each answer is a turn of its own, and may be written by a thread of its own. They share the lease of the session.
    """

    def __init__(self, session: Session, opened: answers.Opened, lease: float) -> None:
        self.session = session
        self.turns = tuple(Turn(session, turn, lease) for turn in opened.turns)
        self.chosen: Turn | None = None
        """The answer that the head goes to: the one given to `choose`, else, at the end, the first whole one."""
        self._asked = opened.asked
        self._owner, self._session = opened.turns[0].owner, opened.turns[0].session
        self._is_open = True

    def __repr__(self) -> str:
        return f"<Answers {[turn.id for turn in self.turns]} of {self.session.key!r}>"

    def __iter__(self) -> Iterator[Turn]:
        return iter(self.turns)

    def __len__(self) -> int:
        return len(self.turns)

    def __getitem__(self, index: int) -> Turn:
        return self.turns[index]

    @property
    def question(self) -> str:
        """The id of the question."""
        return lookup.id_of(self.session.store.db, self._asked.question) or ""

    def choose(self, answer: Turn) -> None:
        """Names the answer that the dialog goes on with. Raises `Invalid` for one of another question."""
        if answer not in self.turns:
            raise Invalid(f"Turn {answer.id!r} is none of these answers; nothing was chosen.")
        self.chosen = answer

    def close(self) -> None:
        """Ends the answers that are open, and moves the head: to the chosen answer, else to the first whole one.

        An answer that failed or was interrupted is never in the dialog; without any other the head stays. Raises
        `Conflict` when the session was moved, or taken over, in the meantime; the answers are then side branches.
        """
        if not self._is_open:
            return
        for turn in self.turns:
            if turn.status == "running":
                turn.complete()
        self._close()

    def end_with(self, error: BaseException) -> None:
        """Ends the answers that are open as an exception demands, as `Turn.end_with`, and moves the head."""
        for turn in self.turns:
            if turn.status == "running":
                turn.end_with(error)
        if self._is_open:
            self._close()

    def _close(self) -> None:
        store = self.session.store
        given = () if self.chosen is None else (self.chosen,)
        self.chosen = next((turn for turn in (*given, *self.turns) if is_in_dialog(turn)), None)
        last = None if self.chosen is None else lookup.number(store.db, self.chosen.last)
        db, session = store.db, self._session
        self._is_open = False
        try:
            could = store.write(lambda now: answers.close(db, session, self._owner, self._asked, last, now))
        finally:
            unregister(self._owner)
        if not could and last is not None:
            raise Conflict(
                f"Session {self.session.key!r} moved on while question {self.question!r} was being answered. "
                "The answers are kept as side branches; fork from one to go on."
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            self.close()
        else:
            self.end_with(error)


def is_in_dialog(turn: Turn) -> bool:
    """Whether the head may go to an answer: a complete one, or the part of a stopped one."""
    if turn.status == "stopped":
        (last,) = turn.path(last=1)
        return bool(last.message.blocks)
    return turn.status == "complete"
