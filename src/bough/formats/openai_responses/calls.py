"""The items that ask the application for something, and the items that answer them."""

from __future__ import annotations

import json

from bough.formats.encoding import Rendering
from bough.formats.openai_responses.parts import read_image, read_parts, write_media
from bough.formats.payload import as_dict, as_text, at, text_or_none
from bough.model import Json, Media, Other, Text, ToolCall, ToolResult
from bough.model.values import replace

FAMILY = "openai.responses"
CALLS = {
    "computer_call": ("computer", ("action", "actions")),
    "local_shell_call": ("local_shell", ("action",)),
    "shell_call": ("shell", ("action",)),
    "apply_patch_call": ("apply_patch", ("operation",)),
    "mcp_approval_request": ("mcp_approval", ("server_label", "name", "arguments")),
}
"""Calls of built-in tools: what bough calls the tool, and which fields are its arguments."""
OUTPUTS = {
    "function_call_output",
    "custom_tool_call_output",
    "computer_call_output",
    "local_shell_call_output",
    "shell_call_output",
    "apply_patch_call_output",
    "mcp_approval_response",
}


def call_key(kind: str, item: dict[str, Json]) -> str | None:
    """What a call and its output have in common."""
    if kind == "mcp_approval_request":
        return text_or_none(item.get("id"))
    if kind == "mcp_approval_response":
        return text_or_none(item.get("approval_request_id"))
    # A local shell's output tells its call by `id`; servers send `call_id` as well.
    return text_or_none(item.get("call_id")) or text_or_none(item.get("id"))


def read_call(kind: str, item: dict[str, Json], where: str) -> ToolCall | None:
    """The call that an item is, or None."""
    raw, call_id = {FAMILY: item}, call_key(kind, item) or ""
    match kind:
        case "function_call":
            arguments = as_text(item.get("arguments"), f"{where}.arguments")
            return ToolCall(call_id, as_text(item.get("name"), f"{where}.name"), arguments, raw=raw)
        case "custom_tool_call":
            arguments = as_text(item.get("input"), f"{where}.input")
            return ToolCall(call_id, as_text(item.get("name"), f"{where}.name"), arguments, raw=raw)
        case _ if kind in CALLS:
            name, fields = CALLS[kind]
            # Sorted, because an SDK's object gives the fields in another order than the wire.
            arguments = json.dumps(
                {key: item[key] for key in fields if key in item}, ensure_ascii=False, sort_keys=True
            )
            return ToolCall(call_id, name, arguments, raw=raw)
    return None


def read_result(kind: str, item: dict[str, Json], where: str) -> ToolResult:
    failed = item.get("status") == "failed" or item.get("approve") is False
    content = tuple(_read_output(kind, item, where))
    return ToolResult(call_key(kind, item) or "", content, failed, raw={FAMILY: item})


def _read_output(kind: str, item: dict[str, Json], where: str) -> list[Text | Media | Other]:
    output = item.get("output")
    match kind:
        case "mcp_approval_response":
            return [Text(text_or_none(item.get("reason")) or ("approved" if item.get("approve") else "denied"))]
        case "computer_call_output":
            screenshot = as_dict(output, f"{where}.output")
            return [read_image(screenshot, None) or Other("computer_screenshot", {FAMILY: screenshot})]
        case "shell_call_output" if isinstance(output, list):
            return [Text(f"{at(part, 'stdout') or ''}{at(part, 'stderr') or ''}") for part in output]
        case _ if output is None:
            return []
    return [
        part if isinstance(part, Other) else replace(part, raw=None)  # the whole output is kept already
        for part in read_parts(output, f"{where}.output")
    ]


def write_call(call: ToolCall, rendering: Rendering) -> dict[str, Json]:
    """A call of another family."""
    call_id, name = rendering.ids.call(call.call_id), rendering.tool_name(call.name)
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": call.arguments}


def write_result(result: ToolResult, rendering: Rendering) -> dict[str, Json]:
    """A result without an item of its own, as the kind of output that its call asks for."""
    call = rendering.calls.get(result.call_id)
    kind = at(rendering.own(call.raw), "type") if call else None
    call_id = rendering.ids.result(result.call_id)
    match kind:
        case "mcp_approval_request":
            return {"type": "mcp_approval_response", "approval_request_id": call_id, "approve": not result.error}
        case "computer_call" if shot := next((part for part in result.content if isinstance(part, Media)), None):
            image = {**(write_media(shot) or {}), "type": "computer_screenshot"}
            image.pop("detail", None)
            return {"type": "computer_call_output", "call_id": call_id, "output": image}
        case "local_shell_call":
            return {"type": "local_shell_call_output", "id": call_id, "output": rendering.told(result)}
        case "shell_call":
            outcome = {"type": "exit", "exit_code": 1 if result.error else 0}
            streams = {"stdout": result.text, "stderr": "", "outcome": outcome}
            return {"type": "shell_call_output", "call_id": call_id, "output": [streams]}
        case "apply_patch_call":
            status = "failed" if result.error else "completed"
            return {"type": "apply_patch_call_output", "call_id": call_id, "status": status, "output": result.text}
        case "custom_tool_call":
            return {"type": "custom_tool_call_output", "call_id": call_id, "output": _output(result, rendering)}
    return {"type": "function_call_output", "call_id": call_id, "output": _output(result, rendering)}


def _output(result: ToolResult, rendering: Rendering) -> Json:
    """Words as a string; with media, a list of parts."""
    images: list[Json] = []
    described: list[str] = []
    for part in result.content:
        if isinstance(part, Media):
            item = write_media(part)
            if item is None:
                described.append(rendering.described(part, "tool_image_flattened"))
            else:
                images.append(item)
    text = "\n".join(line for line in (rendering.told(result, images=True), *described) if line)
    if not images:
        return text
    return [{"type": "input_text", "text": text}, *images] if text else images
