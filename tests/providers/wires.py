"""One reply in the stream format of each API: thinking if supported, text, and a call in several pieces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bough.providers.types import Piece

TEXT = "Grüße, 世界 🌊"
PIECES = [Piece("thinking", "hm"), Piece("text", "Grüße, "), Piece("text", "世界 🌊"), Piece("call", "look")]
ARGUMENTS = '{"at": "sea"}'


@dataclass(frozen=True)
class Wire:
    type: str
    path: str
    events: list[Any]
    """A whole stream. The first `quiet` of them show nothing; by `cut` of them the text has come, and no end."""
    quiet: int
    cut: int
    overloaded: Any
    """An error that may pass, as an event."""

    @property
    def format(self) -> str:
        return "openai.chat" if self.type == "openai" else self.type

    def text(self, reply: dict[str, Any]) -> str:
        match self.type:
            case "openai":
                return str(reply["choices"][0]["message"]["content"])
            case "openai.responses":
                return "".join(
                    part["text"] for item in reply["output"] if item["type"] == "message" for part in item["content"]
                )
        return "".join(block["text"] for block in reply["content"] if block["type"] == "text")


def _chunk(**choice: Any) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m-1",
        "choices": [{"index": 0, "finish_reason": None, "delta": {}, **choice}],
    }


def _call(**function: str) -> dict[str, Any]:
    return {"tool_calls": [{"index": 0, **({"id": "call_1", "type": "function"} if "name" in function else {}),
                            "function": function}]}  # fmt: skip


CHAT = Wire(
    "openai",
    "/chat/completions",
    [
        _chunk(delta={"role": "assistant", "content": None}),
        _chunk(delta={"reasoning_content": "hm"}),
        _chunk(delta={"content": "Grüße, "}),
        _chunk(delta={"content": "世界 🌊"}),
        _chunk(delta=_call(name="look", arguments="")),
        _chunk(delta=_call(arguments='{"at": ')),
        _chunk(delta=_call(arguments='"sea"}')),
        _chunk(finish_reason="tool_calls"),
        {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "m-1", "choices": [],
         "usage": {"prompt_tokens": 11, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 3}}},
        "[DONE]",
    ],
    1,
    4,
    {"error": {"message": "The server is overloaded", "type": "server_error", "code": 503}},
)  # fmt: skip


def _items(status: str) -> list[dict[str, Any]]:
    return [
        {"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
        {"id": "msg_1", "type": "message", "role": "assistant", "status": status,
         "content": [{"type": "output_text", "text": TEXT, "annotations": []}]},
        {"id": "fc_1", "type": "function_call", "status": status, "call_id": "call_1", "name": "look",
         "arguments": ARGUMENTS},
    ]  # fmt: skip


def _response(status: str, output: list[Any]) -> dict[str, Any]:
    counts = {"input_tokens": 11, "input_tokens_details": {"cached_tokens": 3}, "output_tokens": 7, "total_tokens": 18}
    ended = status == "completed"
    return {"id": "resp_1", "object": "response", "created_at": 1, "model": "m-1", "status": status, "output": output,
            "usage": counts if ended else None}  # fmt: skip


_REASONING, _MESSAGE, _FUNCTION = _items("completed")
_EMPTY = {"type": "output_text", "text": "", "annotations": []}
RESPONSES = Wire(
    "openai.responses",
    "/responses",
    [
        {"type": "response.created", "response": _response("in_progress", [])},
        {"type": "response.in_progress", "response": _response("in_progress", [])},
        {"type": "response.output_item.added", "output_index": 0, "item": {**_REASONING, "summary": []}},
        {"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 0, "delta": "hm"},
        {"type": "response.output_item.done", "output_index": 0, "item": _REASONING},
        {"type": "response.output_item.added", "output_index": 1, "item": {**_MESSAGE, "content": []}},
        {"type": "response.content_part.added", "output_index": 1, "content_index": 0, "part": _EMPTY},
        {"type": "response.output_text.delta", "output_index": 1, "content_index": 0, "delta": "Grüße, "},
        {"type": "response.output_text.delta", "output_index": 1, "content_index": 0, "delta": "世界 🌊"},
        {"type": "response.output_item.done", "output_index": 1, "item": _MESSAGE},
        {"type": "response.output_item.added", "output_index": 2, "item": {**_FUNCTION, "arguments": ""}},
        {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": ARGUMENTS},
        {"type": "response.output_item.done", "output_index": 2, "item": _FUNCTION},
        {"type": "response.completed", "response": _response("completed", _items("completed"))},
    ],
    3,
    9,
    {"type": "response.failed", "response": {"error": {"code": "server_error", "message": "The server is overloaded"}}},
)


def _block(index: int, block: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": block},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


ANTHROPIC = Wire(
    "anthropic",
    "/messages",
    [
        {"type": "message_start", "message": {
            "id": "msg_1", "type": "message", "role": "assistant", "model": "m-1", "content": [], "stop_reason": None,
            "stop_sequence": None, "usage": {"input_tokens": 8, "cache_read_input_tokens": 3, "output_tokens": 1}}},
        {"type": "ping"},
        *_block(0, {"type": "thinking", "thinking": "", "signature": ""},
                {"type": "thinking_delta", "thinking": "hm"}, {"type": "signature_delta", "signature": "c2ln"}),
        *_block(1, {"type": "text", "text": ""},
                {"type": "text_delta", "text": "Grüße, "}, {"type": "text_delta", "text": "世界 🌊"}),
        *_block(2, {"type": "tool_use", "id": "call_1", "name": "look", "input": {}},
                {"type": "input_json_delta", "partial_json": '{"at": '},
                {"type": "input_json_delta", "partial_json": '"sea"}'}),
        {"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": None},
         "usage": {"output_tokens": 7}},
        {"type": "message_stop"},
    ],
    3,
    9,
    {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
)  # fmt: skip

WIRES = [CHAT, RESPONSES, ANTHROPIC]
