"""The tree that the lines of one Claude Code file tell, line by line.

One reply of the model is several lines with the same `message.id`, a block each, which become one message; it is called
by its first line, so that a reply that was still being written is known again. Calls that were made together are
answered on branches of their own, which become one path. A parent that is nowhere to be found is taken to be the line
before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from bough.formats.anthropic import decode_usage
from bough.formats.payload import at, count, parsed, text_or_none
from bough.importers.claude_code.positions import Place, Places
from bough.importers.claude_code.records import (
    SCENE,
    TOLD_ELSEWHERE,
    Record,
    assistant_message,
    message_of,
    note_message,
    user_messages,
)
from bough.importers.common.json_reader import Line
from bough.importers.common.timestamps import from_iso
from bough.model import Json, Kind, Message, Usage
from bough.model.imported import ImportedMessage, Item, Skipped

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
"""Lines that are no part of what was said: how far a tool is, what the screen showed, what the session is called."""
TELEMETRY = {"turn_duration", "stop_hook_summary", "bridge_status"}
NOT_BESIDE = TOLD_ELSEWHERE.union(SCENE, ("requestId",))
OF_A_REPLY = {"role", "content", "type", "model"}
"""What a message of bough's, or its turn, says itself."""
SPAWNERS = ("Task", "Agent")


class Spawn(NamedTuple):
    """How a subagent began: the conversation, the message and the call in it that asked for it, and its names."""

    conversation: str
    said: str
    call: str
    agent: str | None = None
    title: str | None = None


class Thread:
    """Takes the lines of one file in their order."""

    def __init__(self, name: str, known: dict[str, Place], counted: set[str], spawned: dict[str, Spawn]) -> None:
        self._name = name
        self._spawned = spawned
        """How each subagent began: by its id, by the call and by the words it was given."""
        self._places = Places(known)
        self._counted = counted
        """The replies whose tokens were told already: files replay one another."""
        self._reply: list[Line] = []
        self._passed: list[Record] = []
        self._scene: dict[str, Json] = {}
        self._boundary: Record = {}

    def items(self, lines: Iterable[Line | Skipped]) -> Iterator[Item]:
        """What the lines tell, parents first."""
        for told in lines:
            if isinstance(told, Skipped):
                yield told
            elif not isinstance(told.value, dict):
                yield Skipped(told.place, "not an object", told.value)
            elif self._continues(told.value):
                self._reply.append(told)
            elif text_or_none(told.value.get("type")) in LEFT_OUT:
                self._pass_by(told.value)
            else:
                yield from self._finish_reply()
                yield from self._tell(told)
        yield from self._finish_reply()

    def _continues(self, line: Record) -> bool:
        if not self._reply or line.get("type") != "assistant":
            return False
        name = message_of(line).get("id")
        return name is not None and name == message_of(self._reply[0].value).get("id")

    def _pass_by(self, line: Record) -> None:
        if self._reply:
            self._passed.append(line)  # it may hang on a line of the reply, which has no place yet
        else:
            self._places.pass_by(line)

    def _tell(self, told: Line) -> Iterator[Item]:
        line, kind = told.value, told.value.get("type")
        if kind == "assistant":
            self._reply.append(told)
        elif kind == "user" and isinstance(line.get("message"), dict):
            yield from self._tell_user(told)
        elif text_or_none(line.get("subtype")) in TELEMETRY:
            self._places.pass_by(line)
        elif line.get("subtype") == "compact_boundary":
            self._boundary = line
            self._places.pass_by(line)
        elif isinstance(line.get("uuid"), str):
            yield self._said(told, note_message(line), self._places.parent(line))
        else:
            yield Skipped(told.place, f"a line of the type {kind!r}, which is not known", line)

    def _tell_user(self, told: Line) -> Iterator[Item]:
        parent, rest = self._places.parent(told.value), self._rest(told.value)
        covers = self._covers(parent) if told.value.get("isCompactSummary") and parent else None
        if covers and (metadata := self._boundary.get("compactMetadata")):
            rest["compactMetadata"] = metadata
        for position, message in enumerate(user_messages(told.value, rest)):
            yield self._said(told, message, parent, position, covers=None if position else covers)
            parent = self._places.last
        self._note_subagent(told.value)

    def _covers(self, parent: Place) -> str:
        """The last message that a summary speaks for; newer versions keep those at the end as they are."""
        kept = at(self._boundary, "compactMetadata", "preservedSegment", "headUuid")
        return self._places.before(kept) or parent.said

    def _finish_reply(self) -> Iterator[Item]:
        """Tells the reply whose lines were gathered."""
        if not self._reply:
            return
        told, self._reply = self._reply, []
        passed, self._passed = self._passed, []
        reply_id = text_or_none(message_of(told[0].value).get("id"))
        parent = self._places.continues(reply_id) or self._places.parent(told[0].value)
        message = assistant_message((one.value for one in told), self._rest(told[-1].value))
        yield self._said(told[0], message, parent, usage=self._usage(told, reply_id))
        place = self._places.last
        assert place is not None
        for one in told:
            self._places.put(str(one.value.get("uuid")), place)
        for line in passed:
            self._places.pass_by(line)
        self._places.begin_step(reply_id, place)
        self._note_calls(message, place)

    def _said(
        self,
        told: Line,
        message: Message,
        parent: Place | None,
        position: int = 0,
        covers: str | None = None,
        usage: Usage | None = None,
    ) -> ImportedMessage:
        line, place = told.value, self._place(told, message, parent, position, covers)
        kind: Kind = "summary" if covers else "message"
        spoken = message.role == "assistant"
        return ImportedMessage(
            place.said,
            message,
            parent.said if parent else None,
            from_iso(line.get("timestamp")),
            kind=kind,
            covers=covers,
            turn=place.turn,
            model=_model(message_of(line)) if spoken else None,
            provider="anthropic" if spoken else None,
            usage=usage,
            request_id=text_or_none(line.get("requestId")),
        )

    def _place(self, told: Line, message: Message, parent: Place | None, position: int, covers: str | None) -> Place:
        """The place of a new message. Only what a human said after a reply begins a turn."""
        name = text_or_none(told.value.get("uuid")) or f"{self._name}:{told.place.rpartition(':')[2]}"
        said = f"{name}#{position}" if position else name
        human = message.role == "user" and not covers and not told.value.get("isMeta")
        begins = parent is None or (human and parent.role != "user")
        role = "system" if covers else message.role
        place = Place(said, said if parent is None or begins else parent.turn, role)
        self._places.told(name, place, parent)
        return place

    def _rest(self, line: Record) -> Record:
        """What a line says beside its message; the scene only where it changed."""
        rest = {key: value for key, value in line.items() if key not in NOT_BESIDE}
        for key in SCENE:
            if key in line and line[key] != self._scene.get(key):
                rest[key] = self._scene[key] = line[key]
        shell = {key: value for key, value in message_of(line).items() if value is not None and key not in OF_A_REPLY}
        return {**rest, "message": shell} if shell else rest

    def _usage(self, told: list[Line], reply_id: str | None) -> Usage | None:
        """The tokens of a reply, once: each of its lines repeats them, and the count grows."""
        counts = [usage for one in told if isinstance(usage := message_of(one.value).get("usage"), dict)]
        if not counts or reply_id in self._counted:
            return None
        if reply_id:
            self._counted.add(reply_id)
        return decode_usage(max(counts, key=lambda one: count(one, "output_tokens") or 0))

    def _note_calls(self, message: Message, place: Place) -> None:
        for call in message.calls:
            if call.name in SPAWNERS and (given := parsed(call.arguments)):
                agent, title = text_or_none(given.get("subagent_type")), text_or_none(given.get("description"))
                spawn = Spawn(self._name, place.said, call.call_id, agent, title)
                self._spawned[call.call_id] = spawn
                if isinstance(prompt := given.get("prompt"), str):
                    self._spawned[prompt] = spawn

    def _note_subagent(self, line: Record) -> None:
        agent, content = at(line, "toolUseResult", "agentId"), message_of(line).get("content")
        call = at(content[0], "tool_use_id") if isinstance(content, list) and content else None
        if isinstance(agent, str) and isinstance(call, str) and call in self._spawned:
            self._spawned[agent] = self._spawned[call]


def _model(reply: Record) -> str | None:
    """The model of a reply; what Claude Code itself says in the model's place is nobody's."""
    model = text_or_none(reply.get("model"))
    return None if model == "<synthetic>" else model
