"""The sessions of one project, each with the subagents that it began."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from bough.errors import ImporterError
from bough.formats.payload import text_or_none
from bough.importers.claude_code.file_names import agent_id, raw_lines, session_id, stem
from bough.importers.claude_code.metadata import Heading
from bough.importers.claude_code.positions import Place
from bough.importers.claude_code.sidechains import Sides
from bough.importers.claude_code.thread import Spawn, Thread
from bough.importers.common.files import Files
from bough.importers.common.json_reader import Line, json_lines, read_json
from bough.importers.common.titles import shortened
from bough.model import Json
from bough.model.imported import Conversation, Item, Skipped
from bough.model.values import replace

NAME = "claude-code"


class Session(NamedTuple):
    """A session that can be told: when it was used, with which others it may share its beginning, and all of it."""

    began: int
    ended: int
    family: str
    conversations: Iterator[Conversation]
    """Its own, and after it those of the subagents that it began; read once."""


class Project:
    """Reads the files of one project. They replay and continue one another, and so share what is known."""

    def __init__(self, files: Files, names: Iterable[str]) -> None:
        self._files = files
        self._headings = {name: Heading(raw_lines(files, name)) for name in names}
        self._summaries = {leaf: words for one in self._headings.values() for leaf, words in one.summaries.items()}
        self._known: dict[str, Place] = {}
        self._counted: set[str] = set()

    def sessions(self) -> Iterator[Session]:
        """The sessions, oldest first."""
        waiting = self._subagents()
        for name in sorted((name for name in self._headings if agent_id(name) is None), key=self._order):
            yield self._told(name, self._conversations(name, waiting.pop(stem(name), [])))
        for session, agents in waiting.items():
            yield self._told(agents[0], iter([self._subagent(agent, session, {}) for agent in agents]))

    def _told(self, name: str, conversations: Iterator[Conversation]) -> Session:
        heading = self._headings[name]
        return Session(heading.began or 0, heading.ended or 0, heading.first or name, conversations)

    def _conversations(self, name: str, agents: list[str]) -> Iterator[Conversation]:
        spawned: dict[str, Spawn] = {}
        yield from self._session(name, spawned)
        for agent in agents:
            yield self._subagent(agent, stem(name), spawned)

    def _order(self, name: str) -> tuple[int, str]:
        return self._headings[name].began or 0, name

    def _subagents(self) -> dict[str, list[str]]:
        """The subagents' files, oldest first, by the session that each belongs to."""
        found: dict[str, list[str]] = {}
        for name in sorted((name for name in self._headings if agent_id(name) is not None), key=self._order):
            session = session_id(name) or self._headings[name].session or stem(name)
            found.setdefault(session, []).append(name)
        return found

    def _session(self, name: str, spawned: dict[str, Spawn]) -> Iterator[Conversation]:
        heading, sides, session = self._headings[name], Sides(self._files, name), stem(name)
        title = heading.title(self._summaries, raw_lines(self._files, name))
        yield _conversation(heading, session, self._items(session, sides.main(), spawned), title)
        for root, prompt in sides.prompts.items():
            items = self._items(f"{session}:{root}", sides.of(root), spawned)
            spawn = spawned.get(prompt) or Spawn(session, "", "")
            inside = _conversation(heading, f"{session}:{root}", items, shortened(prompt), spawn)
            yield replace(inside, created_at=None, updated_at=None, extra=None)

    def _subagent(self, name: str, session: str, spawned: dict[str, Spawn]) -> Conversation:
        heading, agent, meta = self._headings[name], agent_id(name) or "", self._meta(name)
        call = text_or_none(meta.get("toolUseId"))
        begun = (spawned[key] for key in (agent, call, heading.prompt) if key in spawned)
        spawn = next(begun, Spawn(session, "", call or ""))
        role, title = text_or_none(meta.get("agentType")), text_or_none(meta.get("description"))
        spawn = spawn._replace(agent=role or spawn.agent, title=title or spawn.title)
        items = self._items(f"{session}:{agent}", self._lines(name), spawned)
        return _conversation(heading, f"{session}:{agent}", items, shortened(heading.prompt or ""), spawn)

    def _items(self, name: str, told: Iterable[Line | Skipped], spawned: dict[str, Spawn]) -> Iterator[Item]:
        return Thread(name, self._known, self._counted, spawned).items(told)

    def _lines(self, name: str) -> Iterator[Line | Skipped]:
        with self._files.open(name) as stream:
            yield from json_lines(stream, name)

    def _meta(self, name: str) -> dict[str, Json]:
        """What newer versions note beside a subagent's file."""
        beside = name.removesuffix(".jsonl") + ".meta.json"
        if beside not in self._files.names:
            return {}
        try:
            with self._files.open(beside) as stream:
                meta = read_json(stream, beside)
        except ImporterError:
            return {}
        return meta if isinstance(meta, dict) else {}


def _conversation(
    heading: Heading, name: str, items: Iterable[Item], title: str | None, spawn: Spawn | None = None
) -> Conversation:
    scene = {key: words for key, words in heading.scene.items() if key != "cwd"} | heading.notes
    told = Conversation(
        NAME,
        name,
        items,
        title=title,
        directory=text_or_none(heading.scene.get("cwd")),
        model=heading.model,
        agent=heading.notes.get("agent-setting"),
        created_at=heading.began,
        updated_at=heading.ended,
        extra={NAME: scene} if scene else None,
    )
    return told if spawn is None else _spawned(told, spawn)


def _spawned(told: Conversation, spawn: Spawn) -> Conversation:
    return replace(
        told,
        title=spawn.title or told.title,
        agent=spawn.agent or told.agent,
        parent=spawn.conversation,
        parent_message=spawn.said or None,
        parent_call=spawn.call or None,
    )
