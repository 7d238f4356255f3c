"""The tree that a Codex rollout tells: a log without parents, in which turns are taken back and history is replaced.

What the model put out in one go is one message, and each output that answers it another. The tokens of a reply are
counted after its tools have run, so a reply waits for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from bough.formats.payload import at, count, parsed, text_or_none
from bough.importers.codex.items import Event, is_human, name_of, read_event, read_item
from bough.importers.common.json_reader import Line
from bough.model import Json, Kind, Message, Other, Role, Text, Usage
from bough.model.imported import ImportedMessage, Item, Skipped
from bough.model.values import replace

COUNTS = ("input_tokens", "output_tokens", "cached_input_tokens", "reasoning_output_tokens")


class Place(NamedTuple):
    """Where the log stands."""

    said: str
    turn: str
    role: Role


class Spawn(NamedTuple):
    said: str
    call: str


class Rollout:
    """Takes the lines of one file in their order."""

    def __init__(self, root: str, spawned: dict[str, Spawn], ordinals: dict[int, Place] | None = None) -> None:
        self._root = root
        """The thread in which all of this began; names are made from it, so that forks know their beginnings again."""
        self._spawned = spawned
        self._ordinals = ordinals
        """Where the log stood after each line, when another file continues from the middle of this one."""
        self._at: Place | None = None
        self._turns: list[Place | None] = []
        """Where the log stood before each thing that the user said, for taking it back."""
        self._reply: list[tuple[Event, Message]] = []
        self._outputs: list[tuple[Event, Message]] = []
        self._calls: dict[str, str] = {}
        self._model: str | None = None
        self._provider: str | None = None
        self._total: Usage | None = Usage()
        self._usage: Usage | None = None
        self._request: str | None = None
        self._cut = False
        self._passed: list[int] = []
        self._time: int | None = None
        """When the last line was written that says so: the oldest rollouts say it only once."""

    def continue_from(self, place: Place | None) -> None:
        """Continues where another file stood, whose tokens the totals of this one include."""
        self._at, self._total = place, None

    def items(self, lines: Iterable[Line | Skipped]) -> Iterator[Item]:
        for number, line in enumerate(lines):
            if isinstance(line, Skipped):
                yield line
            elif event := read_event(line.value):
                self._time = event.time or self._time
                event = event._replace(time=self._time)
                yield from self._take(event, line)
                self._note_ordinal(number if event.ordinal is None else event.ordinal)
        yield from self._flush()
        self._note_ordinal(None)

    def _take(self, event: Event, line: Line) -> Iterator[Item]:
        match event.kind:
            case "response_item":
                yield from self._item(event)
            case "event_msg":
                yield from self._happened(event)
            case "compacted":
                yield from self._flush()
                yield self._tell(event, _summary(event.payload), "summary")
            case "token_usage_record":
                self._record(event.payload)
            case "turn_context":
                self._model = text_or_none(event.payload.get("model")) or self._model
            case "session_meta":
                self._provider = text_or_none(event.payload.get("model_provider")) or self._provider
            case "inter_agent_communication":
                yield from self._flush()
                yield self._tell(event, Message("system", (Other(event.kind, {"codex": event.payload}),)))
            case "unknown":
                kind = at(line.value, "type")
                yield Skipped(line.place, f"a line of the type {kind!r}, which is not known", line.value)

    def _item(self, event: Event) -> Iterator[Item]:
        message = read_item(event.payload)
        if message.role == "assistant":
            if self._outputs:
                yield from self._flush()
            self._reply.append((event, message))
        elif message.role == "tool_result":
            self._outputs.append((event, message))
        else:
            yield from self._flush()
            if is_human(message, event.payload):
                self._turns.append(self._at)
            yield self._tell(event, message)

    def _happened(self, event: Event) -> Iterator[Item]:
        """Most events repeat for the screen what the items say."""
        match event.payload.get("type"):
            case "token_count":
                self._count(at(event.payload, "info"))
                if self._usage and self._reply:
                    yield from self._flush()
            case "turn_aborted":
                self._cut = True
                yield from self._flush()
                self._cut = False
            case "thread_rolled_back":
                yield from self._flush()
                self._take_back(count(event.payload, "num_turns") or 0)

    def _take_back(self, turns: int) -> None:
        for _ in range(min(turns, len(self._turns))):
            self._at = self._turns.pop()

    def _count(self, info: Json) -> None:
        """Adds what a count says beyond the one before; the same total comes more than once."""
        total, last = at(info, "total_token_usage"), at(info, "last_token_usage")
        if not isinstance(total, dict):
            return
        before, self._total = self._total, _usage(total)
        if self._total != before:
            self._spend((before and _minus(self._total, before)) or _usage(last))

    def _record(self, record: dict[str, Json]) -> None:
        """Takes what newer versions say of each reply. The total that follows it repeats it."""
        self._total = _usage(record.get("thread_token_usage"))
        self._spend(_usage(record.get("usage")))
        self._request = text_or_none(record.get("response_id"))

    def _spend(self, spent: Usage) -> None:
        self._usage = spent if self._usage is None else self._usage + spent

    def _flush(self) -> Iterator[Item]:
        """Tells the reply that was waited for, and what answered it."""
        reply, self._reply = self._reply, []
        outputs, self._outputs = self._outputs, []
        if reply:
            blocks = tuple(block for _, message in reply for block in message.blocks)
            said = self._tell(reply[0][0], Message("assistant", blocks))
            usage, self._usage = self._usage, None
            request, self._request = self._request, None
            self._calls = {call.call_id: call.name for call in said.message.calls}
            finished = not self._cut or bool(outputs)
            who = {"model": self._model, "provider": self._provider, "request_id": request}
            yield replace(said, **who, usage=usage, finished=finished)
        asked = self._at
        for event, message in outputs:
            self._note_subagent(message, asked)
            yield self._tell(event, message)

    def _tell(self, event: Event, message: Message, kind: Kind = "message") -> ImportedMessage:
        parent = self._at
        name = name_of(parent.said if parent else self._root, event.payload)
        begins = parent is None or (kind == "message" and is_human(message, event.payload) and parent.role != "user")
        turn = name if parent is None or begins else parent.turn
        covers = parent.said if parent and kind == "summary" else None
        self._at = Place(name, turn, "system" if covers else message.role)
        return ImportedMessage(
            name,
            message,
            parent.said if parent else None,
            event.time,
            kind="summary" if covers else "message",
            covers=covers,
            turn=turn,
        )

    def _note_ordinal(self, ordinal: int | None) -> None:
        """Notes where the log stands after a line, as soon as that is known."""
        if self._ordinals is None:
            return
        self._passed += [] if ordinal is None else [ordinal]
        if self._at and not self._reply and not self._outputs:
            self._ordinals |= dict.fromkeys(self._passed, self._at)
            self._passed = []

    def _note_subagent(self, message: Message, asked: Place | None) -> None:
        for result in message.results:
            agent = at(parsed(result.text), "agent_id") if self._calls.get(result.call_id) == "spawn_agent" else None
            if isinstance(agent, str) and asked:
                self._spawned[agent] = Spawn(asked.said, result.call_id)


def _summary(payload: dict[str, Json]) -> Message:
    """What stands for the history from here on. The messages that it repeats are left out: they are on the path."""
    history = payload.get("replacement_history")
    items = [item for item in history if isinstance(item, dict)] if isinstance(history, list) else []
    sealed = tuple(block for item in items if "compact" in str(item.get("type")) for block in read_item(item).blocks)
    words = text_or_none(payload.get("message"))
    if not words and not sealed and items:
        words = read_item(items[-1]).text
    return Message("user", ((Text(words),) if words else ()) + sealed)


def _usage(counts: Json) -> Usage:
    return Usage(*(count(counts, name) for name in COUNTS))


def _minus(total: Usage, before: Usage) -> Usage | None:
    """What was spent in between; None when the count began anew."""
    pairs = [(getattr(total, name), getattr(before, name) or 0) for name in Usage.__match_args__]
    if any(now is not None and now < then for now, then in pairs):
        return None
    return Usage(*(None if now is None else now - then for now, then in pairs))
