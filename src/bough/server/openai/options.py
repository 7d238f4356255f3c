"""The parameters of Chat Completions and of Messages in the words of Responses, from which any provider's are made."""

from __future__ import annotations

from collections.abc import Iterator

from bough.model import Json
from bough.server.openai.refusals import invalid

SHARED = ("temperature", "top_p", "parallel_tool_calls", "stop", "seed", "user", "frequency_penalty",
          "presence_penalty", "service_tier", "prompt_cache_key", "safety_identifier")  # fmt: skip
EFFORTS = ((1024, "minimal"), (4096, "low"), (12_000, "medium"))
"""Most tokens of thinking, by effort."""


def from_chat(body: dict[str, Json]) -> dict[str, Json]:
    """Parameters of Chat Completions. Raises `HttpProblem`."""
    made: dict[str, Json] = {key: body[key] for key in SHARED if body.get(key) is not None}
    made["tools"] = list(_chat_tools(body.get("tools") or ()))
    match body.get("tool_choice"):
        case {"type": "function", "function": {"name": name}}:
            made["tool_choice"] = {"type": "function", "name": name}
        case str(choice):
            made["tool_choice"] = choice
    match body.get("response_format"):
        case {"type": "json_schema", "json_schema": dict(schema)}:
            made["text"] = {"format": {"type": "json_schema", **schema}}
        case {"type": "json_object"}:
            made["text"] = {"format": {"type": "json_object"}}
    if effort := body.get("reasoning_effort"):
        made["reasoning"] = {"effort": effort}
    made["max_output_tokens"] = body.get("max_completion_tokens") or body.get("max_tokens")
    return made


def _chat_tools(tools: Json) -> Iterator[dict[str, Json]]:
    for place, tool in enumerate(tools):
        function = tool.get("function") if isinstance(tool, dict) else None
        if not isinstance(function, dict):
            raise invalid(f"tools[{place}]", "This model can call functions only.")
        yield {"type": "function", **function}


def from_anthropic(body: dict[str, Json]) -> dict[str, Json]:
    """Parameters of Messages. Raises `HttpProblem`."""
    made: dict[str, Json] = {key: body[key] for key in ("temperature", "top_p") if body.get(key) is not None}
    made["tools"] = list(_anthropic_tools(body.get("tools") or ()))
    match body.get("tool_choice"):
        case {"type": "any"}:
            made["tool_choice"] = "required"
        case {"type": "tool", "name": name}:
            made["tool_choice"] = {"type": "function", "name": name}
        case {"type": "none"}:
            made["tool_choice"] = "none"
    if (body.get("tool_choice") or {}).get("disable_parallel_tool_use"):
        made["parallel_tool_calls"] = False
    match body.get("thinking"):
        case {"type": "enabled", "budget_tokens": int(budget)}:
            made["reasoning"] = {"effort": next((effort for most, effort in EFFORTS if budget <= most), "high")}
    match (body.get("output_config") or {}).get("format"):
        case {"type": "json_schema", "schema": schema}:
            made["text"] = {"format": {"type": "json_schema", "name": "answer", "schema": schema}}
    if body.get("stop_sequences"):
        made["stop"] = body["stop_sequences"]
    made["max_output_tokens"] = body.get("max_tokens")
    return made


def _anthropic_tools(tools: Json) -> Iterator[dict[str, Json]]:
    for place, tool in enumerate(tools):
        if not isinstance(tool, dict) or "input_schema" not in tool:
            raise invalid(f"tools[{place}]", "This model has no built-in tools; it can call those with a schema.")
        yield {"type": "function", "name": tool.get("name"), "description": tool.get("description") or "",
               "parameters": tool["input_schema"]}  # fmt: skip
