"""`python -m bench.upstream`: a provider that answers at once, with a stream of 20 chunks. Prints its address."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import suppress
from typing import Any

CHUNKS = 20


def reply() -> bytes:
    def chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}

    events = [chunk({"role": "assistant", "content": f"word {number} "}) for number in range(CHUNKS)]
    events.append(chunk({}, "stop"))
    events.append({**chunk({}), "choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": CHUNKS}})
    body = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" + body.encode()


def answer(connection: socket.socket, whole: bytes) -> None:
    with connection, suppress(OSError):
        data = b""
        while b"\r\n\r\n" not in data:
            data += connection.recv(65_536)
        head, _, body = data.partition(b"\r\n\r\n")
        length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        while len(body) < length:
            body += connection.recv(65_536)
        connection.sendall(whole)


def main() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=512) as listener:
        print(f"http://127.0.0.1:{listener.getsockname()[1]}/v1", flush=True)
        whole = reply()
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=answer, args=(connection, whole), daemon=True).start()


if __name__ == "__main__":
    main()
