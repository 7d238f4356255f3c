"""The agent of an editor: sessions of the store, prompts as turns, updates while they are answered."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import IO, TYPE_CHECKING, Any, TypeAlias

import bough
from bough.agent.acp.content import answered, called, message_of, text, updates
from bough.agent.acp.rpc import Params, RpcConnection
from bough.agent.events import Answered, Began, Called, Compacted, Replied
from bough.agent.limits import Stop
from bough.agent.loop import run
from bough.errors import Invalid, NotFound
from bough.model.ids import mint
from bough.model.times import iso
from bough.model.values import replace

if TYPE_CHECKING:
    from bough.agent.events import Event
    from bough.agent.tools import Bound
    from bough.agent.types import Agent, Outcome
    from bough.model import SessionInfo
    from bough.session import Session
    from bough.store import Store

PROTOCOL = 1
PAGE = 50
MESSAGE = "bough/message"
"""In the `_meta` of a fork: the message to fork at, and of an update: the message."""
CHUNKS = {"text": "agent_message_chunk", "thinking": "agent_thought_chunk"}
"""The update for a piece of an answer, by its kind."""
AgentFor: TypeAlias = "Callable[[SessionInfo], Agent]"


def serve(store: Store, agent_for: AgentFor, reading: IO[str], writing: IO[str]) -> None:
    """Serve an editor until it closes its side; turns that run then are interrupted, and can be resumed."""
    with EditorAgent(store, agent_for) as agent:
        agent.connect(reading, writing).serve()


class EditorAgent:
    """Answers one editor."""

    def __init__(self, store: Store, agent_for: AgentFor) -> None:
        self._store = store
        self._agent_for = agent_for
        self._tools: dict[str, list[Bound]] = {}
        self._running: dict[str, Stop] = {}
        self._lock = threading.Lock()
        self._stack = ExitStack()
        self._client: RpcConnection | None = None

    def __enter__(self) -> EditorAgent:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def connect(self, reading: IO[str], writing: IO[str]) -> RpcConnection:
        """The connection to the editor."""
        methods = {
            "initialize": self.initialize, "authenticate": lambda _: {}, "session/new": self.new,
            "session/load": self.load, "session/resume": self.resume, "session/list": self.list,
            "session/prompt": self.prompt, "session/fork": self.fork, "session/close": self.close,
        }  # fmt: skip
        self._client = RpcConnection(reading, writing, methods, {"session/cancel": self.cancel}, self.end)
        return self._client

    def initialize(self, _: Params) -> Any:
        """What this agent can do."""
        return {
            "protocolVersion": PROTOCOL,
            "agentInfo": {"name": "bough", "title": "bough", "version": bough.__version__},
            "agentCapabilities": {
                "loadSession": True,
                "promptCapabilities": {"image": True, "audio": True, "embeddedContext": True},
                "mcpCapabilities": {"http": True, "sse": False},
                "sessionCapabilities": {"list": {}, "resume": {}, "fork": {}, "close": {}},
            },
            "authMethods": [],
        }

    def new(self, params: Params) -> Any:
        """A new session in a directory."""
        session = self._store.session(f"acp:{mint(12)}", directory=directory_of(params))
        self._equip(session.key, params)
        return {"sessionId": session.key}

    def load(self, params: Params) -> Any:
        """Take up a session, and show the whole dialog again."""
        session = self._known(params)
        self._equip(session.key, params)
        for node in session.path():
            for update in updates(node):
                self._update(session.key, update)
        return {}

    def resume(self, params: Params) -> Any:
        """Take up a session, without showing it."""
        self._equip(self._known(params).key, params)
        return {}

    def list(self, params: Params) -> Any:
        """A page of sessions, of any program, the last used first."""
        cursor = params.get("cursor")
        if cursor is not None and not str(cursor).isdecimal():
            raise Invalid("That is no cursor of this list; begin without one.")
        found = self._store.sessions(
            directory=params.get("cwd"), delegates=False, limit=PAGE + 1, before=None if cursor is None else int(cursor)
        )
        shown = [
            {"sessionId": one.info.key, "cwd": one.info.directory or os.getcwd(), "title": one.title or None,
             "updatedAt": iso(one.info.updated_at)}
            for one in self._store.previews(found[:PAGE])
        ]  # fmt: skip
        return {"sessions": shown} | ({"nextCursor": str(found[PAGE - 1].cursor)} if len(found) > PAGE else {})

    def fork(self, params: Params) -> Any:
        """A new session at the head of one, or at the message that `_meta` names."""
        at = (params.get("_meta") or {}).get(MESSAGE)
        made = self._known(params).fork(at, f"acp:{mint(12)}")
        made.update(directory=directory_of(params))
        self._equip(made.key, params)
        return {"sessionId": made.key}

    def prompt(self, params: Params) -> Any:
        """Ask, and answer when the turn has ended. Raises what `run` raises."""
        session = self._known(params)
        message, stop = message_of(params["prompt"]), Stop()
        agent = self._agent_for(session.info)
        agent = replace(agent, tools=[*agent.tools, *self._tools.get(session.key, ())])
        with self._lock:
            if session.key in self._running:
                raise Invalid(f"Session {session.key!r} is answering another prompt; cancel it first.")
            self._running[session.key] = stop
        try:
            done = run(agent, session, message, listener=lambda event: self._heard(session.key, event), stop=stop)
        finally:
            del self._running[session.key]
            agent.provider.close()
        return {"stopReason": stop_reason(done), "_meta": {MESSAGE: done.last, "bough/turn": done.turn}}

    def cancel(self, params: Params) -> None:
        """Stop a prompt: what came of the answer stays in the dialog."""
        if (stop := self._running.get(str(params.get("sessionId")))) is not None:
            stop.set()

    def close(self, params: Params) -> Any:
        """The editor is done with a session, which stays in the store."""
        self.cancel(params)
        self._tools.pop(str(params.get("sessionId")), None)
        return {}

    def end(self) -> None:
        """Interrupt everything: the editor is gone."""
        for stop in list(self._running.values()):
            stop.set(by_user=False)

    def _known(self, params: Params) -> Session:
        """The session that a request names. Raises `NotFound`."""
        key = str(params["sessionId"])
        if self._store.find_session(key) is None:
            raise NotFound(f"There is no session {key!r:.80}; session/list has those that there are.")
        directory = params.get("cwd")
        return self._store.session(key, directory=str(directory) if directory else None)

    def _equip(self, key: str, params: Params) -> None:
        """Start the MCP servers that the editor gives a session. Raises `ToolError`."""
        given: Sequence[Mapping[str, Any]] = params.get("mcpServers") or ()
        if not given:
            return
        from bough.agent.mcp import Server, Servers

        started = self._stack.enter_context(Servers([Server.of(str(one["name"]), table_of(one)) for one in given]))
        self._tools[key] = started.tools(None)

    def _heard(self, key: str, event: Event) -> None:
        match event:
            case Called():
                self._update(key, called(event.call))
            case Answered():
                self._update(key, answered(event.result))
            case Began() | Compacted() | Replied():
                pass
            case piece if piece.kind in CHUNKS:
                self._update(key, {"sessionUpdate": CHUNKS[piece.kind], "content": text(piece.text)})

    def _update(self, key: str, update: dict[str, Any]) -> None:
        assert self._client is not None
        self._client.notify("session/update", {"sessionId": key, "update": update})


def directory_of(params: Params) -> str:
    """The directory of a session. Raises `Invalid` unless it is absolute."""
    directory = str(params["cwd"])
    if not os.path.isabs(directory):
        raise Invalid(f"cwd is an absolute path, not {directory!r:.80}; nothing was done.")
    return directory


def table_of(server: Mapping[str, Any]) -> dict[str, Any]:
    """An editor's MCP server as the configuration has one."""
    pairs = {str(one["name"]): str(one["value"]) for one in server.get("env") or server.get("headers") or ()}
    if "url" in server:
        return {"url": server["url"], "headers": pairs}
    return {"command": [str(server["command"]), *map(str, server.get("args") or ())], "env": pairs}


def stop_reason(done: Outcome) -> str:
    """Why a turn ended, as the protocol says it."""
    if done.status == "stopped":
        return "cancelled"
    return "max_turn_requests" if done.reason is not None else "end_turn"
