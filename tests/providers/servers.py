"""HTTP servers on the loopback interface with byte-exact responses."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

Act = Callable[[socket.socket], None]
"""What the server does with one request, once it has read it."""


@dataclass
class Heard:
    """One request as it arrived."""

    line: str
    headers: dict[str, str]
    body: Any


@dataclass
class Server:
    """Serves one act per request, the last one for ever, and remembers the requests."""

    acts: Sequence[Act]
    heard: list[Heard] = field(default_factory=list)
    address: str = ""

    def serve(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                threading.Thread(target=self.answer, args=(connection,), daemon=True).start()

    def answer(self, connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with connection, suppress(OSError):
            self.heard.append(read(connection))
            self.acts[min(len(self.heard), len(self.acts)) - 1](connection)


@contextmanager
def serving(*acts: Act) -> Iterator[Server]:
    server = Server(acts)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server.address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        thread = threading.Thread(target=server.serve, args=(listener,), daemon=True)
        thread.start()
        yield server
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


def read(connection: socket.socket) -> Heard:
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65536) or bad()
    head, _, body = data.partition(b"\r\n\r\n")
    line, *rest = head.decode().split("\r\n")
    headers = {key.lower(): value.strip() for key, _, value in (one.partition(":") for one in rest)}
    while len(body) < int(headers.get("content-length", 0)):
        body += connection.recv(65536) or bad()
    return Heard(line, headers, json.loads(body) if body else None)


def bad() -> bytes:
    raise OSError("The client hung up.")


def head(status: int = 200, content_type: str = "text/event-stream", **headers: object) -> bytes:
    lines = [f"HTTP/1.1 {status} Said", f"Content-Type: {content_type}", "Connection: close"]
    lines += [f"{key.replace('_', '-')}: {value}" for key, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode()


def sse(events: Sequence[Any]) -> bytes:
    """Events as a stream has them; a string is data as it is."""
    frames = []
    for event in events:
        name = f"event: {event['type']}\n" if isinstance(event, dict) and "type" in event else ""
        data = event if isinstance(event, str) else json.dumps(event, ensure_ascii=False)
        frames.append(f"{name}data: {data}\n\n")
    return "".join(frames).encode()


def stream(events: Sequence[Any], content_type: str = "text/event-stream", **headers: object) -> Act:
    """A whole stream, which ends by closing the connection."""
    return lambda connection: connection.sendall(head(200, content_type, **headers) + sse(events))


def drip(events: Sequence[Any]) -> Act:
    """The same, a byte at a time: no character and no line arrives in one piece."""

    def act(connection: socket.socket) -> None:
        connection.sendall(head())
        for byte in sse(events).replace(b"\n", b"\r\n"):
            connection.sendall(bytes([byte]))

    return act


def torn(events: Sequence[Any]) -> Act:
    """A chunked stream whose last chunk never comes."""

    def act(connection: socket.socket) -> None:
        data = sse(events)
        connection.sendall(head(Transfer_Encoding="chunked") + b"%x\r\n%s\r\n" % (len(data), data))

    return act


def hold(events: Sequence[Any], hung_up: threading.Event) -> Act:
    """Says so much, and then waits until the client hangs up."""

    def act(connection: socket.socket) -> None:
        connection.sendall(head() + sse(events))
        with suppress(OSError):
            while connection.recv(1):
                pass
        hung_up.set()

    return act


def status(code: int, body: Any = None, content_type: str = "application/json", **headers: object) -> Act:
    data = body.encode() if isinstance(body, str) else json.dumps(body or {}).encode()

    def act(connection: socket.socket) -> None:
        connection.sendall(head(code, content_type, Content_Length=len(data), **headers) + data)

    return act


def drop(connection: socket.socket) -> None:
    """Closes without a word."""
