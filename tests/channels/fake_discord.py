"""Discord on loopback: its REST API and its gateway, as the documentation describes them, with faults."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Coroutine
from typing import Any, TypeVar

from aiohttp import web

from tests.channels.discord_payloads import (
    BOT,
    DIRECT,
    EVERYTHING,
    GUILD,
    MEMBER,
    TEXT,
    THREAD,
    guild,
    moment,
    person,
    placed,
)  # fmt: skip
from tests.channels.fake_gateway import FakeGateway

T = TypeVar("T")

TOKEN = "NDI.abc.def"
CHANNEL = "200"
EPOCH = 1_420_070_400_000
LONGEST, LARGEST = 2000, 10 << 20


class ApiError(Exception):
    """An error of the API."""

    def __init__(self, status: int, code: int, text: str, **more: Any) -> None:
        super().__init__(text)
        self.status = status
        self.body = {"message": text, "code": code, **more}


class FakeDiscord:
    """The service, with one guild. Tests say what people do, and look at what the bot has sent."""

    name = "discord"

    def __init__(self) -> None:
        self.bot = person(BOT, "bough", bot=True)
        self.channels: dict[str, dict[str, Any]] = {}
        self.messages: dict[str, dict[str, Any]] = {}
        self.commands: list[dict[str, Any]] = []
        self.calls: list[tuple[str, str, Any]] = []
        self.faults: list[tuple[str, str, ApiError | str | float]] = []
        """Method, part of a path, and fault, each used once: an error, `drop`, `late` or seconds."""
        self.bucket: tuple[int, float] | None = None
        """Messages and edits of a channel, and the seconds in which no more are accepted."""
        self.confirmed: dict[str, dict[str, Any]] = {}
        self.gateway = FakeGateway(TOKEN, self._hello)
        self._nonces: dict[tuple[str, str], str] = {}
        self._files: dict[str, bytes] = {}
        self._windows: dict[str, tuple[float, int]] = {}
        self._newest = 0
        self._loop = asyncio.new_event_loop()
        self.add_channel(CHANNEL, "garden")

    def __enter__(self) -> FakeDiscord:
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._do(self._start())
        return self

    def __exit__(self, *_: object) -> None:
        self._do(self.gateway.cut())
        self._do(self._runner.cleanup())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def settings(self) -> str:
        """The lines of the configuration with which a bot uses this service."""
        return f'token = "{TOKEN}"\napi_url = "{self.api_url}"\ngateway_url = "{self.gateway_url}"'

    # People ---------------------------------------------------------------------------------------------------------

    def say(self, text: str, channel: str = CHANNEL, sender: str = "7", name: str = "Ann", **fields: Any) -> str:
        """Somebody sends a message; `reply_to` is an id, `files` are names and bytes. Its id."""
        reply_to, files = fields.pop("reply_to", None), fields.pop("files", {})
        return self._do(self._say(text, channel, person(sender, name), reply_to, files, fields))

    def reword(self, message: str, text: str) -> None:
        """Somebody edits a message."""
        self.messages[message] = edited = {**self.messages[message], "content": text, "edited_timestamp": moment()}
        self.dispatch("MESSAGE_UPDATE", edited)

    def preview(self, message: str) -> None:
        """Discord adds a preview to a message, which is no edit."""
        self.dispatch("MESSAGE_UPDATE", {**self.messages[message], "embeds": [{"type": "link"}]})

    def remove(self, message: str) -> None:
        """Somebody deletes a message."""
        gone = self.messages.pop(message)
        self.dispatch("MESSAGE_DELETE", {"id": message, **placed(gone)})

    def react(self, message: str, emoji: str, sender: str = "7") -> None:
        """Somebody reacts to a message."""
        given = {
            "user_id": sender,
            "message_id": message,
            "emoji": {"id": None, "name": emoji},
            "type": 0,
            "burst": False,
        }
        self.dispatch("MESSAGE_REACTION_ADD", {**given, **placed(self.messages[message])})

    def direct(self, sender: str = "7") -> str:
        """The channel of the direct messages of somebody."""
        channel = f"9{sender}"
        made = {"id": channel, "type": DIRECT, "last_message_id": None, "recipients": [person(sender)], "flags": 0}
        self.channels.setdefault(channel, made)
        return channel

    def thread(self, message: str) -> str:
        """Somebody begins a thread at a message. It has the id of the message."""
        state = {"archived": False, "auto_archive_duration": 1440, "archive_timestamp": moment(), "locked": False}
        made = self.add_channel(message, "thread", THREAD) | {
            "parent_id": self.messages[message]["channel_id"], "owner_id": "7", "message_count": 0, "member_count": 1,
            "total_message_sent": 0, "flags": 0, "thread_metadata": {**state, "create_timestamp": moment()},
        }  # fmt: skip
        self.channels[message] = made
        self.dispatch("THREAD_CREATE", {**made, "newly_created": True})
        return message

    def slash(self, name: str, words: str = "", channel: str = CHANNEL, sender: str = "7") -> str:
        """Somebody uses a slash command. The id of the interaction."""
        options = [{"name": "text", "type": 3, "value": words}] if words else []
        return self._interact(2, {"id": "50", "name": name, "type": 1, "options": options}, channel, sender)

    def press(self, message: str, label: str, sender: str = "7") -> str:
        """Somebody presses a button below a message. The id of the interaction."""
        sent = self.messages[message]
        found = [button for row in sent["components"] for button in row["components"] if label in button["label"]]
        data = {"component_type": 2, "custom_id": found[0]["custom_id"]}
        return self._interact(3, data, sent["channel_id"], sender, message=sent)

    def sent(self, channel: str = CHANNEL) -> list[dict[str, Any]]:
        """The bot's messages in a channel, in their order."""
        found = sorted(self.messages.copy().values(), key=lambda one: int(one["id"]))
        return [one for one in found if one["author"]["id"] == BOT and one["channel_id"] == channel]

    def texts(self, channel: str = CHANNEL) -> list[str]:
        """Their texts."""
        return [one["content"] for one in self.sent(channel)]

    def called(self, method: str, part: str) -> list[Any]:
        """The bodies of calls."""
        return [body for name, path, body in self.calls if name == method and part in path]

    def add_channel(self, channel: str, name: str, kind: int = TEXT) -> dict[str, Any]:
        """A channel of the guild."""
        self.channels[channel] = {
            "id": channel, "type": kind, "guild_id": GUILD, "name": name, "position": 0, "permission_overwrites": [],
            "nsfw": False, "topic": None, "parent_id": None, "last_message_id": None, "rate_limit_per_user": 0,
        }  # fmt: skip
        return self.channels[channel]

    def dispatch(self, name: str, data: Any) -> None:
        """Deliver an event."""
        self._do(self.gateway.dispatch(name, data))

    def cut(self, code: int | None = None) -> None:
        """End the connections of the gateway."""
        self._do(self.gateway.cut(code))

    def ask_to_reconnect(self) -> None:
        """Op 7."""
        self._do(self.gateway.ask_to_reconnect())

    def new_id(self) -> str:
        """An id: they grow with time."""
        self._newest = max(self._newest + 1, (int(time.time() * 1000) - EPOCH) << 22)
        return str(self._newest)

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(20)

    async def _say(
        self, text: str, channel: str, author: dict[str, Any], reply_to: str | None, files: dict[str, bytes],
        fields: dict[str, Any],
    ) -> str:  # fmt: skip
        message = self._message(channel, author, text) | fields
        if f"<@{BOT}>" in text:
            message["mentions"] = [self.bot]
        self._refer(message, reply_to)
        message["attachments"] = [self._attached(name, content) for name, content in files.items()]
        self._keep(message)
        await self.gateway.dispatch("MESSAGE_CREATE", message)
        return str(message["id"])

    def _interact(self, kind: int, data: dict[str, Any], channel: str, sender: str, **more: Any) -> str:
        number, place = self.new_id(), self.channels[channel]
        pressed = {
            "id": number, "application_id": BOT, "type": kind, "token": f"T{number}", "version": 1, "data": data,
            "channel_id": channel, "channel": place, "locale": "en-US", "entitlements": [], "context": 0,
            "authorizing_integration_owners": {}, "attachment_size_limit": LARGEST, "app_permissions": EVERYTHING,
            **more,
        }  # fmt: skip
        if place["type"] == DIRECT:
            pressed["user"] = person(sender)
        else:
            member = {"user": person(sender), **MEMBER, "permissions": EVERYTHING}
            where = {"id": GUILD, "locale": "en-US", "features": []}
            pressed |= {"guild_id": GUILD, "guild_locale": "en-US", "member": member, "guild": where}
        self.dispatch("INTERACTION_CREATE", pressed)
        return number

    # Messages -------------------------------------------------------------------------------------------------------

    def _message(self, channel: str, author: dict[str, Any], text: str) -> dict[str, Any]:
        message: dict[str, Any] = {
            "id": self.new_id(), "channel_id": channel, "author": author, "content": text, "timestamp": moment(),
            "edited_timestamp": None, "tts": False, "mention_everyone": False, "mentions": [], "mention_roles": [],
            "attachments": [], "embeds": [], "pinned": False, "type": 0, "components": [], "flags": 0,
        }  # fmt: skip
        if self.channels[channel]["type"] != DIRECT:
            message |= {"guild_id": GUILD, "member": MEMBER}
        return message

    def _refer(self, message: dict[str, Any], reply_to: str | None) -> None:
        if reply_to is not None:
            message["type"] = 19
            message["message_reference"] = {"type": 0, "message_id": reply_to, "channel_id": message["channel_id"]}
            message["referenced_message"] = self.messages.get(reply_to)

    def _attached(self, name: str, content: bytes) -> dict[str, Any]:
        path = f"{self.new_id()}/{name}"
        self._files[path] = content
        url = f"{self._address}/cdn/{path}"
        kind = "image/png" if name.endswith("png") else "text/plain"
        return {
            "id": path.partition("/")[0], "filename": name, "size": len(content), "url": url, "proxy_url": url,
            "content_type": kind,
        }  # fmt: skip

    def _keep(self, message: dict[str, Any]) -> None:
        self.messages[message["id"]] = message
        self.channels[message["channel_id"]]["last_message_id"] = message["id"]

    # The gateway ----------------------------------------------------------------------------------------------------

    def _hello(self, session: str) -> list[tuple[str, Any]]:
        ready = {
            "v": 10, "user": self.bot, "guilds": [{"id": GUILD, "unavailable": True}], "session_id": session,
            "resume_gateway_url": self.gateway_url, "shard": [0, 1], "application": {"id": BOT, "flags": 1 << 18},
            "private_channels": [], "session_type": "normal",
        }  # fmt: skip
        return [("READY", ready), ("GUILD_CREATE", guild(self.bot, self.channels.values()))]

    # The API --------------------------------------------------------------------------------------------------------

    async def _start(self) -> None:
        app = web.Application(client_max_size=4 * LARGEST)
        for path in ("/gateway", "/gateway/"):
            app.router.add_get(path, self.gateway.handle)
        app.router.add_get("/cdn/{name:.*}", self._cdn)
        app.router.add_route("*", "/api/v10/{path:.*}", self._rest)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        port = self._runner.addresses[0][1]
        self._address = f"http://127.0.0.1:{port}"
        self.api_url = f"{self._address}/api/v10"
        self.gateway_url = f"ws://127.0.0.1:{port}/gateway"

    async def _cdn(self, request: web.Request) -> web.Response:
        content = self._files.get(request.match_info["name"])
        return web.Response(status=404) if content is None else web.Response(body=content)

    async def _rest(self, request: web.Request) -> web.StreamResponse:
        path, method = request.match_info["path"], request.method
        body, files = await read_body(request)
        self.calls.append((method, path, body))
        parts = path.strip("/").split("/")
        if parts[0] not in ("interactions", "gateway") and request.headers.get("Authorization") != f"Bot {TOKEN}":
            return answer({"message": "401: Unauthorized", "code": 0}, 401)
        fault = self._fault(method, path)
        try:
            if isinstance(fault, ApiError):
                raise fault
            if isinstance(fault, float):
                await asyncio.sleep(fault)
            headers = self._throttle(method, parts)
            if fault == "drop":
                return hang_up(request)
            status, result = await self._route(method, parts, body, files, request.query)
            if fault == "late":
                return hang_up(request)
        except ApiError as error:
            return answer(error.body, error.status, rate_headers(error.body))
        return web.Response(status=204, headers=headers) if result is None else answer(result, status, headers)

    def _fault(self, method: str, path: str) -> ApiError | str | float | None:
        for index, (name, part, fault) in enumerate(self.faults):
            if name == method and part in path:
                del self.faults[index]
                return fault
        return None

    def _throttle(self, method: str, parts: list[str]) -> dict[str, str]:
        if self.bucket is None or method not in ("POST", "PATCH") or parts[2:3] != ["messages"]:
            return {}
        limit, seconds = self.bucket
        key, now = f"{method} {parts[1]}", time.monotonic()
        start, count = self._windows.get(key, (now, 0))
        if now - start >= seconds:
            start, count = now, 0
        left = start + seconds - now
        if count >= limit:
            raise limited(left)
        self._windows[key] = (start, count + 1)
        return {
            "X-RateLimit-Limit": str(limit), "X-RateLimit-Remaining": str(limit - count - 1),
            "X-RateLimit-Reset": str(time.time() + left), "X-RateLimit-Reset-After": f"{left:.3f}",
            "X-RateLimit-Bucket": f"{method}messages",
        }  # fmt: skip

    async def _route(
        self, method: str, parts: list[str], body: Any, files: dict[str, bytes], query: Any
    ) -> tuple[int, Any]:  # fmt: skip
        match method, parts:
            case "GET", ["users", "@me"]:
                return 200, self.bot
            case "GET", ["gateway", *_]:
                limits = {"total": 1000, "remaining": 999, "reset_after": 1, "max_concurrency": 1}
                return 200, {"url": self.gateway_url, "shards": 1, "session_start_limit": limits}
            case "GET", ["oauth2", "applications", "@me"] | ["applications", "@me"]:
                return 200, {
                    "id": BOT, "name": "bough", "icon": None, "description": "", "bot_public": False, "summary": "",
                    "bot_require_code_grant": False, "verify_key": "00", "owner": person("7"), "team": None,
                    "flags": 1 << 18,
                }  # fmt: skip
            case "PUT", ["applications", _, "commands"]:
                self.commands = body
                return 200, body
            case "POST", ["interactions", number, _, "callback"]:
                self.confirmed[number] = body
                return self._confirm(number, body, query)
            case _, ["channels", channel, *rest]:
                if channel not in self.channels:
                    raise ApiError(404, 10003, "Unknown Channel")
                return await self._channel(method, channel, rest, body, files, query)
        raise ApiError(404, 0, "404: Not Found")

    def _confirm(self, number: str, body: Any, query: Any) -> tuple[int, Any]:
        if str(query.get("with_response", "")).lower() not in ("1", "true"):
            return 204, None
        shown = self._message(CHANNEL, self.bot, (body.get("data") or {}).get("content") or "")
        interaction = {"id": number, "type": 2, "response_message_id": shown["id"], "response_message_loading": False}
        return 200, {"interaction": interaction, "resource": {"type": body["type"], "message": shown}}

    async def _channel(
        self, method: str, channel: str, rest: list[str], body: Any, files: dict[str, bytes], query: Any
    ) -> tuple[int, Any]:  # fmt: skip
        match method, rest:
            case "GET", []:
                return 200, self.channels[channel]
            case "PATCH", []:
                self.channels[channel]["thread_metadata"] |= body
                return 200, self.channels[channel]
            case "POST", ["typing"]:
                return 204, None
            case "GET", ["messages"]:
                return 200, self._page(channel, query)
            case "POST", ["messages"]:
                return 200, await self._create(channel, body, files)
            case "PATCH", ["messages", message]:
                return 200, self._change(self._known(message), body)
            case "DELETE", ["messages", message]:
                self._known(message)
                del self.messages[message]
                return 204, None
        raise ApiError(404, 0, "404: Not Found")

    def _page(self, channel: str, query: Any) -> list[Any]:
        after, before = int(query.get("after", 0)), int(query.get("before", 1 << 63))
        found = [
            one for one in self.messages.values() if one["channel_id"] == channel and after < int(one["id"]) < before
        ]
        found.sort(key=lambda one: int(one["id"]))
        limit = int(query.get("limit", 50))
        return (found[:limit] if "after" in query else found[-limit:])[::-1]

    async def _create(self, channel: str, body: Any, files: dict[str, bytes]) -> dict[str, Any]:
        validate(body, files)
        nonce = str(body.get("nonce", ""))
        if body.get("enforce_nonce") and (channel, nonce) in self._nonces:
            return self.messages[self._nonces[channel, nonce]]
        reference = body.get("message_reference") or {}
        reply_to = str(reference["message_id"]) if reference else None
        if reply_to is not None and reply_to not in self.messages:
            if reference.get("fail_if_not_exists", True):
                raise ApiError(400, 50035, "Invalid Form Body")
            reply_to = None
        message = self._message(channel, self.bot, body.get("content") or "")
        message |= {"components": body.get("components") or [], "allowed_mentions": body.get("allowed_mentions")}
        self._refer(message, reply_to)
        message["attachments"] = [self._attached(name, content) for name, content in files.items()]
        if nonce:
            message["nonce"] = nonce
            self._nonces[channel, nonce] = message["id"]
        self._keep(message)
        await self.gateway.dispatch("MESSAGE_CREATE", message)  # a bot sees its own messages
        return message

    def _change(self, message: dict[str, Any], body: Any) -> dict[str, Any]:
        validate({"content": message["content"], **body}, {})
        if self.channels[message["channel_id"]].get("thread_metadata", {}).get("archived"):
            raise ApiError(400, 50083, "Thread is archived")
        message |= {name: body[name] for name in ("content", "components", "embeds") if body.get(name) is not None}
        message["edited_timestamp"] = moment()
        return message

    def _known(self, message: str) -> dict[str, Any]:
        if message not in self.messages:
            raise ApiError(404, 10008, "Unknown Message")
        return self.messages[message]


def validate(body: Any, files: dict[str, bytes]) -> None:
    """Raises `ApiError` for a message that Discord does not accept."""
    content = body.get("content") or ""
    if len(content.encode("utf-16-le")) // 2 > LONGEST:
        problem = {"_errors": [{"code": "BASE_TYPE_MAX_LENGTH", "message": "Must be 2000 or fewer in length."}]}
        raise ApiError(400, 50035, "Invalid Form Body", errors={"content": problem})
    if not content.strip() and not files:
        raise ApiError(400, 50006, "Cannot send an empty message")
    if sum(map(len, files.values())) > LARGEST:
        raise ApiError(413, 40005, "Request entity too large")


async def read_body(request: web.Request) -> tuple[Any, dict[str, bytes]]:
    """The JSON of a request, and its files."""
    if not request.can_read_body:
        return {}, {}
    if request.content_type == "application/json":
        return await request.json(), {}
    body: Any = {}
    files: dict[str, bytes] = {}
    for name, field in (await request.post()).items():
        if isinstance(field, web.FileField):
            files[field.filename] = field.file.read()
        elif name == "payload_json":
            body = json.loads(field)
    return body, files


def answer(body: Any, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    # discord.py compares the whole header.
    headers = {**(headers or {}), "Content-Type": "application/json"}
    return web.Response(body=json.dumps(body).encode(), status=status, headers=headers)


def hang_up(request: web.Request) -> web.Response:
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


def limited(seconds: float) -> ApiError:
    """The error of too many requests."""
    return ApiError(429, 0, "You are being rate limited.", retry_after=round(seconds, 3), **{"global": False})


def rate_headers(body: dict[str, Any]) -> dict[str, str]:
    """The headers of an error of too many requests."""
    if "retry_after" not in body:
        return {}
    seconds = body["retry_after"]
    return {
        "Retry-After": str(int(seconds) + 1), "Via": "1.1 google", "X-RateLimit-Limit": "5",
        "X-RateLimit-Remaining": "0",
        "X-RateLimit-Reset-After": f"{seconds:.3f}", "X-RateLimit-Reset": str(time.time() + seconds),
        "X-RateLimit-Bucket": "messages", "X-RateLimit-Scope": "user",
    }  # fmt: skip
