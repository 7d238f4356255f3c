"""A Matrix homeserver on loopback, as the client-server API describes it."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.channels.fake_telegram import QuietServer

TOKEN = "syt_secret"
ME = "@bough:here"
ROOM = "!garden:here"


class FakeMatrix:
    """The homeserver. Tests say what people do, and look at what the bot has sent."""

    name = "matrix"

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.members = {ROOM: 3, "!direct:here": 2}
        self.calls: list[tuple[str, str, Any]] = []
        self.faults: list[tuple[str, int | str]] = []
        """Part of a path and fault, each used once: a status, or `late`."""
        self._transactions: dict[str, str] = {}
        self.files: dict[str, bytes] = {}
        self._changed = threading.Condition()
        self._server = QuietServer(("127.0.0.1", 0), handler_of(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> FakeMatrix:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def settings(self) -> str:
        """The lines of the configuration with which a bot uses this service."""
        return f'token = "{TOKEN}"\nbase_url = "{self.url}"'

    def say(self, text: str, room: str = "!direct:here", sender: str = "@ann:here", content: Any = None) -> str:
        """Somebody sends a message, with more content; its id."""
        return self.add(room, sender, "m.room.message", {"msgtype": "m.text", "body": text, **(content or {})})

    def reword(self, message: str, text: str, room: str = "!direct:here") -> str:
        """Somebody edits a message."""
        relation = {"rel_type": "m.replace", "event_id": message}
        new = {"msgtype": "m.text", "body": text}
        return self.say(f"* {text}", room, content={"m.new_content": new, "m.relates_to": relation})

    def add(self, room: str, sender: str, kind: str, content: dict[str, Any], **more: Any) -> str:
        with self._changed:
            number = f"$e{len(self.events)}"
            event = {"event_id": number, "sender": sender, "type": kind, "content": content, **more}
            self.events.append((room, event))
            self._changed.notify_all()
            return number

    def texts(self, chat: str = "!direct:here") -> list[str]:
        """The texts of the bot's messages in a room, as they are now."""
        shown: dict[str, str] = {}
        for room, event in list(self.events):
            if room != chat or event["sender"] != ME:
                continue
            relation = event["content"].get("m.relates_to", {})
            is_edit = relation.get("rel_type") == "m.replace"
            shown[relation["event_id"] if is_edit else event["event_id"]] = event["content"]["body"]
        return list(shown.values())

    def sync(self, since: int, timeout: float) -> dict[str, Any]:
        ends_at = time.monotonic() + timeout
        with self._changed:
            while len(self.events) <= since and (left := ends_at - time.monotonic()) > 0:
                self._changed.wait(left)
            joined: dict[str, Any] = {}
            for room, event in self.events[since:]:
                joined.setdefault(room, {"timeline": {"events": []}})["timeline"]["events"].append(event)
            return {"next_batch": str(len(self.events)), "rooms": {"join": joined}}

    def put(self, room: str, transaction: str, content: dict[str, Any]) -> str:
        if transaction not in self._transactions:
            self._transactions[transaction] = self.add(room, ME, "m.room.message", content)
        return self._transactions[transaction]

    def fault(self, path: str) -> int | str | None:
        for index, (part, fault) in enumerate(self.faults):
            if part in path:
                del self.faults[index]
                return fault
        return None


def handler_of(matrix: FakeMatrix) -> type[BaseHTTPRequestHandler]:
    class MatrixHandler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._handle()

        def do_PUT(self) -> None:
            self._handle()

        def do_POST(self) -> None:
            self._handle()

        def _handle(self) -> None:
            where = urlsplit(self.path)
            path, query = unquote(where.path), dict(parse_qsl(where.query))
            content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            is_file = path.startswith(("/_matrix/media/", "/_matrix/client/v1/media/"))
            data = json.loads(content) if content and not is_file else {}
            matrix.calls.append((self.command, path, data))
            if self.headers.get("Authorization") != f"Bearer {TOKEN}":
                self._json(401, {"errcode": "M_UNKNOWN_TOKEN", "error": "Unknown token"})
                return
            if is_file:
                self._file(path, content)
                return
            fault = matrix.fault(path)
            if isinstance(fault, int):
                self._json(fault, {"errcode": "M_LIMIT_EXCEEDED", "error": "Wait", "retry_after_ms": 100})
                return
            result = self._result(path.removeprefix("/_matrix/client/v3/").split("/"), query, data)
            if fault == "late":
                self.close_connection = True
                return
            self._json(404 if result is None else 200, result or {"errcode": "M_NOT_FOUND", "error": "Not found"})

        def _file(self, path: str, content: bytes) -> None:
            if path.endswith("/upload"):
                name = f"here/{len(matrix.files)}"
                matrix.files[name] = content
                self._json(200, {"content_uri": f"mxc://{name}"})
            else:
                found = matrix.files["/".join(path.split("/")[-2:])]
                self._reply(200, found, "application/octet-stream")

        def _result(self, parts: list[str], query: dict[str, str], data: Any) -> Any:
            match parts:
                case ["account", "whoami"]:
                    return {"user_id": ME}
                case ["sync"]:
                    since = query.get("since")
                    return matrix.sync(int(since or len(matrix.events)), float(query.get("timeout", 0)) / 1000)
                case ["rooms", room, "joined_members"]:
                    return {"joined": {str(number): {} for number in range(matrix.members[room])}}
                case ["rooms", _, "typing", _]:
                    return {"ok": True}
                case ["rooms", room, "send", "m.room.message", transaction]:
                    return {"event_id": matrix.put(room, transaction, data)}
            return None

        def _json(self, status: int, body: Any) -> None:
            self._reply(status, json.dumps(body).encode(), "application/json")

        def _reply(self, status: int, content: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return MatrixHandler
