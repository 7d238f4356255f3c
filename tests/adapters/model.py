"""A model on the loopback interface that looks at the sea first, and answers then."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from bough import formats
from tests.providers.servers import Heard, Server, head, read, serving, status

MODEL = "gpt-5-mini"
GEMINI = "gemini-2.5-flash"


class Model(Server):
    """Answers a question with a call of its tool, and the result of that with words. `hold` keeps it from answering."""

    def __init__(self) -> None:
        super().__init__([])
        self.held = threading.Event()
        self.holds = False

    def answer(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            heard = read(connection)
            self.heard.append(heard)
            if self.holds and self._has_result(heard):
                self.held.set()
                while connection.recv(1):
                    pass
                return
            body = REPLIES[form(heard)[0]](heard)
            if heard.body.get("stream"):
                connection.sendall(head() + stream(body))
            else:
                status(200, body)(connection)

    def _has_result(self, heard: Heard) -> bool:
        return asks(heard) == "result"

    def requests(self) -> list[tuple[str, list[Any]]]:
        """The format and the list of each request."""
        return [form(heard) for heard in self.heard]

    def check(self) -> None:
        """Fails for a request that a provider would refuse."""
        for name, items in self.requests():
            assert formats.get(name).check(items) == []


@contextmanager
def model() -> Iterator[Model]:
    served = Model()
    with serving() as server:
        server.answer = served.answer  # type: ignore[method-assign]
        served.address = server.address
        yield served


def form(heard: Heard) -> tuple[str, list[Any]]:
    if "input" in heard.body:
        return "openai.responses", heard.body["input"]
    if "contents" in heard.body:
        return "gemini", heard.body["contents"]
    return "openai.chat", heard.body["messages"]


def asks(heard: Heard) -> str:
    last = form(heard)[1][-1]
    result = any("functionResponse" in part for part in last.get("parts", ()))
    result = result or last.get("role") == "tool" or last.get("type") == "function_call_output"
    return "result" if result else "question"


def text_of(heard: Heard) -> str:
    """What was asked last."""
    contents = [item.get("content", item.get("parts")) for item in form(heard)[1] if item.get("role") == "user"]
    texts = [one if isinstance(one, str) else "".join(part.get("text", "") for part in one) for one in contents]
    return [text for text in texts if text][-1]


def responses(heard: Heard) -> dict[str, Any]:
    n = len(form(heard)[1])
    call = {"type": "function_call", "id": f"fc_{n}", "call_id": f"call_{n}", "name": "look", "status": "completed",
            "arguments": json.dumps({"place": "sea"})}  # fmt: skip
    said = {"type": "output_text", "text": f"Answer to {text_of(heard)}", "annotations": [], "logprobs": []}
    message = {"type": "message", "id": f"msg_{n}", "role": "assistant", "status": "completed", "content": [said]}
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15, "input_tokens_details": {"cached_tokens": 0},
             "output_tokens_details": {"reasoning_tokens": 0}}  # fmt: skip
    return {
        "id": f"resp_{n}", "object": "response", "created_at": 1, "model": MODEL, "status": "completed",
        "output": [call if asks(heard) == "question" else message], "usage": usage, "tools": [], "tool_choice": "auto",
        "parallel_tool_calls": True, "error": None, "incomplete_details": None, "instructions": None, "metadata": {},
    }  # fmt: skip


def chat(heard: Heard) -> dict[str, Any]:
    n = len(form(heard)[1])
    call = {"id": f"call_{n}", "type": "function",
            "function": {"name": "look", "arguments": json.dumps({"place": "sea"})}}  # fmt: skip
    first = asks(heard) == "question"
    message = {"role": "assistant", "content": None if first else f"Answer to {text_of(heard)}"}
    choice = {"index": 0, "message": {**message, **({"tool_calls": [call]} if first else {})},
              "finish_reason": "tool_calls" if first else "stop"}  # fmt: skip
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    return {"id": f"chatcmpl-{n}", "object": "chat.completion", "created": 1, "model": MODEL, "choices": [choice],
            "usage": usage}  # fmt: skip


def gemini(heard: Heard) -> dict[str, Any]:
    n = len(form(heard)[1])
    call = {"functionCall": {"id": f"call_{n}", "name": "look", "args": {"place": "sea"}}}
    part = call if asks(heard) == "question" else {"text": f"Answer to {text_of(heard)}"}
    return {
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
        "modelVersion": GEMINI, "responseId": f"resp_{n}",
    }  # fmt: skip


REPLIES = {"openai.responses": responses, "openai.chat": chat, "gemini": gemini}


def stream(body: dict[str, Any]) -> bytes:
    """A whole chat completion as the events of a stream."""
    (choice,) = body["choices"]
    delta = dict(choice["message"])
    if "tool_calls" in delta:
        delta["tool_calls"] = [{"index": at, **call} for at, call in enumerate(delta["tool_calls"])]
    about = {**body, "object": "chat.completion.chunk", "usage": None}
    chunks = [
        {**about, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**about, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]},
        {**about, "choices": [], "usage": body["usage"]},
    ]
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks).encode() + b"data: [DONE]\n\n"
