"""Find the messages in a record: requests of every provider, batches, datasets (ShareGPT, LMSYS, WildChat).

`dialog_of` reads the record's shape, not its content: whether the messages can be decoded shows when they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from bough.formats import detect
from bough.formats.payload import at, parsed, text_or_none, written
from bough.model import Json

LISTS = ("messages", "conversations", "conversation", "contents", "input", "history", "dialog", "dialogue")
"""Keys of a record's list of messages."""
BODIES = ("body", "request", "params", "conversationState")
"""Keys of a request inside a record of a batch or a log."""
OPENAI_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
ROLES = {
    **{role: role for role in OPENAI_ROLES},
    "human": "user", "prompter": "user", "User": "user",
    "ai": "assistant", "gpt": "assistant", "model": "assistant", "bot": "assistant", "chatbot": "assistant",
    "chatgpt": "assistant", "bing": "assistant", "bard": "assistant", "gpt4": "assistant", "Assistant": "assistant",
    "function_call": "assistant", "observation": "tool", "function_response": "tool", "tool_response": "tool",
}  # fmt: skip
"""OpenAI's role for each name of a role in datasets and frameworks."""
RESPONSE_ITEMS = ("message", "reasoning", "function_call", "function_call_output", "custom_tool_call")
TEXTS = ("content", "value", "text")


class RawDialog(NamedTuple):
    """The messages of a record, not decoded."""

    items: list[Json]
    """In the shape of `format`."""
    format: str
    about: dict[str, Json]
    """The other fields of the record."""
    as_written: bool = True
    """Whether the items are those of the record, and not renamed ones."""


def dialog_of(record: Json, depth: int = 0) -> RawDialog | None:
    """The messages of a record or of a list of messages; None if it has none."""
    if isinstance(record, list):
        return _dialog(record, {})
    if not isinstance(record, dict):
        return None
    for key in LISTS:
        rest = {name: value for name, value in record.items() if name != key}
        if isinstance(items := record.get(key), list) and (found := _dialog(items, rest)):
            return found
    if isinstance(prompt := record.get("input"), str) and "instructions" not in record and "model" in record:
        return RawDialog([{"role": "user", "content": prompt}], "openai.responses", record)
    for key in BODIES if depth < 2 else ():
        if found := dialog_of(record.get(key), depth + 1):
            rest = {name: value for name, value in record.items() if name != key}
            return found._replace(about={**rest, **found.about})
    return None


def is_message(value: Json) -> bool:
    """Whether a value is one message of a dialog, under any names."""
    if not isinstance(value, dict) or any(isinstance(value.get(key), list) for key in ("messages", "conversations")):
        return False
    return _renamed(value) is not None or _is_wire_message(value)


def _is_wire_message(item: dict[str, Json]) -> bool:
    """Whether a value is a message of a provider. A type alone says nothing: lines of many logs have one."""
    format = detect([item])
    known = "role" in item or text_or_none(item.get("type")) in RESPONSE_ITEMS
    return format not in (None, "openai.chat") and (format != "openai.responses" or known)


def _dialog(items: list[Json], about: dict[str, Json]) -> RawDialog | None:
    if not items or not all(isinstance(item, dict) for item in items):
        return None
    # Names of roles that only datasets have decide before formats are tried: `gpt` is nobody's wire format.
    format = detect(items)
    if format in (None, "openai.chat"):
        renamed = list(_openai(items))
        if len(renamed) != len(items):
            return None
        return RawDialog(renamed, "openai.chat", about, renamed == items)
    is_dialog = any(isinstance(item, dict) and _is_wire_message(item) for item in items)
    return RawDialog(items, format, about) if is_dialog else None


def _openai(items: list[Json]) -> Iterator[Json]:
    """The messages under OpenAI's names; fewer than given if one is no message."""
    call = ""
    for number, item in enumerate(items):
        message = _renamed(item)
        if message is None:
            return
        kind = item.get("role") or item.get("from")
        if kind == "function_call":
            call = f"call_{number}"
            message = _call(message, call)
        elif message["role"] == "tool" and "tool_call_id" not in message:
            message = {**message, "tool_call_id": call or f"call_{number}"}
        yield message


def _renamed(item: dict[str, Json]) -> dict[str, Json] | None:
    role = ROLES.get(text_or_none(item.get("role") or item.get("from")) or "")
    if role is None:
        return None
    if item.get("role") == role and ("content" in item or "tool_calls" in item):
        return item
    key = next((key for key in TEXTS if isinstance(item.get(key), str)), None)
    if key is None:
        return None
    rest = {name: value for name, value in item.items() if name not in ("role", "from", key)}
    return {"role": role, "content": item[key], **rest}


def _call(message: dict[str, Json], call: str) -> dict[str, Json]:
    """A call that a dataset has as JSON text: `{"name": …, "arguments": {…}}`."""
    given = parsed(str(message["content"]))
    if given is None or not isinstance(name := given.get("name"), str):
        return message
    arguments = given.get("arguments")
    text = arguments if isinstance(arguments, str) else written(arguments or {})
    made = {"id": call, "type": "function", "function": {"name": name, "arguments": text}}
    return {**message, "content": None, "tool_calls": [made]}


def reply_of(record: Json) -> Json:
    """The body of a reply in a line of a batch's results; None for anything else."""
    return at(record, "response", "body") or at(record, "result", "message")
