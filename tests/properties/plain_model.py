"""What a store should do, said again in dicts and lists, as plainly as possible and without any concern for speed.

A `Model` is changed by the same verbs as a store, raises the same errors, and can be asked for everything that can be
observed. It knows nothing of rows, numbers, blobs or indexes. Messages refer to one another by id; a reference to what
was deleted stays, and is shown as None until the message is back.

Ids and generated keys are the store's to choose: each verb is given an iterator of `names` and takes the next one for
each thing that it makes, so a verb that makes too few or too many is found out.

A verb that raises may leave a model half changed; the caller works on a copy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from bough import (
    Block,
    Busy,
    Conflict,
    Document,
    Invalid,
    Media,
    Message,
    Node,
    NotFound,
    Other,
    Refused,
    SessionInfo,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Totals,
    TurnInfo,
    Usage,
)
from bough.model import Kind, Status
from bough.model.tokens import estimate
from bough.model.values import replace

SECOND = 1_000_000
LEASE = 900 * SECOND
GONE = "The writer went away."
IN_DIALOG = ("complete", "stopped")
NO_REPLY = "No reply was added."
MOVED_ON = "The session moved on in the meantime."

Said = tuple[Any, ...]
Shape = tuple[str, tuple["Shape", ...]]
Paid = tuple[str, str | None, Usage]
"""The turn of a reply, its model and its usage."""


@dataclass
class Place:
    """A message in its place. `born` counts messages in the order in which they were saved."""

    id: str
    born: int
    parent: str | None
    message: Message
    created_at: int
    label: str | None = None
    turn: str | None = None
    kind: Kind = "message"
    covers: str | None = None
    reply: tuple[str | None, Usage] | None = None
    """The model of a reply, and what it cost."""


@dataclass
class Run:
    """A turn; its id is that of its first message."""

    id: str
    session: int
    parent: str | None
    last: str
    started_at: int
    status: Status = "running"
    finished_at: int | None = None
    model: str | None = None
    error: str | None = None
    key: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    caller: str | None = None
    call: str | None = None
    size: int | None = None
    """Of the dialog after the last message: as it was counted, and estimated since then."""


def counted_size(usage: Usage | None) -> int | None:
    """The size of a dialog, where a provider has counted all of it."""
    if usage is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    return usage.input_tokens + usage.output_tokens


@dataclass
class Lease:
    turn: str
    holder: int
    until: int
    dead: bool = False


@dataclass
class Name:
    """A session. `number` is its identity, whatever its key; `used` grows each time it is made or talked to."""

    number: int
    key: str
    head: str | None
    created_at: int
    updated_at: int
    used: int
    revision: int = 0
    parent: int | None = None
    parent_message: str | None = None
    forked_from: str | None = None
    title: str | None = None
    directory: str | None = None
    agent: str | None = None
    model: str | None = None
    lease: Lease | None = None
    documents: dict[str, Written] = field(default_factory=dict)
    """Replaced at each write, so that copies may share it."""


@dataclass(frozen=True)
class Written:
    """A document: what was written last, also where that was its end."""

    revision: int
    value: Any
    at: int
    exists: bool = True


@dataclass
class Bin:
    """One deletion: what it took away and what it moved."""

    id: str
    deleted_at: int
    places: list[Place]
    runs: list[Run]
    names: list[Name]
    moved: list[tuple[int, str | None, str | None]]
    """Sessions that lost their place: number, head before, head after."""
    cut: list[tuple[str, str, str]]
    """Turns that lost their end: id, last message before, last message after."""


@dataclass(frozen=True)
class Wanted:
    """A message to save; `parent` is an id, or the place of an earlier one in the same call."""

    message: Message
    parent: str | int | None = None
    label: str | None = None
    created_at: int | None = None


@dataclass
class Model:
    places: dict[str, Place] = field(default_factory=dict)
    runs: dict[str, Run] = field(default_factory=dict)
    names: dict[str, Name] = field(default_factory=dict)
    bins: list[Bin] = field(default_factory=list)
    births: int = 0
    sessions_made: int = 0
    uses: int = 0
    holders: int = 0

    def copy(self) -> Model:
        """A model that can be changed without changing this one. What is in a bin is never changed."""
        return replace(
            self,
            places={id_: replace(place) for id_, place in self.places.items()},
            runs={id_: replace(run) for id_, run in self.runs.items()},
            names={
                key: replace(name, lease=replace(name.lease) if name.lease else None)
                for key, name in self.names.items()
            },
            bins=list(self.bins),
        )

    # Looking --------------------------------------------------------------------------------------------------------

    def in_order(self) -> list[Place]:
        return sorted(self.places.values(), key=lambda place: place.born)

    def place(self, id_: str) -> Place:
        if id_ not in self.places:
            raise NotFound(id_)
        return self.places[id_]

    def path(self, id_: str | None) -> list[Place]:
        found: list[Place] = []
        while id_ is not None:
            found.insert(0, self.places[id_])
            id_ = self.places[id_].parent
        return found

    def path_ids(self, id_: str | None) -> list[str]:
        return [place.id for place in self.path(id_)]

    def children(self, id_: str | None) -> list[Place]:
        return [place for place in self.in_order() if place.parent == id_]

    def below(self, ids: Iterable[str]) -> set[str]:
        """These messages and all that follow them."""
        tops = set(ids)
        return {id_ for id_ in self.places if tops & set(self.path_ids(id_))}

    def name(self, key: str) -> Name:
        if key not in self.names:
            raise NotFound(key)
        return self.names[key]

    def numbered(self, number: int | None) -> Name | None:
        return next((name for name in self.names.values() if name.number == number), None)

    def messages_of(self, run: Run) -> list[str]:
        """What a turn added: from its last message up to its first."""
        ids = self.path_ids(run.last)
        return ids[ids.index(run.id) :]

    def here(self, id_: str | None) -> str | None:
        """A reference as it is shown: None when it leads nowhere."""
        return id_ if id_ in self.places else None

    # What a store would answer --------------------------------------------------------------------------------------

    def node(self, place: Place) -> Node:
        return Node(
            place.id, place.parent, place.created_at, place.message, place.label, place.turn, b"", place.kind,
            self.here(place.covers),
        )  # fmt: skip

    def nodes(self) -> list[Node]:
        return [self.node(place) for place in self.in_order()]

    def shape(self, id_: str | None = None) -> tuple[Shape, ...]:
        """What follows a message (or all trees) as nested ids; the branch with the newest message is last."""

        def latest(place: Place) -> int:
            return max(self.places[id_].born for id_ in self.below([place.id]))

        return tuple((place.id, self.shape(place.id)) for place in sorted(self.children(id_), key=latest))

    def session_info(self, name: Name) -> SessionInfo:
        outermost, _, _ = name.key.partition(":delegate:")
        channel, colon, channel_id = outermost.partition(":")
        parent = self.numbered(name.parent)
        return SessionInfo(
            key=name.key,
            channel=channel if colon else None,
            channel_id=channel_id if colon else None,
            head_id=name.head,
            revision=name.revision,
            directory=name.directory,
            title=name.title,
            agent=name.agent,
            model=name.model,
            parent_key=parent.key if parent else None,
            parent_message_id=self.here(name.parent_message),
            forked_from=name.forked_from,
            created_at=name.created_at,
            updated_at=name.updated_at,
        )

    def turn_info(self, run: Run) -> TurnInfo:
        session = self.numbered(run.session)
        return TurnInfo(
            id=run.id,
            session=session.key if session else None,
            status=run.status,
            parent_id=run.parent,
            last_id=run.last,
            usage=sum((usage for _, _, usage in self.paid([run])), Usage()),
            model=run.model,
            idempotency_key=run.key,
            caller_id=self.here(run.caller),
            caller_call=run.call,
            error=run.error,
            metadata=run.metadata or None,
            started_at=run.started_at,
            finished_at=run.finished_at,
            context_tokens=run.size,
        )

    def turn_infos(self, session: Name | None = None) -> list[TurnInfo]:
        """Turns, the newest first."""
        runs = sorted(self.runs.values(), key=lambda run: self.places[run.id].born, reverse=True)
        return [self.turn_info(run) for run in runs if session is None or run.session == session.number]

    def paid(self, runs: Iterable[Run]) -> list[Paid]:
        """The turn, model and usage of each reply of these turns; a turn without replies is one of unknown usage."""
        found: list[Paid] = []
        for run in runs:
            replies = [place.reply for place in self.in_order() if place.turn == run.id and place.reply]
            found += [(run.id, *reply) for reply in replies or [(run.model, Usage())]]
        return found

    def totals(self, names: tuple[str | None, ...], paid: Iterable[Paid]) -> Totals:
        chosen = list(paid)
        turns, unpriced = {turn for turn, *_ in chosen}, {turn for turn, _, usage in chosen if usage.cost is None}
        usage = sum((usage for *_, usage in chosen), Usage())
        replies = sum(place.reply is not None and place.turn in turns for place in self.places.values())
        return Totals(names[0] if names else None, len(turns), usage, len(unpriced), names, replies)

    def search(self, word: str) -> list[str]:
        """The ids of the messages that have this word, the newest first."""
        return [place.id for place in reversed(self.in_order()) if word in words(place.message)]

    def added_by(self, session: Name) -> set[str]:
        """What the turns of a session added, wherever it stands now."""
        turns = {run.id for run in self.runs.values() if run.session == session.number}
        return {place.id for place in self.places.values() if place.turn in turns}

    def ends(self, key: str) -> list[str]:
        """The leaves of the trees that a session is in or has added to, the newest first."""
        name = self.name(key)
        inside = {run.id for run in self.runs.values() if run.session == name.number} | {name.head} - {None}
        roots = {self.path_ids(id_)[0] for id_ in inside}
        below = [place for place in reversed(self.in_order()) if self.path_ids(place.id)[0] in roots]
        return [place.id for place in below if not self.children(place.id)]

    def said_on_the_way_to(self, id_: str) -> Said:
        """Everything that a digest stands for: what was said from the root to here."""
        return tuple(said(place.message) for place in self.path(id_))

    def is_abandoned(self, run: Run, now: int) -> bool:
        session = self.numbered(run.session)
        lease = session.lease if session else None
        if lease is None or lease.turn != run.id:
            return True
        return lease.dead or lease.until <= now

    # Messages -------------------------------------------------------------------------------------------------------

    def save_messages(self, saves: Sequence[Wanted], names: Iterator[str], now: int) -> None:
        ids: list[str] = []
        for place, save in enumerate(saves):
            parent = ids[save.parent] if isinstance(save.parent, int) else save.parent
            ids.append(self._add(save.message, parent, names, now + place, label=save.label, told=save.created_at).id)

    def _add(
        self,
        message: Message,
        parent: str | None,
        names: Iterator[str],
        now: int,
        *,
        label: str | None = None,
        told: int | None = None,
        kind: Kind = "message",
        covers: str | None = None,
    ) -> Place:
        earliest = 0 if parent is None else self.place(parent).created_at + 1
        time = max(now if told is None else min(told, now), earliest)
        self.births += 1
        place = Place(next(names), self.births, parent, message, time, label, kind=kind, covers=covers)
        assert place.id not in self.places, "an id was given twice"
        self.places[place.id] = place
        return place

    def _add_all(
        self, messages: Sequence[Message], parent: str | None, names: Iterator[str], now: int, label: str | None
    ) -> list[Place]:
        """One after another."""
        added: list[Place] = []
        for place, message in enumerate(messages):
            added.append(self._add(message, added[-1].id if added else parent, names, now + place, label=label))
        return added

    def label(self, id_: str, text: str | None) -> None:
        self.place(id_).label = text

    # Sessions -------------------------------------------------------------------------------------------------------

    def session(self, key: str, now: int, title: str | None = None) -> None:
        if key not in self.names:
            parent, delegate, _ = key.rpartition(":delegate:")
            self._make(key, None, now, parent=self.names[parent].number if delegate and parent in self.names else None)
            self.names[key].title = title
        elif title is not None:
            self.names[key].title = title

    def _make(self, key: str, head: str | None, now: int, parent: int | None = None) -> Name:
        self.sessions_made += 1
        self.uses += 1
        _, delegate, agent = key.rpartition(":delegate:")
        name = Name(
            self.sessions_made, key, head, now, now, self.uses, parent=parent, agent=agent if delegate else None
        )
        self.names[key] = name
        return name

    def _move(self, name: Name, head: str | None) -> None:
        """Moves a session without using it."""
        name.head = head
        name.revision += 1

    def _use(self, name: Name, now: int) -> None:
        self.uses += 1
        name.updated_at, name.used = now, self.uses

    def _talk(self, name: Name, head: str | None, now: int) -> None:
        """Moves a session past what was said there just now."""
        self._move(name, head)
        self._use(name, now)

    def is_leased(self, name: Name, now: int) -> bool:
        """Whether someone is writing to it."""
        return name.lease is not None and not name.lease.dead and name.lease.until > now

    def free(self, key: str, now: int) -> Name:
        """The session, if nobody is writing to it. The turn of a writer that went away is put aside."""
        name = self.name(key)
        if self.is_leased(name, now):
            raise Busy(key)
        if name.lease is not None:
            self._put_aside(name, now)
        return name

    def _put_aside(self, name: Name, now: int) -> None:
        assert name.lease is not None
        self._put_aside_run(self.runs[name.lease.turn], now)

    def _put_aside_run(self, run: Run, now: int) -> None:
        run.status, run.error, run.finished_at = "interrupted", GONE, now
        session = self.numbered(run.session)
        if session and session.lease and session.lease.turn == run.id:
            session.lease = None

    def fork(
        self, at: str, key: str | None, title: str | None, source: str | None, names: Iterator[str], now: int
    ) -> None:
        self.place(at)
        if key is not None and key in self.names:
            raise Conflict(key)
        made = self._make(next(names), at, now)
        made.title, made.forked_from = title, source
        if source is not None:
            origin = self.names[source]
            made.title, made.directory, made.model = title or origin.title, origin.directory, origin.model
            made.agent = origin.agent or made.agent
            made.documents = origin.documents

    def put_document(self, key: str, document: str, value: Any, expected: int | None, now: int) -> int:
        return self._write(key, document, Written(0, value, now), expected)

    def delete_document(self, key: str, document: str, expected: int | None, now: int) -> None:
        self._write(key, document, Written(0, None, now, exists=False), expected)

    def _write(self, key: str, document: str, written: Written, expected: int | None) -> int:
        name = self.name(key)
        known = name.documents.get(document, Written(0, None, 0, exists=False))
        if expected is not None and expected != (known.revision if known.exists else 0):
            raise Conflict(document)
        if not (written.exists or known.exists):
            raise NotFound(document)
        name.documents = {**name.documents, document: replace(written, revision=known.revision + 1)}
        return known.revision + 1

    def documents(self, name: Name) -> list[Document]:
        return [
            Document(document, written.value, written.revision, written.at, name.key)
            for document, written in sorted(name.documents.items())
            if written.exists
        ]

    def rewind_to(self, key: str, to: str, now: int) -> None:
        name = self.free(key, now)
        self.place(to)
        if to not in self.path_ids(name.head):
            raise Refused(to)
        self._move(name, to)

    def move(self, key: str, to: str | None, now: int) -> None:
        name = self.free(key, now)
        if to is not None:
            self.place(to)
        self._move(name, to)

    def pop(self, key: str, now: int) -> None:
        name = self.free(key, now)
        if name.head is not None:
            self._move(name, self.places[name.head].parent)

    def rewind_by(self, key: str, turns: int, now: int) -> None:
        name = self.free(key, now)
        starts = self.starts(self.path(name.head))
        if not 1 <= turns <= len(starts):
            raise Invalid(str(turns))
        self._move(name, starts[-turns].parent)

    def starts(self, path: list[Place]) -> list[Place]:
        """The first message of each turn; outside turns, each message of the user. The first message of all is one.

        A turn that answers a question of another one goes with that.
        """
        return [
            place
            for before, place in zip([None, *path], path, strict=False)
            if place.kind == "message"
            and (
                before is None
                or (place.turn == place.id and not (is_question(before) and place.message.role != "user"))
                or (place.turn is None and place.message.role == "user")
            )
        ]  # fmt: skip

    def new(self, key: str, names: Iterator[str], now: int) -> None:
        if self.name(key).head is None:
            return
        name = self.free(key, now)
        assert name.head is not None
        self.fork(name.head, None, None, key, names, now)
        archived = max(self.names.values(), key=lambda one: one.number)
        archived.created_at, archived.updated_at, archived.used = name.created_at, name.updated_at, name.used
        self._talk(name, None, now)

    def delegate(self, key: str, agent: str, now: int) -> str:
        """The key of the session in which the agent works."""
        name = self.name(key)
        child = f"{key}:delegate:{agent}"
        self.session(child, now)
        self.names[child].parent = name.number
        if name.head is not None:
            self.names[child].parent_message = name.head
        return child

    def compact(self, key: str, summary: Message, keep_turns: int, names: Iterator[str], now: int) -> None:
        old = self.to_summarise(key, keep_turns)
        if not old:
            return
        name = self.free(key, now)
        place = self._add(summary, name.head, names, now, kind="summary", covers=old[-1].id)
        self._move(name, place.id)

    def to_summarise(self, key: str, keep_turns: int) -> list[Place]:
        """The last summary, and the messages since the one it speaks up to, without the newest turns."""
        path = self.path(self.name(key).head)
        summaries = [place for place in path if place.kind == "summary"]
        ids = [place.id for place in path]
        first = ids.index(str(summaries[-1].covers)) + 1 if summaries else 0
        rest = [place for place in path[first:] if place.kind == "message"]
        starts = self.starts(rest)
        if len(starts) <= keep_turns:
            return []
        return summaries[-1:] + rest[: rest.index(starts[-keep_turns])]

    # Turns ----------------------------------------------------------------------------------------------------------

    def open_turn(
        self, key: str, message: Message, names: Iterator[str], now: int,
        *, model: str | None = None, metadata: dict[str, Any] | None = None, dead: bool = False,
    ) -> int:  # fmt: skip
        """Opens a turn; who holds it."""
        name = self.free(key, now)
        first = self._add(message, name.head, names, now)
        first.turn = first.id
        self.runs[first.id] = Run(first.id, name.number, name.head, first.id, now, model=model, metadata=metadata or {})
        return self._lease(name, first.id, now, dead)

    def _lease(self, name: Name, turn: str, now: int, dead: bool = False) -> int:
        self._use(name, now)
        self.holders += 1
        name.lease = Lease(turn, self.holders, now + LEASE, dead)
        return self.holders

    def held_by(self, holder: int) -> Name | None:
        return next((name for name in self.names.values() if name.lease and name.lease.holder == holder), None)

    def add(
        self, holder: int, messages: Sequence[Message], names: Iterator[str], now: int,
        *, usage: Usage | None = None, model: str | None = None, metadata: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        name = self.held_by(holder)
        if name is None or name.lease is None:
            raise Conflict("someone took over")
        run = self.runs[name.lease.turn]
        places = self._add_all(messages, run.last, names, now, None)
        for place in places:
            place.turn, run.last = run.id, place.id
        replied = any(message.role == "assistant" for message in messages)
        at = reply_among(places) if places else self.places[run.last]
        self._note_reply(at, model or (run.model if replied else None), usage)
        counted = counted_size(usage) if messages else None  # spent on something else than a reply
        since = None if run.size is None else run.size + sum(map(estimate, messages))
        run.size = since if counted is None else counted
        run.model = model or run.model
        run.metadata = run.metadata | (metadata or {})
        name.lease.until = now + LEASE
        name.updated_at = now

    def finish(self, holder: int, status: Status, why: str | None, now: int) -> None:
        name = self.held_by(holder)
        if name is None or name.lease is None:
            if status in IN_DIALOG:
                raise Conflict("someone took over")
            return
        run = self.runs[name.lease.turn]
        if status == "complete" and self.places[run.last].message.role == "user":
            status, why = "interrupted", NO_REPLY
        elif status in IN_DIALOG and name.head != run.parent:
            status, why = "interrupted", MOVED_ON
        run.status, run.error, run.finished_at, name.lease = status, why, now, None
        if status in IN_DIALOG:
            self._talk(name, run.last, now)
        if why == MOVED_ON:
            raise Conflict(why)

    def resume(self, key: str, turn: str, now: int) -> int:
        self.place(turn)
        name = self.free(key, now)
        run = self.runs.get(turn)
        if run is None or run.session != name.number:
            raise NotFound(turn)
        if run.status in IN_DIALOG:
            raise Refused(turn)
        if run.parent != name.head:
            raise Conflict(turn)
        run.status, run.error, run.finished_at = "running", None, None
        last = self.places[run.last]
        if last.message.role == "assistant" and last.message.error and last.id != turn:
            assert last.parent is not None
            run.last = last.parent  # a half reply becomes a side branch
        return self._lease(name, turn, now)

    def save_turn(
        self, key: str, messages: Sequence[Message], names: Iterator[str], now: int,
        *, idempotency_key: str | None = None, after: str | None = None, usage: Usage | None = None,
        model: str | None = None, label: str | None = None, caller: str | None = None, call: str | None = None,
    ) -> list[str]:  # fmt: skip
        if after is not None:
            self.place(after)
        if not messages or messages[-1].role == "user":
            raise Invalid("no reply")
        name = self.free(key, now)
        if idempotency_key is not None:
            for run in self.runs.values():
                if run.session == name.number and run.key == idempotency_key:
                    kept = self.messages_of(run)
                    if [said(self.places[id_].message) for id_ in kept] != [said(message) for message in messages]:
                        raise Conflict(idempotency_key)
                    return kept
        if after is not None and after != name.head:
            raise Conflict(after)
        places = self._add_all(messages, name.head, names, now, label)
        for place in places:
            place.turn = places[0].id
        self.runs[places[0].id] = Run(
            places[0].id, name.number, name.head, places[-1].id, now, "complete", now, model,
            key=idempotency_key, caller=caller, call=call,
            size=counted_size(usage) if sum(one.role == "assistant" for one in messages) == 1 else None,
        )  # fmt: skip
        self._note_reply(reply_among(places), model, usage)
        self._talk(name, places[-1].id, now)
        return [place.id for place in places]

    def append(self, key: str, messages: Sequence[Message], names: Iterator[str], now: int) -> None:
        """The user's words begin a turn; what comes before them continues the one at the head, if that is whole."""
        if not messages:
            return
        name = self.free(key, now)
        run = None if messages[0].role == "user" else self._whole_turn_at_head(name)
        before = messages[0]
        for place in self._add_all(messages, name.head, names, now, None):
            if run is None or (place.message.role == "user" and before.role != "user"):
                run = self.runs[place.id] = Run(place.id, name.number, place.parent, place.id, now, "complete")
            place.turn, run.last, run.finished_at, before = run.id, place.id, now, place.message
        assert run is not None
        self._talk(name, run.last, now)

    def _whole_turn_at_head(self, name: Name) -> Run | None:
        turn = self.places[name.head].turn if name.head is not None else None
        run = self.runs.get(turn) if turn is not None else None
        fits = run is not None and run.last == name.head and run.session == name.number and run.key is None
        return run if run is not None and fits and run.status == "complete" else None

    def _note_reply(self, place: Place, model: str | None, usage: Usage | None) -> None:
        """Keeps what is known of a reply, if anything; for one message it adds up."""
        if model is not None or usage not in (None, Usage()):
            before, spent = place.reply or (None, Usage())
            place.reply = model or before, spent + (usage or Usage())

    def record(self, key: str, dialog: Sequence[Message], names: Iterator[str], now: int) -> None:
        name = self.free(key, now)
        known = self.known_part(name, dialog)
        head = next((id_ for id_ in reversed(known) if self.places[id_].message.role != "user"), None)
        if len(known) == len(dialog):
            if head is not None and head not in self.path_ids(name.head):
                self._move(name, head)
            return
        anchor, time = known[-1] if known else None, now
        for messages in in_turns(dialog[len(known) :]):
            run = self.to_be_finished(name, anchor) if messages[0].role != "user" else None
            parent = anchor
            places = self._add_all(messages, parent, names, time, None)
            anchor, time = places[-1].id, time + len(places)
            replied = messages[-1].role != "user"
            if run is None:
                run = self.runs[places[0].id] = Run(places[0].id, name.number, parent, anchor, now)
            run.last, run.finished_at, run.error = anchor, now, None
            run.status = "complete" if replied else "interrupted"
            for place in places:
                place.turn = run.id
            head = anchor if replied else head
        if head is not None and head != name.head:
            self._move(name, head)
        self._use(name, now)

    def known_part(self, name: Name, dialog: Sequence[Message]) -> list[str]:
        """The stored messages that this dialog begins with: along the session's own path as far as it agrees, else
        from the oldest root that says the same; and on from there, by the oldest continuation that says the same."""
        wanted = [said(message) for message in dialog]
        known: list[str] = []
        for id_ in reversed(self.path_ids(name.head)):
            way = list(self.said_on_the_way_to(id_))
            if way == wanted[: len(way)]:
                known = self.path_ids(id_)
                break
        while len(known) < len(wanted):
            after = self.children(known[-1] if known else None)
            same = [place.id for place in after if said(place.message) == wanted[len(known)]]
            if not same:
                break
            known.append(same[0])
        return known

    def to_be_finished(self, name: Name, anchor: str | None) -> Run | None:
        """The turn of this session that was left at a message without a reply."""
        turn = self.places[anchor].turn if anchor is not None else None
        run = self.runs[turn] if turn is not None else None
        if run is None or run.session != name.number or run.last != anchor or run.status in IN_DIALOG:
            return None
        return run

    # Deleting -------------------------------------------------------------------------------------------------------

    def delete_messages(self, ids: Sequence[str], recursive: bool, names: Iterator[str], now: int, keep: bool) -> None:
        doomed = {id_ for id_ in ids if id_ in self.places}
        if recursive:
            doomed = self.below(doomed)
        elif self.below(doomed) != doomed:
            raise Refused("children")
        self._remove(doomed, [], names, now, keep)

    def delete_session(self, key: str, names: Iterator[str], now: int, keep: bool = True) -> None:
        family = self.family(key)
        for member in family:
            self.free(member.key, now)
        self._remove(self.only_reached_by(family), family, names, now, keep)

    def clear(self, key: str, names: Iterator[str], now: int) -> None:
        name = self.free(key, now)
        self._remove(self.only_reached_by([name]), [], names, now, True, emptied=name)

    def family(self, key: str) -> list[Name]:
        """A session and everyone who works for it."""
        family = [self.name(key)]
        for member in family:
            family += [name for name in self.names.values() if name.parent == member.number]
        return family

    def reached_by(self, name: Name) -> set[str]:
        """The path of a session and what its turns added."""
        reached = set(self.path_ids(name.head))
        for run in self.runs.values():
            if run.session == name.number:
                added = set(self.messages_of(run))
                reached |= added | {p.id for p in self.places.values() if p.turn == run.id and p.parent in added}
        return reached

    def only_reached_by(self, family: list[Name]) -> set[str]:
        """What these sessions reach, less what others reach or continue."""
        numbers = {name.number for name in family}
        own: set[str] = set()
        for name in family:
            own |= self.reached_by(name)
        for place in self.in_order():
            if place.kind == "summary" and place.turn is None and place.parent in own:
                own.add(place.id)  # it belongs to no turn, and goes with what it follows
        others: set[str] = set()
        for name in self.names.values():
            if name.number not in numbers:
                others |= self.reached_by(name)
        needed = others | {id_ for id_ in self.places if id_ not in own}
        kept = {above for id_ in needed for above in self.path_ids(id_)}
        return own - kept

    def _remove(
        self,
        doomed: set[str],
        family: list[Name],
        names: Iterator[str],
        now: int,
        keep: bool,
        emptied: Name | None = None,
    ) -> None:
        for run in self.being_written(doomed):
            if not self.is_abandoned(run, now):
                raise Refused("a running turn")
            self._put_aside_run(run, now)
        moved: list[tuple[int, str | None, str | None]] = []
        for name in [name for name in self.names.values() if name not in family]:
            if name.head is not None and (name.head in doomed or name is emptied):
                left = [] if name is emptied else [id_ for id_ in self.path_ids(name.head) if id_ not in doomed]
                moved.append((name.number, name.head, left[-1] if left else None))
                self._move(name, left[-1] if left else None)
        if not (doomed or family or moved):
            return
        cut = []
        for run in self.runs.values():
            if run.last in doomed and run.id not in doomed:
                left = [id_ for id_ in self.path_ids(run.last) if id_ not in doomed]
                cut.append((run.id, run.last, left[-1]))
                run.last = left[-1]
        places = [place for place in self.in_order() if place.id in doomed]
        runs = [run for run in self.runs.values() if run.id in doomed]
        for place in places:
            del self.places[place.id]
        for run in runs:
            del self.runs[run.id]
        for name in family:
            del self.names[name.key]
        if keep:
            self.bins.append(Bin(next(names), now, places, runs, family, moved, cut))

    def being_written(self, ids: set[str]) -> list[Run]:
        """The running turns that have added any of these messages."""
        running = [run for run in self.runs.values() if run.status == "running"]
        return [run for run in running if ids & set(self.messages_of(run))]

    def bin(self, name: str) -> Bin:
        """By its own id, or the newest that holds this message or this session."""
        for bin_ in reversed(self.bins):
            if bin_.id == name or name in [place.id for place in bin_.places] or name in [n.key for n in bin_.names]:
                return bin_
        raise NotFound(name)

    def restore(self, name: str, now: int) -> list[str]:
        bin_ = self.bin(name)
        back = {place.id for place in bin_.places} | set(self.places)
        if any(place.parent is not None and place.parent not in back for place in bin_.places):
            raise Refused("the message before it is in the trash")
        if any(session.key in self.names for session in bin_.names):
            raise Conflict("the key is in use")
        in_bins = {place.id for other in self.bins for place in other.places}
        if any(session.head not in back and session.head in in_bins for session in bin_.names):
            raise Refused("the message where it stood is in the trash")
        self.bins.remove(bin_)
        for place in bin_.places:
            self.places[place.id] = replace(place)
        for run in bin_.runs:
            used = {other.key for other in self.runs.values() if other.session == run.session}
            self.runs[run.id] = replace(run, key=None if run.key in used else run.key)
        for session in bin_.names:
            # Where it stood may be gone for good: then it stands nowhere.
            self.names[session.key] = replace(session, head=self.here(session.head), lease=None)
        for turn, before, after in bin_.cut:
            if turn in self.runs and self.runs[turn].last == after and self.runs[turn].status != "running":
                self.runs[turn].last = before
        for number, head, moved_to in bin_.moved:
            found = self.numbered(number)
            if found and found.head == moved_to and found.lease is None and head in self.places:
                self._move(found, head)
        return [place.id for place in bin_.places]

    def purge(self, older_than: int, now: int) -> int:
        before = len(self.bins)
        self.bins = [bin_ for bin_ in self.bins if bin_.deleted_at > now - older_than]
        return before - len(self.bins)

    def idle(self, older_than: int, now: int) -> list[Name]:
        """The sessions that `clean` would take, the longest unused first."""
        found = [
            name
            for name in self.names.values()
            if name.updated_at < now - older_than
            and name.parent is None
            and not any(self.is_leased(member, now) for member in self.family(name.key))
        ]
        return sorted(found, key=lambda name: name.used)

    def clean(self, older_than: int, names: Iterator[str], now: int) -> list[str]:
        idle = self.idle(older_than, now)
        for name in idle:
            self.delete_session(name.key, names, now)
        return [name.key for name in idle]

    def reopen(self, now: int) -> None:
        """What connecting does: the turns whose writers are gone are put aside."""
        for run in self.runs.values():
            if run.status == "running" and self.is_abandoned(run, now):
                self._put_aside_run(run, now)


def is_question(place: Place) -> bool:
    return place.kind == "message" and place.message.role == "user"


def reply_among(places: Sequence[Place]) -> Place:
    """The last reply, or the last message if there is none."""
    return next((place for place in reversed(places) if place.message.role == "assistant"), places[-1])


def said(message: Message) -> Said:
    """What a message says, without what was only kept beside it."""
    return message.role, message.error, tuple(bare(block) for block in message.blocks)


def bare(block: Block) -> Block:
    match block:
        case Other():
            return replace(block, extra=None)
        case ToolResult():
            return replace(block, extra=None, raw=None, content=tuple(bare(part) for part in block.content))
        case _:
            return replace(block, extra=None, raw=None)


def words(message: Message) -> set[str]:
    found: set[str] = set()
    for block in message.blocks:
        match block:
            case Text() | Thinking():
                found |= set(block.text.split())
            case ToolCall():
                found |= {block.name, *block.arguments.replace('"', " ").split()}
            case ToolResult():
                found |= {word for part in block.content if isinstance(part, Text) for word in part.text.split()}
            case Media():
                found |= set((block.name or block.url or "").split())
            case Other():
                pass
    return found


def in_turns(messages: Sequence[Message]) -> list[list[Message]]:
    """A dialog as turns: the user's words, however many messages they are, begin one."""
    turns: list[list[Message]] = []
    for message in messages:
        if not turns or (message.role == "user" and turns[-1][-1].role != "user"):
            turns.append([])
        turns[-1].append(message)
    return turns
