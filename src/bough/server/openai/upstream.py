"""The request to a provider that answers a request for a response: its dialog, its tools and its options."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bough.context.fit import fit
from bough.errors import FormatError
from bough.model import Json, Message, Node
from bough.server.openai.parameters import OURS, ResponseRequest
from bough.server.openai.refusals import invalid

if TYPE_CHECKING:
    from bough.context.fit import Context
    from bough.providers.types import Answer, Provider
    from bough.turn import Turn

THINKING = {"minimal": 1024, "low": 2048, "medium": 8192, "high": 16_384, "xhigh": 32_768, "max": 32_768}
"""Tokens of thinking by effort, for providers that want a number."""
SAME = ("temperature", "top_p", "service_tier", "user", "parallel_tool_calls", "prompt_cache_key", "safety_identifier",
        "frequency_penalty", "presence_penalty", "seed", "stop")  # fmt: skip
"""Parameters of a response that Chat Completions have under the same name."""
ITEM_IDS = {"message", "function_call_output", "custom_tool_call_output"}
"""Types of items whose ids mean nothing to a provider that has not stored them."""


def ask(provider: Provider, request: ResponseRequest, context: Context) -> Answer:
    """Send a request to a provider. Raises `ProviderError`, and `HttpProblem` for a dialog that does not fit."""
    if not context.fits and request.body.get("truncation") == "auto":
        raise invalid("input", "The input is longer than the context window of the model.", "context-length-exceeded")
    payload = context.payload
    if provider.format == "openai.responses":
        payload = [_without_id(item) for item in payload]
    return provider.ask(
        payload, instructions=request.instructions, max_tokens=request.body.get("max_output_tokens"),
        options=options_for(provider.format, request.body),
    )  # fmt: skip


def context_of_turn(turn: Turn, provider: Provider, request: ResponseRequest) -> Context:
    """The dialog of an open turn, as the provider accepts it; cut to its window if the client allows it."""
    return turn.context(provider.format, provider.window if request.body.get("truncation") == "auto" else None)


def context_of_messages(messages: Sequence[Message], provider: Provider, request: ResponseRequest) -> Context:
    """A dialog that is not stored, as the provider accepts it. Raises `HttpProblem`."""
    budget = provider.window if request.body.get("truncation") == "auto" else None
    try:
        return fit([as_node(message, place) for place, message in enumerate(messages)], provider.format, budget)
    except FormatError as error:
        raise invalid("input", str(error)) from None


def as_node(message: Message, place: int) -> Node:
    """A message that is in no store, in its place in a dialog."""
    return Node(id=f"{place}", message=message, parent_id=None if place == 0 else f"{place - 1}", created_at=place)


def _without_id(item: dict[str, Json]) -> dict[str, Json]:
    if item.get("type") not in ITEM_IDS or (item.get("type") == "message" and item.get("role") == "assistant"):
        return item
    return {key: one for key, one in item.items() if key != "id"}


def options_for(format: str, body: dict[str, Json]) -> dict[str, Json]:
    """The parameters of a response in the words of another API. Raises `HttpProblem` for what it cannot do."""
    if format == "openai.responses":
        return {key: one for key, one in body.items() if key not in OURS}
    if format == "anthropic":
        return anthropic_options(body)
    return chat_options(body) if format == "openai.chat" else {}


def function_tools(body: dict[str, Json]) -> list[dict[str, Json]]:
    """The tools of a request, all functions. Raises `HttpProblem` for one that only OpenAI runs."""
    tools: list[dict[str, Json]] = []
    for place, tool in enumerate(body.get("tools") or ()):
        kind = tool.get("type") if isinstance(tool, dict) else None
        if kind != "function":
            raise invalid(f"tools[{place}].type", f"This model has no built-in tool {kind!r}; it can call functions.")
        tools.append(tool)
    return tools


def chat_options(body: dict[str, Json]) -> dict[str, Json]:
    """The parameters of a response for Chat Completions."""
    options: dict[str, Json] = {key: body[key] for key in SAME if body.get(key) is not None}
    if tools := function_tools(body):
        fields = ("name", "description", "parameters", "strict")
        made = [{key: tool[key] for key in fields if tool.get(key) is not None} for tool in tools]
        options["tools"] = [{"type": "function", "function": function} for function in made]
        options["tool_choice"] = _chat_choice(body.get("tool_choice"))
    else:
        options.pop("parallel_tool_calls", None)
    text = body.get("text") or {}
    if text.get("verbosity"):
        options["verbosity"] = text["verbosity"]
    match text.get("format"):
        case {"type": "json_schema", **schema}:
            options["response_format"] = {"type": "json_schema", "json_schema": schema}
        case {"type": "json_object"}:
            options["response_format"] = {"type": "json_object"}
    if effort := (body.get("reasoning") or {}).get("effort"):
        options["reasoning_effort"] = effort
    if body.get("top_logprobs"):
        options |= {"logprobs": True, "top_logprobs": body["top_logprobs"]}
    return options


def _chat_choice(choice: Json) -> Json:
    """The choice of a tool; None for the default."""
    match choice:
        case {"type": "function", "name": name}:
            return {"type": "function", "function": {"name": name}}
        case {"type": "allowed_tools", "mode": mode}:
            return mode
    return choice


def anthropic_options(body: dict[str, Json]) -> dict[str, Json]:
    """The parameters of a response for Anthropic's Messages."""
    options: dict[str, Json] = {key: body[key] for key in ("temperature", "top_p") if body.get(key) is not None}
    if tools := function_tools(body):
        options["tools"] = [
            {
                "name": tool.get("name"),
                "description": tool.get("description") or "",
                "input_schema": tool.get("parameters") or {"type": "object"},
            }
            for tool in tools
        ]
        options["tool_choice"] = _anthropic_choice(body.get("tool_choice"), body.get("parallel_tool_calls"))
    match (body.get("text") or {}).get("format"):
        case {"type": "json_schema", "schema": schema}:
            options["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
    effort = (body.get("reasoning") or {}).get("effort")
    if budget := THINKING.get(str(effort)):
        options["thinking"] = {"type": "enabled", "budget_tokens": budget}
        options["max_tokens"] = budget + (body.get("max_output_tokens") or 8192)
    return options


def _anthropic_choice(choice: Json, parallel: Json) -> Json:
    """The choice of a tool; None for the default."""
    match choice:
        case "required":
            made: dict[str, Json] = {"type": "any"}
        case "none":
            return {"type": "none"}
        case {"type": "function", "name": name}:
            made = {"type": "tool", "name": name}
        case _ if parallel is False:
            made = {"type": "auto"}
        case _:
            return None
    return {**made, "disable_parallel_tool_use": True} if parallel is False else made
