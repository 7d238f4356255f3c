"""Tools with their implementation, and the toolbox of a run."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Protocol, TypeAlias

from bough.agent.limits import Stop
from bough.errors import Invalid, ToolError
from bough.model import Json, Media, Other, Text, Tool, ToolCall
from bough.model.values import replace, value

if TYPE_CHECKING:
    from bough.session import Session

Content: TypeAlias = Text | Media | Other

LONGEST_NAME = 64
NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")
"""Names that every provider accepts for a tool."""


@value
class Call:
    """Context of one tool call: the calling session, and the signal to stop."""

    session: Session
    message: str
    """Id of the message with the call."""
    call_id: str
    name: str
    stop: Stop


@value
class Result:
    """The result of a tool call."""

    content: tuple[Content, ...] = ()
    error: bool = False
    extra: Json = None

    @classmethod
    def failed(cls, why: str) -> Result:
        """An error result; the text is for the model."""
        return cls((Text(why),), True)

    @classmethod
    def of(cls, returned: Json) -> Result:
        """Convert a return value: a string, content blocks, or anything that can be JSON."""
        if isinstance(returned, Result):
            return returned
        if isinstance(returned, (str, Text, Media, Other)):
            returned = [returned]
        if isinstance(returned, (list, tuple)) and all(isinstance(one, (str, Text, Media, Other)) for one in returned):
            return cls(tuple(Text(one) if isinstance(one, str) else one for one in returned))
        return cls(() if returned is None else (Text(json.dumps(returned, ensure_ascii=False)),))


@value
class Bound:
    """A tool with its implementation. `seconds` overrides `Limits.tool_seconds`. Raises `Invalid` for a bad name."""

    tool: Tool
    run: Callable[[dict[str, Json], Call], Result]
    seconds: float | None = None

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.tool.name):
            raise Invalid(
                f"A tool cannot be called {self.tool.name!r:.80}: letters, digits, _ and -, at most {LONGEST_NAME} "
                "of them, not beginning with a digit."
            )


class ToolSource(Protocol):
    """A source of tools. Queried before every request, because its tools may change."""

    def tools(self) -> Sequence[Bound]:
        """The tools that are available now."""


class Toolbox:
    """All tools of a run, by the names given to the model."""

    def __init__(self, sources: Iterable[Bound | ToolSource] = ()) -> None:
        self._sources = tuple(sources)
        self._bound: dict[str, Bound] = {}

    def tools(self) -> tuple[Tool, ...]:
        """The tools for the next request. If two have the same name, the later one is renamed."""
        self._bound = {}
        for source in self._sources:
            for bound in [source] if isinstance(source, Bound) else source.tools():
                name = free_name(bound.tool.name, self._bound)
                self._bound[name] = replace(bound, tool=replace(bound.tool, name=name))
        return tuple(bound.tool for bound in self._bound.values())

    def find(self, call: ToolCall) -> tuple[Bound, dict[str, Json]]:
        """The tool and the arguments of a call. Raises `ToolError`, whose text is for the model."""
        bound = self._bound.get(call.name)
        if bound is None:
            known = ", ".join(self._bound) or "none"
            raise ToolError(f"There is no tool {call.name!r:.80}. There are: {known}.")
        return bound, arguments_of(call)


def arguments_of(call: ToolCall) -> dict[str, Json]:
    """The arguments of a call as an object; empty if blank. Raises `ToolError`."""
    if not call.arguments.strip():
        return {}
    try:
        given = call.input
    except ValueError as problem:
        raise ToolError(f"The arguments are not JSON: {problem}. Nothing was done; call again.") from None
    if not isinstance(given, dict):
        raise ToolError("The arguments are not a JSON object. Nothing was done; call again.")
    return given


def valid_name(text: str) -> str:
    """A tool name that every provider accepts, derived from a text."""
    name = re.sub(r"[^a-zA-Z0-9_-]", "_", text) or "_"
    name = name if NAME.match(name) else f"_{name}"
    if len(name) <= LONGEST_NAME:
        return name
    # A hash of the whole text keeps apart long names with the same beginning.
    mark = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return f"{name[: LONGEST_NAME - len(mark) - 1]}_{mark}"


def free_name(name: str, taken: Iterable[str]) -> str:
    """The name, with a number appended if it is taken."""
    taken, number, found = set(taken), 2, name
    while found in taken:
        found = f"{name[: LONGEST_NAME - 4]}_{number}"  # room for a number of three digits
        number += 1
    return found
