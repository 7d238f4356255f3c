"""Build a tree from a Codex rollout: a log without parents, with rollbacks of turns and replacements of history.

Consecutive items of the model are one message, and each tool output is another. A rollout counts the tokens of a reply
after its tools have run, so a reply is held back until then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bough.formats.payload import at, count, parsed, text_or_none
from bough.importers.codex.items import Event, chained_id, is_human, read_event, read_item
from bough.importers.common.json_reader import Line
from bough.importers.common.position import Position, Spawn
from bough.model import Json, Kind, Message, Other, Text, Usage
from bough.model.imported import ImportedMessage, Item, Skipped
from bough.model.values import replace

COUNTS = ("input_tokens", "output_tokens", "cached_input_tokens", "reasoning_output_tokens")
"""In the order of the fields of `Usage`."""


class Rollout:
    """Reads the lines of one file in order."""

    def __init__(self, root: str, spawned: dict[str, Spawn], ordinals: dict[int, Position] | None = None) -> None:
        self._root = root
        """The first thread of the family. Ids are derived from it, so a fork gets the ids of its origin."""
        self._spawned = spawned
        self._ordinals = ordinals
        """The position after each line, if another file continues from the middle of this one."""
        self._current: Position | None = None
        self._before_turns: list[Position | None] = []
        """The position before each user message, for rollbacks."""
        self._reply: list[tuple[Event, Message]] = []
        self._outputs: list[tuple[Event, Message]] = []
        self._calls: dict[str, str] = {}
        self._model: str | None = None
        self._provider: str | None = None
        self._total_usage: Usage | None = Usage()
        self._usage: Usage | None = None
        self._request: str | None = None
        self._is_cut = False
        self._ordinals_waiting: list[int] = []
        self._time: int | None = None
        """The last timestamp: the oldest rollouts have only one."""

    def continue_from(self, position: Position | None) -> None:
        """Continues from another file, whose tokens are part of the totals of this one."""
        self._current, self._total_usage = position, None

    def items(self, lines: Iterable[Line | Skipped]) -> Iterator[Item]:
        for number, line in enumerate(lines):
            if isinstance(line, Skipped):
                yield line
            elif event := read_event(line.value):
                self._time = event.time or self._time
                event = event._replace(time=self._time)
                yield from self._event(event, line)
                self._note_ordinal(number if event.ordinal is None else event.ordinal)
        yield from self._flush()
        self._note_ordinal(None)

    def _event(self, event: Event, line: Line) -> Iterator[Item]:
        match event.kind:
            case "response_item":
                yield from self._response_items(event)
            case "event_msg":
                yield from self._event_items(event)
            case "compacted":
                yield from self._flush()
                yield self._message(event, _summary(event.payload), "summary")
            case "token_usage_record":
                self._usage_record(event.payload)
            case "turn_context":
                self._model = text_or_none(event.payload.get("model")) or self._model
            case "session_meta":
                self._provider = text_or_none(event.payload.get("model_provider")) or self._provider
            case "inter_agent_communication":
                yield from self._flush()
                yield self._message(event, Message("system", (Other(event.kind, {"codex": event.payload}),)))
            case "unknown":
                kind = at(line.value, "type")
                yield Skipped(line.place, f"The line has the unknown type {kind!r}.", line.value)

    def _response_items(self, event: Event) -> Iterator[Item]:
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
                self._before_turns.append(self._current)
            yield self._message(event, message)

    def _event_items(self, event: Event) -> Iterator[Item]:
        """The items of an event: most events repeat the response items for the screen and have none."""
        match event.payload.get("type"):
            case "token_count":
                self._count(at(event.payload, "info"))
                if self._usage and self._reply:  # the count follows the last item of a reply
                    yield from self._flush()
            case "turn_aborted":
                self._is_cut = True
                yield from self._flush()
                self._is_cut = False
            case "thread_rolled_back":
                yield from self._flush()
                self._roll_back(count(event.payload, "num_turns") or 0)

    def _roll_back(self, turns: int) -> None:
        for _ in range(min(turns, len(self._before_turns))):
            self._current = self._before_turns.pop()

    def _count(self, info: Json) -> None:
        """Adds the difference between a total and the one before; totals are repeated."""
        totals, last = at(info, "total_token_usage"), at(info, "last_token_usage")
        if not isinstance(totals, dict):
            return
        before, self._total_usage = self._total_usage, _usage(totals)
        if self._total_usage != before:
            self._add_usage((before and _minus(self._total_usage, before)) or _usage(last))

    def _usage_record(self, record: dict[str, Json]) -> None:
        """Adds the usage of one reply, as newer versions record it. The total after it includes it."""
        self._total_usage = _usage(record.get("thread_token_usage"))
        self._add_usage(_usage(record.get("usage")))
        self._request = text_or_none(record.get("response_id"))

    def _add_usage(self, usage: Usage) -> None:
        self._usage = usage if self._usage is None else self._usage + usage

    def _flush(self) -> Iterator[Item]:
        """The reply that was held back, and the outputs of its tools."""
        reply, self._reply = self._reply, []
        outputs, self._outputs = self._outputs, []
        if reply:
            blocks = tuple(block for _, message in reply for block in message.blocks)
            imported = self._message(reply[0][0], Message("assistant", blocks))
            usage, self._usage = self._usage, None
            request, self._request = self._request, None
            self._calls = {call.call_id: call.name for call in imported.message.calls}
            finished = not self._is_cut or bool(outputs)
            provenance = {"model": self._model, "provider": self._provider, "request_id": request}
            yield replace(imported, **provenance, usage=usage, finished=finished)
        caller = self._current
        for event, message in outputs:
            self._note_subagent(message, caller)
            yield self._message(event, message)

    def _message(self, event: Event, message: Message, kind: Kind = "message") -> ImportedMessage:
        parent = self._current
        id = chained_id(parent.message_id if parent else self._root, event.payload)
        is_prompt = kind == "message" and is_human(message, event.payload)
        begins_turn = parent is None or (is_prompt and parent.role != "user")
        turn = id if parent is None or begins_turn else parent.turn
        covers = parent.message_id if parent and kind == "summary" else None
        self._current = Position(id, turn, "system" if covers else message.role)
        return ImportedMessage(
            id,
            message,
            parent.message_id if parent else None,
            event.time,
            kind="summary" if covers else "message",
            covers=covers,
            turn=turn,
        )

    def _note_ordinal(self, ordinal: int | None) -> None:
        """Remembers the position after a line, as soon as it is known."""
        if self._ordinals is None:
            return
        self._ordinals_waiting += [] if ordinal is None else [ordinal]
        if self._current and not self._reply and not self._outputs:
            self._ordinals |= dict.fromkeys(self._ordinals_waiting, self._current)
            self._ordinals_waiting = []

    def _note_subagent(self, message: Message, caller: Position | None) -> None:
        for result in message.results:
            agent = at(parsed(result.text), "agent_id") if self._calls.get(result.call_id) == "spawn_agent" else None
            if isinstance(agent, str) and caller:
                self._spawned[agent] = Spawn(caller.message_id, result.call_id)


def _summary(payload: dict[str, Json]) -> Message:
    """The summary that replaces the history. The messages that it repeats are on the path already, and left out."""
    history = payload.get("replacement_history")
    items = [item for item in history if isinstance(item, dict)] if isinstance(history, list) else []
    opaque = tuple(block for item in items if "compact" in str(item.get("type")) for block in read_item(item).blocks)
    text = text_or_none(payload.get("message"))
    if not text and not opaque and items:
        text = read_item(items[-1]).text
    return Message("user", ((Text(text),) if text else ()) + opaque)


def _usage(counts: Json) -> Usage:
    return Usage(*(count(counts, name) for name in COUNTS))


def _minus(totals: Usage, before: Usage) -> Usage | None:
    """The usage between two totals; None if the count was reset."""
    pairs = [(getattr(totals, name), getattr(before, name) or 0) for name in Usage.__match_args__]
    if any(now is not None and now < then for now, then in pairs):
        return None
    return Usage(*(None if now is None else now - then for now, then in pairs))
