"""Matrix, over its client-server API. Rooms that are encrypted cannot be read.

A transaction id makes sending repeatable, and `sync` continues from where its answer was accepted.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from bough.channels.events import Attachment, ChannelEvent, external_name
from bough.channels.inbox import message_delivery
from bough.channels.service import Menu, persist, run_until
from bough.errors import ChannelError, ChannelErrorKind

if TYPE_CHECKING:
    from bough.agent import Stop
    from bough.channels.receiver import Receiver

CLIENT = "/_matrix/client/v3"
SYNC_SECONDS = 25
MOST_MISSED = 1000
"""Events of a room that one answer of `sync` has, and that are read before it if it has more."""
FILES = ("m.image", "m.file", "m.audio", "m.video")
KINDS: dict[int, ChannelErrorKind] = {
    401: "token", 403: "chat_gone", 404: "message_gone", 413: "too_large", 429: "rate_limit"
}  # fmt: skip


class Matrix:
    """One user of a homeserver."""

    name = "matrix"
    text_limit = 16_000
    """Bytes; an event has at most 65,536, and an edit has the text four times."""
    edit_seconds = 1.5

    def __init__(self, token: str, base_url: str) -> None:
        import httpx2

        timeout = httpx2.Timeout(30.0 + SYNC_SECONDS, connect=10.0)
        headers = {"Authorization": f"Bearer {token}"}
        self._client = httpx2.Client(base_url=base_url.rstrip("/"), headers=headers, timeout=timeout)
        self._me = ""
        self._directs: dict[str, bool] = {}

    def measure(self, text: str) -> int:
        """The length in bytes."""
        return len(text.encode("utf-8", "replace"))

    def receive(self, receiver: Receiver, stop: Stop) -> None:
        """Deliver events. The place of `sync` is stored after its events were accepted."""
        run_until(lambda: self._sync(receiver, stop), stop)

    def _sync(self, receiver: Receiver, stop: Stop) -> None:
        self._me = persist(lambda: self._call("GET", f"{CLIENT}/account/whoami"), stop)["user_id"]
        since = receiver.cursors().get("")
        if since is None:  # what was said before the first start is not answered
            since = str(persist(lambda: self._answer_of_sync(None), stop)["next_batch"])
            receiver.advance({"": since})
        receiver.ready()
        while not stop.is_set:
            place = since
            answer = persist(lambda: self._answer_of_sync(place), stop)  # noqa: B023
            for event in self._events(answer.get("rooms", {}), since, stop):
                receiver.accept(event)
            since = str(answer["next_batch"])
            receiver.advance({"": since})

    def _answer_of_sync(self, since: str | None) -> Any:
        asked: dict[str, Any] = {"filter": json.dumps({"room": {"timeline": {"limit": MOST_MISSED}}})}
        if since is not None:
            asked |= {"since": since, "timeout": SYNC_SECONDS * 1000}
        return self._call("GET", f"{CLIENT}/sync", query=asked)

    def _events(self, rooms: Mapping[str, Any], since: str, stop: Stop) -> Iterator[ChannelEvent]:
        for room in rooms.get("invite", {}):
            persist(lambda: self._call("POST", f"{CLIENT}/join/{quote(room)}", {}), stop)  # noqa: B023
        for room, news in rooms.get("join", {}).items():
            timeline = news.get("timeline", {})
            found = list(timeline.get("events", ()))
            if timeline.get("limited"):
                asked = {"dir": "b", "from": timeline["prev_batch"], "to": since, "limit": MOST_MISSED}
                path = f"{room_path(room)}/messages"
                page = persist(lambda: self._call("GET", path, query=asked), stop)  # noqa: B023
                found = [*reversed(page.get("chunk", ())), *found]
            for one in found:
                if one.get("sender") != self._me and (event := self._event(room, one)) is not None:
                    yield event

    def _event(self, room: str, found: Mapping[str, Any]) -> ChannelEvent | None:
        """The event of one of Matrix; None for one that says nothing to the bot."""
        content, sender, number = found.get("content", {}), str(found.get("sender")), str(found.get("event_id"))
        relation = content.get("m.relates_to") or {}
        target = str(relation.get("event_id"))
        match found.get("type"):
            case "m.room.redaction":
                gone = str(found.get("redacts") or content.get("redacts"))
                return ChannelEvent("delete", f"d:{number}", f"matrix:{room}", room, sender, message=gone)
            case "m.reaction":
                emoji = str(relation.get("key", ""))
                return ChannelEvent(
                    "reaction", f"r:{number}", f"matrix:{room}", room, sender, message=target, text=emoji
                )
            case "m.room.message" if content.get("msgtype") in ("m.text", *FILES):
                pass
            case _:
                return None
        is_edit = relation.get("rel_type") == "m.replace"
        said = content.get("m.new_content", content) if is_edit else content
        root = target if relation.get("rel_type") == "m.thread" else None
        replied = None if relation.get("is_falling_back") else (relation.get("m.in_reply_to") or {}).get("event_id")
        chat = room if root is None else f"{room}/{root}"
        text = "" if said["msgtype"] in FILES else without_fallback(said["body"]) if replied else said["body"]
        is_group, is_named = not self._is_direct(room), self._me in (said.get("m.mentions") or {}).get("user_ids", ())
        text, is_called = self._without_name(text)
        name, _, words = text[1:].partition(" ") if text.startswith("/") else ("", "", text)
        return ChannelEvent(
            "edit" if is_edit else "command" if name else "message",
            f"e:{number}" if is_edit else message_delivery(chat, number),
            f"matrix:{room}" if root is None else f"matrix:{room}:{root}", chat, sender, sender[1:].partition(":")[0],
            target if is_edit else number, words, name.lower() or None, replied, None, tuple(files(said)), is_group,
            not is_group or is_named or is_called, None if root is None else external_name(room, root),
            number if is_edit else None,
        )  # fmt: skip

    def _is_direct(self, room: str) -> bool:
        if room not in self._directs:
            self._directs[room] = len(self._call("GET", f"{room_path(room)}/joined_members")["joined"]) <= 2
        return self._directs[room]

    def _without_name(self, text: str) -> tuple[str, bool]:
        """The words without the bot's name at their beginning, and whether they name it."""
        for name in (self._me, self._me[1:].partition(":")[0]):
            if text.startswith(name):
                return text[len(name) :].lstrip(" ,:"), True
        return text, self._me in text

    def send(self, chat: str, text: str, *, nonce: str, reply_to: str | None = None, menu: Menu = ()) -> str:
        """Send a message; its id. One with the same nonce is found instead."""
        room, _, root = chat.partition("/")
        relation: dict[str, Any] = {"rel_type": "m.thread", "event_id": root, "is_falling_back": True} if root else {}
        if reply_to or root:
            relation |= {"is_falling_back": not reply_to, "m.in_reply_to": {"event_id": reply_to or root}}
        content = body(text, menu) | ({"m.relates_to": relation} if relation else {})
        return self._send(room, content, sha256(nonce.encode()).hexdigest())

    def edit(self, chat: str, message: str, text: str, *, menu: Menu = ()) -> None:
        """Change the text of a message."""
        new = body(text, menu)
        relation = {"rel_type": "m.replace", "event_id": message}
        content = {**new, "m.new_content": new, "m.relates_to": relation}
        self._send(chat.partition("/")[0], content, secrets.token_hex(16))

    def delete(self, chat: str, message: str) -> None:
        """Delete a message."""
        room = chat.partition("/")[0]
        self._call("PUT", f"{room_path(room)}/redact/{quote(message)}/{secrets.token_hex(16)}", {})

    def typing(self, chat: str) -> None:
        """Show that an answer is being written."""
        path = f"{room_path(chat.partition('/')[0])}/typing/{quote(self._me)}"
        self._call("PUT", path, {"typing": True, "timeout": 5000})

    def download(self, attachment: Attachment) -> bytes:
        """The content of a file."""
        place = attachment.reference.removeprefix("mxc://")
        content: bytes = self._call("GET", f"/_matrix/client/v1/media/download/{place}", raw=True)
        return content

    def upload(self, chat: str, name: str, content: bytes, *, nonce: str) -> str:
        """Send a file."""
        place = self._call("POST", "/_matrix/media/v3/upload", content, query={"filename": name})["content_uri"]
        sent = {"msgtype": "m.file", "body": name, "url": place}
        return self._send(chat.partition("/")[0], sent, sha256(nonce.encode()).hexdigest())

    def announce(self, commands: Sequence[tuple[str, str]]) -> None:
        """Matrix has no list of commands; `/help` has one."""

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _send(self, room: str, content: Mapping[str, Any], transaction: str) -> str:
        path = f"{room_path(room)}/send/m.room.message/{transaction}"
        return str(self._call("PUT", path, content)["event_id"])

    def _call(self, method: str, path: str, data: Any = None, *, query: Any = None, raw: bool = False) -> Any:
        """The answer to a request. Raises `ChannelError`; after `unreachable` it may have been carried out."""
        import httpx2

        sent = {"content": data} if isinstance(data, bytes) else {} if data is None else {"json": data}
        try:
            response = self._client.request(method, path, params=query, **sent)
            if response.is_success:
                return response.content if raw else response.json()
            problem = response.json()
        except httpx2.HTTPError as error:
            raise ChannelError(f"Matrix: {type(error).__name__}", "unreachable") from None
        except ValueError:
            raise ChannelError(f"Matrix answered {response.status_code}, not in JSON.", "unreachable") from None
        status, wait = response.status_code, problem.get("retry_after_ms")
        kind: ChannelErrorKind = KINDS.get(status, "unreachable" if status >= 500 else "rejected")
        said = f"Matrix: {status} {problem.get('errcode')}: {problem.get('error')}"
        raise ChannelError(said, kind, None if wait is None else wait / 1000)


def room_path(room: str) -> str:
    return f"{CLIENT}/rooms/{quote(room)}"


def files(said: Mapping[str, Any]) -> Iterator[Attachment]:
    """The file of a message."""
    if said.get("msgtype") in FILES and said.get("url"):
        info = said.get("info") or {}
        name = str(said.get("filename") or said.get("body"))
        yield Attachment(str(said["url"]), name, info.get("mimetype"), info.get("size"))


def without_fallback(text: str) -> str:
    """The words of a reply, without the quotation that older clients put before them."""
    lines = text.split("\n")
    quoted = next((place for place, line in enumerate(lines) if not line.startswith("> ")), 0)
    return "\n".join(lines[quoted:]).lstrip("\n") if quoted else text


def body(text: str, menu: Menu) -> dict[str, Any]:
    """The content of a message that mentions nobody. Matrix has no buttons: their commands are listed."""
    from markdown_it import MarkdownIt

    whole = "\n".join([text, *(f"- {label}: `/{command}`" for label, command in menu)])
    html = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).render(whole)
    formatted = {"format": "org.matrix.custom.html", "formatted_body": html}
    return {"msgtype": "m.text", "body": whole, **formatted, "m.mentions": {}}
