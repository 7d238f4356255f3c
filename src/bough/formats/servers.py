"""What single servers of one family send and refuse: the dialects of Chat Completions and of the Responses API.

A family is a shape, a server is a dialect of it. Each row has only what differs from the defaults, which are those of a
careful compatible server.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from bough.errors import FormatError


@dataclass(frozen=True, slots=True)
class ServerDialect:
    """How one server differs from its family. A field that it does not name is sent as it came."""

    name: str
    reasoning: tuple[str, ...] = ()
    """Fields of an assistant message in which the server takes its own reasoning back. It refuses or ignores others."""
    reasoning_in_turn: bool = False
    """Whether it takes reasoning back only beside tool calls."""
    parts: bool = False
    """Whether content may have parts of type `thinking`."""
    call_id: tuple[str, int] = ("!-~", 40)
    """Characters and length of a tool call's id,"""
    exact: bool = False
    """and whether the length is exact."""
    empty: bool = True
    """Whether an assistant message may have the empty string as its content."""
    developer: bool = False
    """Whether the role `developer` is known."""
    system_anywhere: bool = True
    """Whether a system message may come after the first message."""
    user_after_result: bool = True
    """Whether a message of the user may follow a tool message."""
    images_in_results: bool = False
    """Whether the content of a tool message may have images."""
    parallel_calls: bool = True
    """Whether a reply may have several calls, and `parallel_tool_calls` is known."""
    max_tokens: str = "max_tokens"
    """Field of the limit on output tokens."""
    usage_option: bool = True
    """Whether `stream_options.include_usage` is known."""
    hosts: tuple[str, ...] = ()
    """Ends of the host names by which it is recognised."""


_ALL_REASONING = ("reasoning_content", "reasoning", "reasoning_details", "reasoning_text", "thinking", "tool_plan")

SERVERS: dict[str, ServerDialect] = {
    server.name: server
    for server in (
        ServerDialect("openai", developer=True, max_tokens="max_completion_tokens", hosts=("api.openai.com",)),
        ServerDialect(
            "azure", developer=True, max_tokens="max_completion_tokens", hosts=(".openai.azure.com", ".azure.com")
        ),
        ServerDialect(
            "openrouter",
            reasoning=("reasoning", "reasoning_details"),
            developer=True,
            images_in_results=True,
            hosts=("openrouter.ai",),
        ),
        ServerDialect("groq", reasoning=("reasoning",), hosts=("api.groq.com",)),
        ServerDialect(
            "deepseek", reasoning=("reasoning_content",), reasoning_in_turn=True, hosts=("api.deepseek.com",)
        ),
        ServerDialect(
            "mistral",
            parts=True,
            call_id=("a-zA-Z0-9", 9),
            exact=True,
            empty=False,
            system_anywhere=False,
            user_after_result=False,
            usage_option=False,
            hosts=("api.mistral.ai",),
        ),
        ServerDialect(
            "qwen",
            reasoning=("reasoning_content",),
            reasoning_in_turn=True,
            hosts=("dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com"),
        ),
        ServerDialect(
            "moonshot", reasoning=("reasoning_content",), empty=False, hosts=("api.moonshot.ai", "api.moonshot.cn")
        ),
        ServerDialect("together", reasoning=("reasoning",), hosts=("api.together.xyz", "api.together.ai")),
        ServerDialect("fireworks", reasoning=("reasoning_content",), hosts=("api.fireworks.ai",)),
        ServerDialect("cerebras", reasoning=("reasoning",), hosts=("api.cerebras.ai",)),
        ServerDialect("vllm", reasoning=("reasoning", "reasoning_content"), developer=True),
        ServerDialect("ollama", reasoning=("reasoning",), hosts=("ollama.com",)),
        ServerDialect("lmstudio"),
        ServerDialect("llamacpp", reasoning=("reasoning_content",)),
        ServerDialect("gemini", reasoning=(), empty=False, hosts=("generativelanguage.googleapis.com",)),
        ServerDialect("xai", reasoning=("reasoning_content",), hosts=("api.x.ai",)),
        ServerDialect("perplexity", empty=False, system_anywhere=False, hosts=("api.perplexity.ai",)),
        ServerDialect("snowflake", empty=False, parallel_calls=False, hosts=(".snowflakecomputing.com",)),
    )
}
"""Servers by name. docs/formats.md prints this table."""


def table() -> str:
    """The servers as a table in Markdown."""
    lines = [
        "| dialect | reasoning taken back | call ids | empty reply | `developer` | late system | user after results "
        "| images in results |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for one in SERVERS.values():
        fields = [f"`{field}`" for field in one.reasoning] + (["parts of type `thinking`"] if one.parts else [])
        reasoning = ", ".join(fields) + (", beside calls" if one.reasoning_in_turn else "")
        allowed, limit = one.call_id
        ids = f"{'exactly' if one.exact else 'at most'} {limit} of `{allowed}`"
        flags = (one.empty, one.developer, one.system_anywhere, one.user_after_result, one.images_in_results)
        lines.append(
            f"| `{one.name}` | {reasoning or 'none'} | {ids} | {' | '.join('✓' if flag else '' for flag in flags)} |"
        )
    return "\n".join(lines)


def server(name: str) -> ServerDialect:
    """The server of that name. Raises `FormatError` if there is none."""
    if name not in SERVERS:
        raise FormatError(f"There is no dialect {name!r}; there are {', '.join(SERVERS)}.")
    return SERVERS[name]


def server_at(base_url: str) -> ServerDialect | None:
    """The server at an address, or None if its host is not in the table."""
    host = urlsplit(base_url).hostname or ""
    return next((one for one in SERVERS.values() if any(_is_at(host, end) for end in one.hosts)), None)


def _is_at(host: str, end: str) -> bool:
    return host.endswith(end) if end.startswith(".") else host == end


def refused_reasoning(kept: ServerDialect, fields: Iterator[str] | tuple[str, ...]) -> list[str]:
    """Those of these fields of an assistant message that hold reasoning which the server does not take back."""
    return [field for field in fields if field in _ALL_REASONING and field not in kept.reasoning]


def fits_call_id(kept: ServerDialect, call_id: str) -> bool:
    """Whether the server accepts this id of a tool call."""
    allowed, limit = kept.call_id
    long_enough = len(call_id) == limit if kept.exact else 0 < len(call_id) <= limit
    return long_enough and not re.search(f"[^{allowed}]", call_id)
