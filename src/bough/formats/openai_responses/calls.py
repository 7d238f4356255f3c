"""Types of items that are calls, types that are outputs, and the key that pairs them."""

from __future__ import annotations

from bough.formats.payload import text_or_none
from bough.model import Json

FAMILY = "openai.responses"
CALLS = {
    "computer_call": ("computer", ("action", "actions")),
    "local_shell_call": ("local_shell", ("action",)),
    "shell_call": ("shell", ("action",)),
    "apply_patch_call": ("apply_patch", ("operation",)),
    "mcp_approval_request": ("mcp_approval", ("server_label", "name", "arguments")),
    "tool_search_call": ("tool_search", ("arguments",)),
}
"""Calls of built-in tools: the tool's name in bough, and the fields that are its arguments."""
OUTPUTS = {
    "function_call_output",
    "custom_tool_call_output",
    "computer_call_output",
    "local_shell_call_output",
    "shell_call_output",
    "apply_patch_call_output",
    "mcp_approval_response",
    "tool_search_output",
}
HOSTED = {"tool_search_call", "tool_search_output"}
"""Types that OpenAI itself runs, unless they are to be executed by the client."""


def is_call(kind: str, item: dict[str, Json]) -> bool:
    """Whether an item is a call that the client answers."""
    return not is_hosted(kind, item) and (kind in CALLS or kind in ("function_call", "custom_tool_call"))


def is_output(kind: str, item: dict[str, Json]) -> bool:
    """Whether an item is the client's answer to a call."""
    return kind in OUTPUTS and not is_hosted(kind, item)


def is_hosted(kind: str, item: dict[str, Json]) -> bool:
    """Whether OpenAI runs, or has run, this call."""
    return kind in HOSTED and (item.get("execution") == "server" or not item.get("call_id"))


def call_key(kind: str, item: dict[str, Json]) -> str | None:
    """The id that a call and its output share."""
    if kind == "mcp_approval_request":
        return text_or_none(item.get("id"))
    if kind == "mcp_approval_response":
        return text_or_none(item.get("approval_request_id"))
    # The output of a local shell refers to its call by `id`; some servers send `call_id` as well.
    return text_or_none(item.get("call_id")) or text_or_none(item.get("id"))
