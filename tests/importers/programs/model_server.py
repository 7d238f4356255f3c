"""A scripted model behind the HTTP APIs of OpenAI, Anthropic and Gemini, on loopback.

It answers a question with a tool call, if the script has one, and the result of that call with text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

ANSWER = "A bough is a main branch of a tree."
TOKENS = (1200, 34)
"""Of every request: input and output."""


@dataclass
class Script:
    """The call that the model makes first, and the requests that came."""

    tool: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def calls(self, body: dict[str, Any]) -> bool:
        """Whether to answer with the call: the tool is offered, and the request has no result of it yet."""
        text = json.dumps(body)
        offered = self.tool and f'"{self.tool}"' in json.dumps(body.get("tools"))
        results = ('"tool_result"', '"role": "tool"', "functionResponse", "function_call_output")
        return bool(offered) and not any(mark in text for mark in results)


@contextmanager
def model_server(script: Script) -> Iterator[str]:
    """The server's URL, without a path."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def do_GET(self) -> None:
            self._send({"data": [{"id": "scripted", "object": "model"}], "models": []})

        def do_POST(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            raw = self.rfile.read(size) if size else _chunks(self.rfile)
            try:
                body = json.loads(raw or b"{}")
            except ValueError:
                body = {}
            script.requests.append((self.path, body))
            path = self.path.partition("?")[0]
            if path.endswith("/chat/completions"):
                self._reply(chat(script, body), bool(body.get("stream")))
            elif path.endswith("/responses"):
                self._reply(responses(script, body), bool(body.get("stream")), named=True)
            elif path.endswith("/messages"):
                self._reply(anthropic(script, body), bool(body.get("stream")), named=True)
            elif found := re.search(r":(streamG|g)enerateContent$", path):
                self._reply([gemini(script, body)], found[1] == "streamG")
            elif path.endswith("countTokens") or path.endswith("count_tokens"):
                self._send({"totalTokens": TOKENS[0], "input_tokens": TOKENS[0]})
            else:
                self._send({})

        def _reply(self, events: list[dict[str, Any]], stream: bool, named: bool = False) -> None:
            if not stream:
                self._send(events[-1].get("whole") or events[-1])
                return
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            for event in events:
                if "whole" in event:
                    continue
                head = f"event: {event['type']}\n" if named else ""
                self.wfile.write(f"{head}data: {json.dumps(event)}\n\n".encode())
            if not named:
                self.wfile.write(b"data: [DONE]\n\n" if "choices" in events[0] else b"")

        def _send(self, value: Any) -> None:
            data = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=5)


def _chunks(stream: Any) -> bytes:
    data = b""
    while size := int(stream.readline().strip() or b"0", 16):
        data += stream.read(size)
        stream.readline()
    return data


def chat(script: Script, body: dict[str, Any]) -> list[dict[str, Any]]:
    """OpenAI's Chat Completions: the chunks, then the whole reply."""
    call = {"id": "call_1", "type": "function", "function": {
        "name": script.tool, "arguments": json.dumps(script.arguments)}}  # fmt: skip
    calls = script.calls(body)
    usage = {"prompt_tokens": TOKENS[0], "completion_tokens": TOKENS[1], "total_tokens": sum(TOKENS)}
    about = {"id": "chatcmpl-1", "created": 1_700_000_000, "model": str(body.get("model"))}
    delta: dict[str, Any] = {"role": "assistant", "content": None if calls else ANSWER}
    if calls:
        delta["tool_calls"] = [{"index": 0, **call}]
    message = {"role": "assistant", "content": None, "tool_calls": [call]} if calls else delta
    end = "tool_calls" if calls else "stop"
    chunk = {**about, "object": "chat.completion.chunk"}
    return [
        {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": end}]},
        {**chunk, "choices": [], "usage": usage},
        {"whole": {**about, "object": "chat.completion", "usage": usage,
                   "choices": [{"index": 0, "message": message, "finish_reason": end}]}},
    ]  # fmt: skip


def responses(script: Script, body: dict[str, Any]) -> list[dict[str, Any]]:
    """OpenAI's Responses."""
    if script.calls(body):
        item: dict[str, Any] = {
            "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": script.tool,
            "arguments": json.dumps(script.arguments), "status": "completed", **namespace_of(script.tool, body),
        }  # fmt: skip
    else:
        part = {"type": "output_text", "text": ANSWER, "annotations": []}
        item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}
    usage = {
        "input_tokens": TOKENS[0], "input_tokens_details": {"cached_tokens": 0}, "output_tokens": TOKENS[1],
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": sum(TOKENS),
    }  # fmt: skip
    whole = {
        "id": "resp_1", "object": "response", "created_at": 1_700_000_000, "model": str(body.get("model")),
        "status": "completed", "output": [item], "usage": usage,
    }  # fmt: skip
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {**whole, "status": "in_progress", "output": [], "usage": None}},
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "status": "in_progress"}},
    ]
    if item["type"] == "message":
        events.append({
            "type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0,
            "delta": ANSWER,
        })  # fmt: skip
    events += [
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]
    return [{**event, "sequence_number": number} for number, event in enumerate(events)] + [{"whole": whole}]


def namespace_of(tool: str, body: dict[str, Any]) -> dict[str, Any]:
    """The namespace that a tool is offered in, as Codex offers those of MCP servers."""
    spaces = (one for one in body.get("tools") or () if one.get("type") == "namespace")
    name = next((one["name"] for one in spaces if any(inner.get("name") == tool for inner in one["tools"])), None)
    return {} if name is None else {"namespace": name}


def anthropic(script: Script, body: dict[str, Any]) -> list[dict[str, Any]]:
    """Anthropic's Messages."""
    calls = script.calls(body)
    end = "tool_use" if calls else "end_turn"
    usage = {
        "input_tokens": TOKENS[0], "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
        "output_tokens": TOKENS[1],
    }  # fmt: skip
    block: dict[str, Any] = {"type": "text", "text": ANSWER}
    delta: dict[str, Any] = {"type": "text_delta", "text": ANSWER}
    if calls:
        block = {"type": "tool_use", "id": "toolu_1", "name": script.tool, "input": script.arguments}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(script.arguments)}
    whole = {
        "id": f"msg_{len(script.requests)}", "type": "message", "role": "assistant", "model": str(body.get("model")),
        "content": [block], "stop_reason": end, "stop_sequence": None, "usage": usage,
    }  # fmt: skip
    empty = {**block, "input": {}} if calls else {"type": "text", "text": ""}
    return [
        {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None,
                                              "usage": {**usage, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": empty},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": end, "stop_sequence": None},
         "usage": {"output_tokens": TOKENS[1]}},
        {"type": "message_stop"},
        {"whole": whole},
    ]  # fmt: skip


def gemini(script: Script, body: dict[str, Any]) -> dict[str, Any]:
    """Gemini's generateContent; a stream is one such chunk."""
    part: dict[str, Any] = {"text": ANSWER}
    if script.calls(body):
        part = {"functionCall": {"name": script.tool, "args": script.arguments}}
    wanted = json.dumps(body.get("generationConfig") or {})
    if "responseJsonSchema" in wanted or "responseSchema" in wanted:
        part = {
            "text": json.dumps(
                {"model_choice": "flash", "complexity_score": 1, "reasoning": "", "complexity_reasoning": ""}
            )
        }
    usage = {
        "promptTokenCount": TOKENS[0], "candidatesTokenCount": TOKENS[1], "totalTokenCount": sum(TOKENS),
    }  # fmt: skip
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted"}
