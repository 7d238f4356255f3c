"""The sessions of one Claude Code project, each with its subagents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from bough.errors import ImporterError
from bough.formats.payload import text_or_none
from bough.importers.claude_code.file_names import agent_id, raw_lines, session_id, stem
from bough.importers.claude_code.metadata import SessionMetadata
from bough.importers.claude_code.sidechains import Sidechains
from bough.importers.claude_code.thread import SubagentCall, Thread
from bough.importers.common.files import Files
from bough.importers.common.json_reader import Line, json_lines, read_json
from bough.importers.common.position import Position
from bough.importers.common.titles import shortened
from bough.model import Json, Usage
from bough.model.imported import Conversation, Item, Skipped
from bough.model.values import replace

NAME = "claude-code"


class SessionGroup(NamedTuple):
    """A session with its subagents, and what determines its place in the import order."""

    began: int
    ended: int
    family: str
    """The same for sessions that may share their beginning."""
    conversations: Iterator[Conversation]
    """The session, then the subagents that it started; read once."""


class Project:
    """Reads the files of one project together: they replay and continue one another."""

    def __init__(self, files: Files, names: Iterable[str]) -> None:
        self._files = files
        self._metadata = {name: SessionMetadata(raw_lines(files, name)) for name in names}
        self._summaries = {leaf: text for one in self._metadata.values() for leaf, text in one.summaries.items()}
        self._known: dict[str, Position] = {}
        self._counted: dict[str, Usage] = {}

    def sessions(self) -> Iterator[SessionGroup]:
        """The sessions, oldest first."""
        subagents = self._subagents()
        for name in sorted((name for name in self._metadata if agent_id(name) is None), key=self._order):
            yield self._group(name, self._conversations(name, subagents.pop(stem(name), [])))
        for session, agents in subagents.items():  # Their session's file is missing.
            yield self._group(agents[0], iter([self._subagent(agent, session, {}) for agent in agents]))

    def _group(self, name: str, conversations: Iterator[Conversation]) -> SessionGroup:
        metadata = self._metadata[name]
        return SessionGroup(metadata.began or 0, metadata.ended or 0, metadata.first or name, conversations)

    def _conversations(self, name: str, agents: list[str]) -> Iterator[Conversation]:
        calls: dict[str, SubagentCall] = {}
        yield from self._session(name, calls)
        for agent in agents:
            yield self._subagent(agent, stem(name), calls)

    def _order(self, name: str) -> tuple[int, str]:
        return self._metadata[name].began or 0, name

    def _subagents(self) -> dict[str, list[str]]:
        """The subagents' files, oldest first, by session."""
        found: dict[str, list[str]] = {}
        for name in sorted((name for name in self._metadata if agent_id(name) is not None), key=self._order):
            session = session_id(name) or self._metadata[name].session or stem(name)
            found.setdefault(session, []).append(name)
        return found

    def _session(self, name: str, calls: dict[str, SubagentCall]) -> Iterator[Conversation]:
        metadata, sidechains, session = self._metadata[name], Sidechains(self._files, name), stem(name)
        title = metadata.title(self._summaries, raw_lines(self._files, name))
        yield _conversation(metadata, session, self._items(session, sidechains.main_lines(), calls), title)
        for root, prompt in sidechains.prompts.items():
            items = self._items(f"{session}:{root}", sidechains.lines_of(root), calls)
            call = calls.get(prompt) or SubagentCall(session, "", "")
            conversation = _conversation(metadata, f"{session}:{root}", items, shortened(prompt), call)
            yield replace(conversation, created_at=None, updated_at=None, extra=None)

    def _subagent(self, name: str, session: str, calls: dict[str, SubagentCall]) -> Conversation:
        metadata, agent, meta = self._metadata[name], agent_id(name) or "", self._meta(name)
        call_id = text_or_none(meta.get("toolUseId"))
        found = (calls[key] for key in (agent, call_id, metadata.prompt) if key in calls)
        call = next(found, SubagentCall(session, "", call_id or ""))
        role, title = text_or_none(meta.get("agentType")), text_or_none(meta.get("description"))
        call = call._replace(agent=role or call.agent, title=title or call.title)
        items = self._items(f"{session}:{agent}", self._lines(name), calls)
        return _conversation(metadata, f"{session}:{agent}", items, shortened(metadata.prompt or ""), call)

    def _items(self, name: str, lines: Iterable[Line | Skipped], calls: dict[str, SubagentCall]) -> Iterator[Item]:
        return Thread(name, self._known, self._counted, calls).items(lines)

    def _lines(self, name: str) -> Iterator[Line | Skipped]:
        with self._files.open(name) as stream:
            yield from json_lines(stream, name)

    def _meta(self, name: str) -> dict[str, Json]:
        """The `.meta.json` that newer versions write for a subagent."""
        meta_name = name.removesuffix(".jsonl") + ".meta.json"
        if meta_name not in self._files.names:
            return {}
        try:
            with self._files.open(meta_name) as stream:
                meta = read_json(stream, meta_name)
        except ImporterError:
            return {}
        return meta if isinstance(meta, dict) else {}


def _conversation(
    metadata: SessionMetadata, id: str, items: Iterable[Item], title: str | None, call: SubagentCall | None = None
) -> Conversation:
    extra = {key: text for key, text in metadata.environment.items() if key != "cwd"} | metadata.notes
    conversation = Conversation(
        NAME,
        id,
        items,
        title=title,
        directory=text_or_none(metadata.environment.get("cwd")),
        model=metadata.model,
        agent=metadata.notes.get("agent-setting"),
        created_at=metadata.began,
        updated_at=metadata.ended,
        extra={NAME: extra} if extra else None,
    )
    return conversation if call is None else _with_parent(conversation, call)


def _with_parent(conversation: Conversation, call: SubagentCall) -> Conversation:
    return replace(
        conversation,
        title=call.title or conversation.title,
        agent=call.agent or conversation.agent,
        parent=call.conversation,
        parent_message=call.message_id or None,
        parent_call=call.call_id or None,
    )
