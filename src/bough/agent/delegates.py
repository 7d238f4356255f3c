"""Subagents: an agent as a tool of another, in a session of its own that is linked to the call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bough.agent.events import Listener, ignore
from bough.agent.limits import Stop
from bough.agent.loop import run
from bough.agent.tools import Bound, Call, Result, valid_name
from bough.agent.types import Agent
from bough.errors import ToolError
from bough.model import Json, Text, Tool, keys

if TYPE_CHECKING:
    from bough.session import Session

MAX_DEPTH = 3
"""Maximum depth of nested subagents."""
PARAMETERS: Json = {
    "type": "object",
    "properties": {
        "task": {
            "type": "string",
            "description": "What to do, with everything that must be known for it: nothing else of this conversation "
            "is seen.",
        }
    },
    "required": ["task"],
    "additionalProperties": False,
}


def delegate(agent: Agent, listener: Listener = ignore) -> Bound:
    """A tool that hands a task to another agent in this process.

    Each call runs in a session of its own, labelled `subagent:{name}:{run}` and linked to the message and the call that
    started it. The result is the text of the agent's last reply.
    """

    def work(arguments: dict[str, Json], call: Call) -> Result:
        task = task_of(arguments)
        return work_on(agent, session_for(agent, call.session, call.message, call.call_id), task, call.stop, listener)

    return Bound(tool_for(agent), work)


def tool_for(agent: Agent) -> Tool:
    """The tool definition of an agent."""
    return Tool(valid_name(agent.name), agent.description or f"Hands a task to the agent {agent.name!r}.", PARAMETERS)


def task_of(arguments: dict[str, Json]) -> str:
    """The task in the arguments of a call. Raises `ToolError`."""
    task = arguments.get("task")
    if not isinstance(task, str) or not task.strip():
        raise ToolError("A task in words is needed, as `task`. Nothing was done; call again.")
    return task


def session_for(agent: Agent, calling: Session, message: str | None, call_id: str | None) -> Session:
    """A session for one run of an agent, linked to the calling one. Raises `ToolError` beyond `MAX_DEPTH`."""
    if calling.key.count(keys.DELEGATE) >= MAX_DEPTH:
        raise ToolError(f"This task was handed on {MAX_DEPTH} times already; do it without another agent.")
    return calling.delegate(agent.name, message=message, call_id=call_id, own=True)


def work_on(agent: Agent, session: Session, task: str, stop: Stop, listener: Listener = ignore) -> Result:
    """Run a task. The result is the text of the last reply, or an error with the reason why there is none."""
    done = run(agent, session, task, listener=listener, stop=stop)
    where: Json = {"bough": {"session": session.key, "turn": done.turn}}
    if done.status == "complete":
        return Result((Text(done.text),), extra=where)
    ended = agent.limits.describe(done.reason) if done.reason else "It ended without a reply."
    partial = f" It had said: {done.text}" if done.text else ""
    return Result((Text(f"The agent {agent.name!r} did not finish. {ended}{partial}"),), True, where)
