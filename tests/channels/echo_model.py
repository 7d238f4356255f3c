"""A model on loopback, in the shape of OpenAI's Chat API, that repeats the last question word by word."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class EchoModel:
    """The server. `pause` is the time before each word; `failing` answers with an error."""

    def __init__(self) -> None:
        self.pause = 0.0
        self.failing = False
        self.requests: list[dict[str, Any]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler_of(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> EchoModel:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def echo(messages: list[dict[str, Any]]) -> str:
    """The answer: what the user said last; a text after `SAY ` as it is, without the two words."""
    content = next(message["content"] for message in reversed(messages) if message["role"] == "user")
    if isinstance(content, list):
        texts = [part["text"] if part["type"] == "text" else f"[{part['type']}]" for part in content]
        content = " ".join(texts)
    return content[4:] if content.startswith("SAY ") else f"echo of {content}"


def handler_of(model: EchoModel) -> type[BaseHTTPRequestHandler]:
    class ChatHandler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            model.requests.append(asked)
            if model.failing:
                self._head(400, "application/json")
                self.wfile.write(b'{"error": {"message": "The model is on holiday.", "type": "invalid_request_error"}}')
                return
            self._head(200, "text/event-stream")
            try:
                for place, word in enumerate(echo(asked["messages"]).split(" ")):
                    time.sleep(model.pause)
                    self._chunk({"content": f" {word}" if place else word})
                self._chunk({}, "stop")
                usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
                self._event({"id": "c1", "object": "chat.completion.chunk", "choices": [], "usage": usage})
                self.wfile.write(b"data: [DONE]\n\n")
            except OSError:
                pass  # the client has stopped listening

        def _head(self, status: int, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.end_headers()

        def _chunk(self, delta: dict[str, Any], reason: str | None = None) -> None:
            choice = {"index": 0, "delta": delta, "finish_reason": reason}
            self._event({"id": "c1", "object": "chat.completion.chunk", "model": "echo", "choices": [choice]})

        def _event(self, event: dict[str, Any]) -> None:
            self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
            self.wfile.flush()

        def log_message(self, format: str, *args: object) -> None:
            pass

    return ChatHandler
