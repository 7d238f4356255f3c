"""Read the body of a request, and say what is wrong with it."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request

from bough.errors import FormatError
from bough.formats import get
from bough.model import Json, Message
from bough.model.values import value
from bough.server.openai.ids import mint, prefix_of
from bough.server.openai.refusals import invalid

MAX_PAIRS, MAX_KEY, MAX_VALUE = 16, 64, 512
"""Limits of metadata."""
DEFAULTS: dict[str, Json] = {
    "background": False, "frequency_penalty": 0.0, "instructions": None, "max_output_tokens": None,
    "max_tool_calls": None, "metadata": {}, "moderation": None, "parallel_tool_calls": True, "presence_penalty": 0.0,
    "previous_response_id": None, "prompt": None, "prompt_cache_key": None, "prompt_cache_retention": None,
    "reasoning": None, "safety_identifier": None, "service_tier": "default", "store": True, "temperature": 1.0,
    "text": {"format": {"type": "text"}}, "tool_choice": "auto", "tools": [], "top_logprobs": 0, "top_p": 1.0,
    "truncation": "disabled", "user": None,
}  # fmt: skip
"""Every parameter that a response repeats, and its default."""
OURS = {"input", "model", "previous_response_id", "conversation", "store", "background", "stream", "stream_options",
        "instructions", "truncation", "metadata", "max_output_tokens"}  # fmt: skip
"""Parameters that are not passed on as they are."""
TYPES: dict[str, tuple[type, ...]] = {
    "model": (str,), "instructions": (str, list), "previous_response_id": (str,), "conversation": (str, dict),
    "store": (bool,), "background": (bool,), "stream": (bool,), "include": (list,), "tools": (list,),
    "temperature": (int, float), "top_p": (int, float), "max_output_tokens": (int,), "metadata": (dict,),
    "stream_options": (dict,), "response_format": (dict,), "output_config": (dict,), "thinking": (dict,),
    "parallel_tool_calls": (bool,), "text": (dict,), "reasoning": (dict,), "tool_choice": (str, dict),
}  # fmt: skip


@value
class ResponseRequest:
    """A request for a response."""

    body: dict[str, Json]
    model: str | None
    messages: tuple[Message, ...]
    """The input."""
    instructions: str | None
    previous: str | None
    conversation: str | None
    stored: bool
    background: bool
    streams: bool
    include: tuple[str, ...]

    @property
    def echo(self) -> dict[str, Json]:
        """The parameters as the response repeats them, all of them."""
        given = {key: self.body[key] for key in DEFAULTS if self.body.get(key) is not None}
        echo = {**DEFAULTS, **given, "tools": [_whole_tool(tool) for tool in given.get("tools", [])]}
        echo["text"] = {"format": {"type": "text"}, **echo["text"]}
        echo["text"]["format"] = _whole_format(echo["text"]["format"])
        if isinstance(echo["reasoning"], dict):
            echo["reasoning"] = {"effort": None, "summary": None, **echo["reasoning"]}
        return echo


def _whole_tool(tool: Json) -> Json:
    """A tool with all its keys."""
    if not isinstance(tool, dict) or tool.get("type") != "function":
        return tool
    return {"description": None, "parameters": None, "strict": True, **tool}


def _whole_format(text_format: Json) -> Json:
    if not isinstance(text_format, dict) or text_format.get("type") != "json_schema":
        return text_format
    return {"description": None, "strict": False, **text_format}


async def read_body(request: Request) -> dict[str, Json]:
    """The JSON object in the body of a request. Raises `HttpProblem`."""
    try:
        body = await request.json() if await request.body() else {}
    except (ValueError, RecursionError):
        raise invalid(None, "The body is not JSON; nothing was done.", "invalid-json") from None
    if not isinstance(body, dict):
        raise invalid(None, "The body is not a JSON object; nothing was done.", "invalid-type")
    return body


def response_request(body: dict[str, Json]) -> ResponseRequest:
    """The request for a response. Raises `HttpProblem`."""
    check_types(body)
    check_metadata(body.get("metadata"))
    conversation = conversation_id(body.get("conversation"))
    previous = body.get("previous_response_id") or None
    if previous is not None and conversation is not None:
        raise invalid("previous_response_id", "Give previous_response_id or conversation, not both; nothing was done.",
                      "mutually-exclusive-parameters")  # fmt: skip
    stored, background = body.get("store") is not False, body.get("background") is True
    if background and not stored:
        raise invalid("store", "A background response is kept until it is fetched: store cannot be false.")
    if body.get("truncation") not in (None, "auto", "disabled"):
        raise invalid("truncation", "truncation is auto or disabled.")
    if (limit := body.get("max_output_tokens")) is not None and limit < 1:
        raise invalid("max_output_tokens", "max_output_tokens is at least 1.")
    include = tuple(map(str, body.get("include") or ()))
    messages = messages_of(input_items(body.get("input")), "input")
    if not messages and previous is None and conversation is None:
        raise invalid("input", "input is missing: there is nothing to answer.", "missing-required-parameter")
    return ResponseRequest(
        body, body.get("model"), messages, instructions_text(body.get("instructions")), previous, conversation,
        stored, background, body.get("stream") is True, include,
    )  # fmt: skip


def check_types(body: dict[str, Json]) -> None:
    """Raises `HttpProblem` for a known parameter of a wrong type."""
    for name, types in TYPES.items():
        given = body.get(name)
        if given is not None and (not isinstance(given, types) or (isinstance(given, bool) and bool not in types)):
            wanted = " or ".join(one.__name__ for one in types)
            raise invalid(name, f"{name} is of type {wanted}, not {type(given).__name__}.", "invalid-type")
    for place, tool in enumerate(body.get("tools") or ()):
        if not isinstance(tool, dict):
            raise invalid(f"tools[{place}]", f"tools[{place}] is not an object.", "invalid-type")
    if not all(isinstance(one, str) for one in body.get("include") or ()):
        raise invalid("include", "include is a list of strings.", "invalid-type")
    text_format = (body.get("text") or {}).get("format")
    if text_format is not None and not isinstance(text_format, dict):
        raise invalid("text.format", "text.format is an object.", "invalid-type")


def check_metadata(metadata: Json) -> None:
    """Raises `HttpProblem` for metadata beyond its limits."""
    if metadata is None:
        return
    if not isinstance(metadata, dict) or not all(isinstance(text, str) for text in metadata.values()):
        raise invalid("metadata", "metadata is an object of strings.", "invalid-type")
    if len(metadata) > MAX_PAIRS:
        raise invalid("metadata", f"metadata has at most {MAX_PAIRS} pairs, not {len(metadata)}.")
    for key, text in metadata.items():
        if len(key) > MAX_KEY or len(text) > MAX_VALUE:
            raise invalid("metadata", f"A key of metadata has at most {MAX_KEY} characters, its value {MAX_VALUE}.")


def conversation_id(given: Json) -> str | None:
    """The id of a conversation, which is given as such or in an object."""
    id = given.get("id") if isinstance(given, dict) else given
    if given is not None and not isinstance(id, str):
        raise invalid("conversation", "conversation is an id, or an object with one.", "invalid-type")
    return id or None


def input_items(given: Json, param: str = "input") -> list[dict[str, Json]]:
    """The items of an input, each with an id and a type. Raises `HttpProblem`."""
    if given is None:
        return []
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    if not isinstance(items, list):
        raise invalid(param, f"{param} is a string or a list of items.", "invalid-type")
    return [_with_id(item, f"{param}[{place}]") for place, item in enumerate(items)]


def _with_id(item: Json, where: str) -> dict[str, Json]:
    if not isinstance(item, dict):
        raise invalid(where, f"{where} is not an object.", "invalid-type")
    kind = item.get("type") or ("message" if "role" in item else None)
    if not isinstance(kind, str):
        raise invalid(where, f"{where} has neither a type nor a role.", "missing-required-parameter")
    if item.get("id") or kind == "item_reference":
        return {**item, "type": kind}
    return {**item, "type": kind, "id": mint(prefix_of(kind))}


def messages_of(items: list[dict[str, Json]], param: str) -> tuple[Message, ...]:
    """The messages that items are stored as. Raises `HttpProblem`."""
    from bough.server.openai.items import opened_summary, unsealed

    items = [opened_summary(item) for item in items]
    try:
        return tuple(unsealed(message) for message in get("openai.responses").decode(items).messages)
    except FormatError as error:
        raise invalid(param, f"{error} Nothing was done.") from None


def instructions_text(given: Json) -> str | None:
    """Instructions as one text; as a list of items, their texts."""
    if given is None or isinstance(given, str):
        return given or None
    messages = messages_of(input_items(given, "instructions"), "instructions")
    return "\n\n".join(message.text for message in messages) or None


def flag(request: Request, name: str) -> bool:
    """A query parameter that is true or false."""
    return request.query_params.get(name, "").lower() in ("true", "1")


def listed(request: Request, name: str) -> tuple[str, ...]:
    """The values of a query parameter that is a list: `include[]=a`, or `include=a`."""
    query = request.query_params
    return tuple(text for key in (name, f"{name}[]") for text in query.getlist(key))


def number(request: Request, name: str, default: int | None, lowest: int, highest: int) -> Any:
    """A number in the query. Raises `HttpProblem`."""
    given = request.query_params.get(name)
    if given is None:
        return default
    if not given.lstrip("-").isdecimal() or not lowest <= int(given) <= highest:
        raise invalid(name, f"{name} is a number from {lowest} to {highest}, not {given!r:.40}.")
    return int(given)
