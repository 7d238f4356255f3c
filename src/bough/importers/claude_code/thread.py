"""Build a tree from the lines of one Claude Code file.

A reply is several lines with the same `message.id`, one block each; they become one message with the id of the first
line, so that the next import recognises a reply that was still being written. Results of parallel calls are on
branches of their own, which become one path. A missing parent is taken to be the line before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from bough.formats.anthropic import decode_usage
from bough.formats.payload import at, count, parsed, text_or_none
from bough.importers.claude_code.positions import Positions
from bough.importers.claude_code.records import (
    ENVIRONMENT,
    KEPT_ELSEWHERE,
    Record,
    assistant_message,
    message_of,
    note_message,
    user_messages,
)
from bough.importers.common.json_reader import Line
from bough.importers.common.position import Position
from bough.importers.common.timestamps import from_iso
from bough.model import Json, Kind, Message, Usage
from bough.model.imported import ImportedMessage, Item, Skipped
from bough.model.usage import highest, subtract

LEFT_OUT = {
    "progress",
    "file-history-snapshot",
    "queue-operation",
    "summary",
    "custom-title",
    "ai-title",
    "agent-name",
    "agent-setting",
    "permission-mode",
    "mode",
    "pr-link",
    "last-prompt",
    "bridge-session",
}
"""Types of lines that are no messages: progress of tools, state of the screen, session metadata."""
TELEMETRY = {"turn_duration", "stop_hook_summary", "bridge_status"}
NOT_IN_ENVELOPE = KEPT_ELSEWHERE.union(ENVIRONMENT, ("requestId",))
REPLY_FIELDS = {"role", "content", "type", "model"}
"""Fields of a reply that the message or its turn keeps already."""
SUBAGENT_TOOLS = ("Task", "Agent")


class SubagentCall(NamedTuple):
    """The tool call that started a subagent, and the names that it gave to it."""

    conversation: str
    message_id: str
    call_id: str
    agent: str | None = None
    title: str | None = None


class Thread:
    """Reads the lines of one file in order."""

    def __init__(
        self, name: str, known: dict[str, Position], counted: dict[str, Usage], calls: dict[str, SubagentCall]
    ) -> None:
        self._name = name
        self._calls = calls
        """The calls that started subagents, by the agent's id, by the call's id and by the prompt."""
        self._positions = Positions(known)
        self._counted = counted
        """The tokens of each reply that are counted already: files replay one another."""
        self._reply: list[Line] = []
        self._skipped_inside: list[Record] = []
        self._environment: dict[str, Json] = {}
        self._boundary: Record = {}

    def items(self, lines: Iterable[Line | Skipped]) -> Iterator[Item]:
        """The messages of the lines, parents first."""
        for line in lines:
            if isinstance(line, Skipped):
                yield line
            elif not isinstance(line.value, dict):
                yield Skipped(line.place, "It is not an object.", line.value)
            elif self._continues_reply(line.value):
                self._reply.append(line)
            elif text_or_none(line.value.get("type")) in LEFT_OUT:
                self._skip(line.value)
            else:
                yield from self._finish_reply()
                yield from self._line_items(line)
        yield from self._finish_reply()

    def _continues_reply(self, record: Record) -> bool:
        if not self._reply or record.get("type") != "assistant":
            return False
        reply_id = message_of(record).get("id")
        return reply_id is not None and reply_id == message_of(self._reply[0].value).get("id")

    def _skip(self, record: Record) -> None:
        if self._reply:
            self._skipped_inside.append(record)  # Its parent may be a line of the reply, which has no position yet.
        else:
            self._positions.skip(record)

    def _line_items(self, line: Line) -> Iterator[Item]:
        record, kind = line.value, line.value.get("type")
        if kind == "assistant":
            self._reply.append(line)
        elif kind == "user" and isinstance(record.get("message"), dict):
            yield from self._user_items(line)
        elif text_or_none(record.get("subtype")) in TELEMETRY:
            self._positions.skip(record)
        elif record.get("subtype") == "compact_boundary":
            self._boundary = record
            self._positions.skip(record)
        elif isinstance(record.get("uuid"), str):
            yield self._message(line, note_message(record), self._positions.parent(record))
        else:
            yield Skipped(line.place, f"The line has the unknown type {kind!r}.", record)

    def _user_items(self, line: Line) -> Iterator[Item]:
        parent, rest = self._positions.parent(line.value), self._rest(line.value)
        covers = self._covers(parent) if line.value.get("isCompactSummary") and parent else None
        if covers and (metadata := self._boundary.get("compactMetadata")):
            rest["compactMetadata"] = metadata
        for number, message in enumerate(user_messages(line.value, rest)):
            yield self._message(line, message, parent, number, covers=None if number else covers)
            parent = self._positions.last
        self._note_subagent(line.value)

    def _covers(self, parent: Position) -> str:
        """The last message that a summary replaces; newer versions keep some messages at the end as they are."""
        kept = at(self._boundary, "compactMetadata", "preservedSegment", "headUuid")
        return self._positions.before(kept) or parent.message_id

    def _finish_reply(self) -> Iterator[Item]:
        """The reply whose lines were collected."""
        if not self._reply:
            return
        lines, self._reply = self._reply, []
        skipped, self._skipped_inside = self._skipped_inside, []
        reply_id = text_or_none(message_of(lines[0].value).get("id"))
        parent = self._positions.continues(reply_id) or self._positions.parent(lines[0].value)
        message = assistant_message((line.value for line in lines), self._rest(lines[-1].value))
        yield self._message(lines[0], message, parent, usage=self._usage(lines, reply_id))
        position = self._positions.last
        assert position is not None
        for line in lines:
            self._positions.put(str(line.value.get("uuid")), position)
        for record in skipped:
            self._positions.skip(record)
        self._positions.open(reply_id, position)
        self._note_calls(message, position)

    def _message(
        self,
        line: Line,
        message: Message,
        parent: Position | None,
        number: int = 0,
        covers: str | None = None,
        usage: Usage | None = None,
    ) -> ImportedMessage:
        record, position = line.value, self._position(line, message, parent, number, covers)
        kind: Kind = "summary" if covers else "message"
        is_reply = message.role == "assistant"
        return ImportedMessage(
            position.message_id,
            message,
            parent.message_id if parent else None,
            from_iso(record.get("timestamp")),
            kind=kind,
            covers=covers,
            turn=position.turn,
            model=_model(message_of(record)) if is_reply else None,
            provider="anthropic" if is_reply else None,
            usage=usage,
            request_id=text_or_none(record.get("requestId")),
        )

    def _position(
        self, line: Line, message: Message, parent: Position | None, number: int, covers: str | None
    ) -> Position:
        """The position of a new message. A turn begins only with a human's message after a reply."""
        uuid = text_or_none(line.value.get("uuid")) or f"{self._name}:{line.place.rpartition(':')[2]}"
        message_id = f"{uuid}#{number}" if number else uuid
        is_human = message.role == "user" and not covers and not line.value.get("isMeta")
        begins_turn = parent is None or (is_human and parent.role != "user")
        role = "system" if covers else message.role
        position = Position(message_id, message_id if parent is None or begins_turn else parent.turn, role)
        self._positions.add(uuid, position, parent)
        return position

    def _rest(self, record: Record) -> Record:
        """The fields of a line other than its message; those of the environment only where they changed."""
        rest = {key: value for key, value in record.items() if key not in NOT_IN_ENVELOPE}
        for key in ENVIRONMENT:
            if key in record and record[key] != self._environment.get(key):
                rest[key] = self._environment[key] = record[key]
        reply = {
            key: value for key, value in message_of(record).items() if value is not None and key not in REPLY_FIELDS
        }
        return {**rest, "message": reply} if reply else rest

    def _usage(self, lines: list[Line], reply_id: str | None) -> Usage | None:
        """The tokens of a reply that are not counted yet: every line repeats them, and the last has the final count.

        A reply whose first calls were answered before it was complete is several messages: each has what came later.
        """
        counts = [usage for line in lines if isinstance(usage := message_of(line.value).get("usage"), dict)]
        if not counts:
            return None
        usage = decode_usage(max(counts, key=lambda one: count(one, "output_tokens") or 0))
        before = self._counted.get(reply_id) if reply_id else None
        if reply_id:
            self._counted[reply_id] = usage if before is None else highest(usage, before)
        if before is None:
            return usage
        return subtract(usage, before) if (usage.output_tokens or 0) > (before.output_tokens or 0) else None

    def _note_calls(self, message: Message, position: Position) -> None:
        for call in message.calls:
            if call.name in SUBAGENT_TOOLS and (given := parsed(call.arguments)):
                agent, title = text_or_none(given.get("subagent_type")), text_or_none(given.get("description"))
                started = SubagentCall(self._name, position.message_id, call.call_id, agent, title)
                self._calls[call.call_id] = started
                if isinstance(prompt := given.get("prompt"), str):
                    self._calls[prompt] = started

    def _note_subagent(self, record: Record) -> None:
        agent, content = at(record, "toolUseResult", "agentId"), message_of(record).get("content")
        call_id = at(content[0], "tool_use_id") if isinstance(content, list) and content else None
        if isinstance(agent, str) and isinstance(call_id, str) and call_id in self._calls:
            self._calls[agent] = self._calls[call_id]


def _model(reply: Record) -> str | None:
    """The model of a reply; None for a message of Claude Code itself in place of a reply."""
    model = text_or_none(reply.get("model"))
    return None if model == "<synthetic>" else model
