"""Telegram's Bot API on loopback, as its documentation describes it, with faults. The official clients accept it."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit
from urllib.request import Request, urlopen

TOKEN = "42:TEST"
BOT = {
    "id": 42, "is_bot": True, "first_name": "bough", "username": "bough_bot", "can_join_groups": True,
    "can_read_all_group_messages": False, "supports_inline_queries": False, "can_connect_to_business": False,
    "has_main_web_app": False,
}  # fmt: skip
TAGS = {"b", "i", "u", "s", "code", "pre", "a", "strong", "em", "blockquote", "tg-spoiler"}
LARGEST = 20 * 1024 * 1024


class ApiError(Exception):
    """An error of the Bot API."""

    def __init__(self, code: int, text: str, **parameters: Any) -> None:
        super().__init__(text)
        self.code = code
        self.text = text
        self.parameters = parameters


class QuietServer(ThreadingHTTPServer):
    """A server that says nothing when a client hangs up."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


class FakeTelegram:
    """The service. Tests say what people do, and look at what the bot has sent."""

    name = "telegram"

    def __init__(self) -> None:
        self.messages: dict[tuple[int, int], dict[str, Any]] = {}
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.faults: list[tuple[str | None, ApiError | str | float]] = []
        """Method (None for any) and fault, each used once: an error, `drop`, `late` or seconds."""
        self.flood: tuple[float, float] | None = None
        """Seconds between two messages or edits in a chat, and the seconds that an error asks to wait."""
        self.conflicts = 0
        self._updates: list[dict[str, Any]] = []
        self._numbers = iter(range(1, 10**9))
        self._next_update = 1000
        self._files: dict[str, tuple[bytes, int]] = {}
        self._webhook: tuple[str, str] | None = None
        self._last: dict[int, float] = {}
        self._poller: object | None = None
        self._changed = threading.Condition()
        self._server = QuietServer(("127.0.0.1", 0), handler_of(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> FakeTelegram:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def settings(self) -> str:
        """The lines of the configuration with which a bot uses this service."""
        return f'token = "{TOKEN}"\nbase_url = "{self.url}"'

    # People ---------------------------------------------------------------------------------------------------------

    def say(self, text: str | None = None, *, chat: int = 7, sender: int = 7, name: str = "Ann", **fields: Any) -> int:
        """Somebody sends a message; `reply_to` and `topic` are ids, `photo`, `document` and `voice` bytes.

        The bot does not hear of one that `is_past`.
        """
        with self._changed:
            number = next(self._numbers)
            message: dict[str, Any] = {
                "message_id": number, "date": int(time.time()),
                "from": {"id": sender, "is_bot": False, "first_name": name},
                "chat": {"id": chat, "type": "private", "first_name": name} if chat > 0
                else {"id": chat, "type": "supergroup", "title": "Garden"},
            }  # fmt: skip
            if text is not None:
                message["text"] = text
                if text.startswith("/"):
                    entity = {"type": "bot_command", "offset": 0, "length": len(text.split()[0])}
                    message["entities"] = [entity]
            if reply_to := fields.pop("reply_to", None):
                message["reply_to_message"] = self.messages[chat, reply_to]
            if topic := fields.pop("topic", None):
                message |= {"message_thread_id": topic, "is_topic_message": True}
            for kind in ("photo", "document", "voice"):
                if content := fields.pop(kind, None):
                    message |= self._attached(kind, content, fields.pop("size", len(content)))
            is_past = fields.pop("is_past", False)
            message |= fields
            self.messages[chat, number] = message
            if not is_past:
                self.push({"message": message})
            return number

    def reword(self, number: int, text: str, *, chat: int = 7) -> None:
        """Somebody edits a message."""
        with self._changed:
            before = self.messages[chat, number]
            stamp = before.get("edit_date", int(time.time())) + 1
            self.messages[chat, number] = edited = {**before, "text": text, "edit_date": stamp}
            self.push({"edited_message": edited})

    def press(self, number: int, data: str, *, chat: int = 7, sender: int = 7) -> None:
        """Somebody presses a button below a message."""
        person = {"id": sender, "is_bot": False, "first_name": "Ann"}
        query = {"id": str(time.monotonic_ns()), "from": person, "chat_instance": "1", "data": data}
        self.push({"callback_query": {**query, "message": self.messages[chat, number]}})

    def push(self, body: dict[str, Any], update_id: int | None = None) -> dict[str, Any]:
        """Deliver an update; again, with a given id."""
        with self._changed:
            update = {"update_id": update_id or self._next_update, **body}
            self._next_update = max(self._next_update, update["update_id"] + 1)
            self._updates.append(update)
            self._changed.notify_all()
            if self._webhook is not None:
                threading.Thread(target=self._call_webhook, args=(update,), daemon=True).start()
            return update

    def sent(self, chat: int = 7) -> list[dict[str, Any]]:
        """The bot's messages in a chat, in their order."""
        with self._changed:
            return [one for (c, _), one in sorted(self.messages.items()) if c == chat and one["from"]["id"] == 42]

    def texts(self, chat: int = 7) -> list[str]:
        """Their texts."""
        return [one.get("text", "") for one in self.sent(chat)]

    def called(self, method: str) -> list[dict[str, Any]]:
        """The calls of a method."""
        return [fields for name, fields in self.calls if name == method.lower()]

    # The API --------------------------------------------------------------------------------------------------------

    def answer(self, method: str, fields: dict[str, Any]) -> Any:
        """The result of a call. Raises `ApiError`."""
        function: Callable[[dict[str, Any]], Any] | None = getattr(self, f"do_{method}", None)
        if function is None:
            raise ApiError(404, "Not Found")
        return function(fields)

    def fault(self, method: str) -> ApiError | str | float | None:
        """The next fault for a method, which is then used up."""
        for index, (name, fault) in enumerate(self.faults):
            if name is None or name.lower() == method:
                del self.faults[index]
                return fault
        return None

    def file(self, name: str) -> bytes | None:
        """The content of a file, by its path."""
        found = self._files.get(name)
        return None if found is None else found[0]

    def do_getme(self, _: dict[str, Any]) -> Any:
        return BOT

    def do_setmycommands(self, _: dict[str, Any]) -> Any:
        return True

    do_sendchataction = do_answercallbackquery = do_setmessagereaction = do_setmycommands

    def do_deletewebhook(self, _: dict[str, Any]) -> Any:
        self._webhook = None
        return True

    def do_setwebhook(self, fields: dict[str, Any]) -> Any:
        self._webhook = (fields["url"], fields.get("secret_token", ""))
        return True

    def do_getupdates(self, fields: dict[str, Any]) -> Any:
        if self._webhook is not None:
            raise ApiError(409, "Conflict: can't use getUpdates method while webhook is active")
        offset, ends_at, me = (
            int(fields.get("offset") or 0),
            time.monotonic() + float(fields.get("timeout") or 0),
            object(),
        )
        with self._changed:
            if self._poller is not None:
                self.conflicts += 1
            self._poller = me
            self._changed.notify_all()
            self._updates = [one for one in self._updates if one["update_id"] >= offset]  # the others are confirmed
            while True:
                if self._poller is not me:
                    raise ApiError(409, "Conflict: terminated by other getUpdates request")
                allowed = fields.get("allowed_updates")
                found = [one for one in self._updates if not allowed or not set(one).isdisjoint(allowed)]
                left = ends_at - time.monotonic()
                if found or left <= 0:
                    self._poller = None
                    return found[: int(fields.get("limit") or 100)]
                self._changed.wait(left)

    def do_sendmessage(self, fields: dict[str, Any]) -> Any:
        text = text_of(fields)
        self._throttle(int(fields["chat_id"]))
        return self._send(fields, text=text)

    def do_senddocument(self, fields: dict[str, Any]) -> Any:
        content = fields["document"]
        if isinstance(content, str):  # the name of the part that has it
            content = fields[content.removeprefix("attach://")]
        return self._send(fields, document={"file_id": self._keep(content), "file_unique_id": "u"})

    def do_editmessagetext(self, fields: dict[str, Any]) -> Any:
        message = self.messages.get((int(fields["chat_id"]), int(fields["message_id"])))
        if message is None:
            raise ApiError(400, "Bad Request: message to edit not found")
        text = text_of(fields)
        self._throttle(int(fields["chat_id"]))
        markup = fields.get("reply_markup")
        if text == message["text"] and markup == message.get("reply_markup"):
            raise ApiError(400, "Bad Request: message is not modified: specified new message content is the same")
        with self._changed:
            message.pop("reply_markup", None)  # an edit without buttons takes them away
            message |= {"text": text, "edit_date": int(time.time())} | ({"reply_markup": markup} if markup else {})
        return message

    def do_deletemessage(self, fields: dict[str, Any]) -> Any:
        with self._changed:
            if self.messages.pop((int(fields["chat_id"]), int(fields["message_id"])), None) is None:
                raise ApiError(400, "Bad Request: message to delete not found")
        return True

    def do_getfile(self, fields: dict[str, Any]) -> Any:
        name = fields["file_id"]
        if name not in self._files:
            raise ApiError(400, "Bad Request: wrong file_id or the file is temporarily unavailable")
        if self._files[name][1] > LARGEST:
            raise ApiError(400, "Bad Request: file is too big")
        return {"file_id": name, "file_unique_id": "u", "file_size": self._files[name][1], "file_path": name}

    def _send(self, fields: dict[str, Any], **body: Any) -> dict[str, Any]:
        chat = int(fields["chat_id"])
        with self._changed:
            message = {
                "message_id": next(self._numbers), "date": int(time.time()), "from": BOT,
                "chat": {"id": chat, "type": "private" if chat > 0 else "supergroup"}, **body,
            }  # fmt: skip
            if replied := fields.get("reply_parameters"):
                target = self.messages.get((chat, int(replied["message_id"])))
                if target is None and not replied.get("allow_sending_without_reply"):
                    raise ApiError(400, "Bad Request: message to be replied not found")
                if target is not None:
                    message["reply_to_message"] = target
            for name in ("message_thread_id", "reply_markup"):
                if fields.get(name):
                    message[name] = fields[name]
            self.messages[chat, message["message_id"]] = message
            return message

    def _throttle(self, chat: int) -> None:
        if self.flood is not None:
            if time.monotonic() - self._last.get(chat, -9) < self.flood[0]:
                raise ApiError(429, f"Too Many Requests: retry after {self.flood[1]}", retry_after=self.flood[1])
            self._last[chat] = time.monotonic()

    def _attached(self, kind: str, content: bytes, size: int) -> dict[str, Any]:
        file = {"file_id": self._keep(content, size), "file_unique_id": "u", "file_size": size}
        match kind:
            case "photo":
                return {"photo": [{**file, "width": 9, "height": 9}]}
            case "voice":
                return {"voice": {**file, "duration": 1, "mime_type": "audio/ogg"}}
        return {"document": {**file, "file_name": "notes.txt"}}

    def _keep(self, content: bytes, size: int | None = None) -> str:
        name = f"F{len(self._files)}"
        self._files[name] = (content, len(content) if size is None else size)
        return name

    def _call_webhook(self, update: dict[str, Any]) -> None:
        for pause in (0.0, 0.2, 0.5):
            time.sleep(pause)
            if self._webhook is None:
                return
            url, secret = self._webhook
            headers = {"Content-Type": "application/json", "X-Telegram-Bot-Api-Secret-Token": secret}
            try:
                with urlopen(Request(url, json.dumps(update).encode(), headers), timeout=5):
                    return
            except OSError:
                continue


def text_of(fields: dict[str, Any]) -> str:
    """The text of a message. Raises `ApiError` for one that is empty, too long, or not well-formed."""
    text = str(fields.get("text") or "")
    if fields.get("parse_mode") == "HTML":
        text = parsed(text)
    if not text.strip():
        raise ApiError(400, "Bad Request: message text is empty")
    if len(text.encode("utf-16-le")) // 2 > 4096:
        raise ApiError(400, "Bad Request: message is too long")
    return text


def parsed(text: str) -> str:
    """The text of HTML. Raises `ApiError` for a tag that Telegram does not know, or that is not closed."""
    from html import unescape

    problem = "Bad Request: can't parse entities: "
    open_tags: list[str] = []
    for match in re.finditer(r"<(/?)([^\s>]*)[^>]*>", text):
        if match[2] not in TAGS:
            raise ApiError(400, f"{problem}Unsupported start tag {match[2]!r} at byte offset {match.start()}")
        if not match[1]:
            open_tags.append(match[2])
        elif not open_tags or open_tags.pop() != match[2]:
            raise ApiError(400, f"{problem}Unmatched end tag at byte offset {match.start()}")
    if open_tags:
        raise ApiError(400, f"{problem}Can't find end tag corresponding to start tag {open_tags[-1]!r}")
    return unescape(re.sub(r"<[^>]+>", "", text))


def handler_of(telegram: FakeTelegram) -> type[BaseHTTPRequestHandler]:
    """A handler of requests for a service."""

    class ApiHandler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._handle()

        def do_POST(self) -> None:
            self._handle()

        def _handle(self) -> None:
            where = urlsplit(self.path)
            fields = {**dict(parse_qsl(where.query)), **dict(self._fields())}
            if unquote(where.path).startswith(f"/file/bot{TOKEN}/"):
                content = telegram.file(where.path.rpartition("/")[2])
                self._reply(404 if content is None else 200, content or b"", "application/octet-stream")
                return
            _, _, method = unquote(where.path).partition(f"/bot{TOKEN}/")
            if not method:
                self._json(401, {"ok": False, "error_code": 401, "description": "Unauthorized"})
                return
            self._call(method.lower(), fields)

        def _call(self, method: str, fields: dict[str, Any]) -> None:
            telegram.calls.append((method, fields))
            fault = telegram.fault(method)
            try:
                if isinstance(fault, ApiError):
                    raise fault
                if isinstance(fault, float):
                    time.sleep(fault)
                if fault != "drop":
                    result = telegram.answer(method, fields)
                if isinstance(fault, str):  # dropped before or after the work
                    self.close_connection = True
                    return
                self._json(200, {"ok": True, "result": result})
            except ApiError as error:
                body = {"ok": False, "error_code": error.code, "description": error.text}
                self._json(error.code, body | ({"parameters": error.parameters} if error.parameters else {}))

        def _fields(self) -> Iterator[tuple[str, Any]]:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            kind = self.headers.get("Content-Type", "")
            if kind.startswith("application/json"):
                yield from json.loads(body).items()
            elif kind.startswith("multipart/"):
                whole = BytesParser(policy=HTTP).parsebytes(f"Content-Type: {kind}\r\n\r\n".encode() + body)
                for part in whole.iter_parts():
                    name, content = part.get_param("name", header="content-disposition"), part.get_payload(decode=True)
                    yield str(name), content if part.get_filename() else decoded(bytes(content).decode())
            else:
                yield from ((name, decoded(text)) for name, text in parse_qsl(body.decode()))

        def _json(self, status: int, body: Any) -> None:
            self._reply(status, json.dumps(body).encode(), "application/json")

        def _reply(self, status: int, body: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return ApiHandler


def decoded(text: str) -> Any:
    """A field of a form; objects and lists are JSON."""
    return json.loads(text) if text[:1] in ("{", "[") else text
