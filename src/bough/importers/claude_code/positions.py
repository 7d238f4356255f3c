"""Where the lines of Claude Code files stand in the tree that bough makes of them."""

from __future__ import annotations

from typing import NamedTuple

from bough.importers.claude_code.records import Record
from bough.model import Json, Role


class Place(NamedTuple):
    """The message that a line became, or became part of."""

    said: str
    turn: str
    role: Role


class Step(NamedTuple):
    """The newest reply, and the results of its calls so far. They were asked for together and follow one another."""

    reply_id: str | None
    """What the provider calls the reply."""
    reply: Place
    said: set[str]
    tail: Place


class Places:
    """Finds parents. `known` is shared by the files of a project, which replay and continue one another."""

    def __init__(self, known: dict[str, Place]) -> None:
        self.last: Place | None = None
        self.step: Step | None = None
        self._known = known
        self._above: dict[str, str] = {}

    def parent(self, line: Record) -> Place | None:
        """Where a line belongs. A parent that is nowhere to be found, or the line itself, means the line before."""
        if "parentUuid" not in line:
            return self.last
        name = line["parentUuid"] or line.get("logicalParentUuid")
        if name is None:
            return None
        found = self._known.get(name) if isinstance(name, str) and name != line.get("uuid") else None
        return self._after_results(found) if found else self.last

    def continues(self, reply_id: str | None) -> Place | None:
        """Where the rest of a reply belongs when some of its calls were answered before all were written."""
        step = self.step
        return step.tail if step and reply_id and step.reply_id == reply_id else None

    def before(self, name: Json) -> str | None:
        """The message before the one that a line of this file became."""
        place = self._known.get(name) if isinstance(name, str) else None
        return self._above.get(place.said) if place else None

    def put(self, name: str, place: Place) -> None:
        self._known[name] = place

    def pass_by(self, line: Record) -> None:
        """A line that is not told: what hangs on it hangs on its parent."""
        name, parent = line.get("uuid"), self.parent(line)
        # A name that is taken stays what it is: snapshots borrow the names of messages.
        if parent and isinstance(name, str) and name not in self._known:
            self._known[name] = parent

    def told(self, name: str, place: Place, parent: Place | None) -> None:
        self.last = self._known[name] = place
        if parent:
            self._above[place.said] = parent.said
        step = self.step
        if step and parent and place.role == "tool_result" and parent.said in step.said:
            step.said.add(place.said)
            self.step = step._replace(tail=place)

    def begin_step(self, reply_id: str | None, reply: Place) -> None:
        self.step = Step(reply_id, reply, {reply.said}, reply)

    def _after_results(self, parent: Place) -> Place:
        """What follows one result of a step follows them all."""
        step = self.step
        return step.tail if step and parent.said in step.said else parent
