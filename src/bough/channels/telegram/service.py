"""Telegram as a chat service: long polling, or a webhook."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from bough.channels.channel import log
from bough.channels.service import Menu, run_until
from bough.channels.split import utf16_units
from bough.channels.telegram.api import BotApi
from bough.channels.telegram.markup import to_html
from bough.channels.telegram.updates import KINDS, UNREADABLE, UpdateReader
from bough.channels.telegram.webhook import receive_webhook
from bough.errors import ChannelError

if TYPE_CHECKING:
    from bough.agent import Stop
    from bough.channels.events import Attachment
    from bough.channels.receiver import Receiver

POLL_SECONDS = 25
LONGEST_PAUSE = 60.0
LARGEST_FILE = 20 * 1024 * 1024
"""Bytes that the public Bot API gives of a file; a server of one's own has no such limit."""


class Telegram:
    """One bot of Telegram."""

    name = "telegram"
    text_limit = 3900
    """Of 4096, so that the signs which Markdown turns into still fit."""
    edit_seconds = 1.2

    def __init__(self, token: str, base_url: str | None = None, webhook: dict[str, Any] | None = None) -> None:
        """`webhook` has the public `url`, a `secret`, and the `host` and `port` to listen on."""
        self._api = BotApi(token, base_url)
        self._webhook = webhook
        self._is_public = base_url is None

    def measure(self, text: str) -> int:
        """The length in UTF-16 units."""
        return utf16_units(text)

    def receive(self, receiver: Receiver, stop: Stop) -> None:
        """Deliver updates. An update is confirmed by asking for the next ones, after it was accepted."""
        me = self._patiently("getMe", {}, stop)
        if me is None:
            return
        reader = UpdateReader(me)
        if self._webhook is not None:
            receive_webhook(self._api, self._webhook, reader, receiver, stop)
            return
        self._patiently("deleteWebhook", {}, stop)
        receiver.ready()
        run_until(lambda: self._poll(reader, receiver, stop), stop)

    def _poll(self, reader: UpdateReader, receiver: Receiver, stop: Stop) -> None:
        offset = 0
        while not stop.is_set:
            asked = {"offset": offset, "timeout": POLL_SECONDS, "allowed_updates": KINDS}
            updates = self._patiently("getUpdates", asked, stop, POLL_SECONDS)
            for update in updates or ():
                self._deliver(reader, update, receiver)
                offset = update["update_id"] + 1

    def _deliver(self, reader: UpdateReader, update: dict[str, Any], receiver: Receiver) -> None:
        try:
            event = reader.event(update)
        except UNREADABLE as error:  # it would be as unreadable the next time
            log.warning("telegram: update %s was skipped: %r", update.get("update_id"), error)
            event = None
        if event is not None:
            receiver.accept(event)
        if pressed := update.get("callback_query"):
            with suppress(ChannelError):  # else the button looks pressed for a while
                self._api.call("answerCallbackQuery", {"callback_query_id": pressed["id"]})

    def _patiently(self, method: str, fields: dict[str, Any], stop: Stop, wait: float = 0) -> Any:
        """The result of a method, tried until the stop; None then. Raises `ChannelError` for a token that is wrong."""
        pause = 1.0
        while not stop.is_set:
            try:
                return self._api.call(method, fields, wait=wait)
            except ChannelError as error:
                if error.kind == "token":
                    raise
                stop.wait(error.retry_after if error.retry_after is not None else pause)
                pause = min(2 * pause, LONGEST_PAUSE)
        return None

    def send(self, chat: str, text: str, *, nonce: str, reply_to: str | None = None, menu: Menu = ()) -> str:  # noqa: ARG002
        """Send a message; its id. The Bot API cannot recognise a repetition."""
        fields: dict[str, Any] = place(chat)
        if reply_to is not None:
            fields["reply_parameters"] = {"message_id": int(reply_to), "allow_sending_without_reply": True}
        sent = self._formatted("sendMessage", fields, text, menu)
        return str(sent["message_id"])

    def edit(self, chat: str, message: str, text: str, *, menu: Menu = ()) -> None:
        """Change the text of a message."""
        fields = {"chat_id": place(chat)["chat_id"], "message_id": int(message)}
        self._formatted("editMessageText", fields, text, menu)

    def _formatted(self, method: str, fields: dict[str, Any], text: str, menu: Menu) -> Any:
        """Call a method with a text as HTML, or plain if Telegram cannot read it so."""
        if menu:
            buttons = [[{"text": label, "callback_data": command}] for label, command in menu]
            fields = {**fields, "reply_markup": {"inline_keyboard": buttons}}
        quiet = {"link_preview_options": {"is_disabled": True}}
        html = to_html(text) or text
        for attempt in ({"text": html, "parse_mode": "HTML"}, {"text": text}):
            try:
                return self._api.call(method, {**fields, **quiet, **attempt})
            except ChannelError as error:
                if "not modified" in str(error):
                    return None
                if error.kind != "rejected" or "parse_mode" not in attempt:
                    raise
        raise AssertionError("unreachable")

    def delete(self, chat: str, message: str) -> None:
        """Delete a message."""
        try:
            self._api.call("deleteMessage", {"chat_id": place(chat)["chat_id"], "message_id": int(message)})
        except ChannelError as error:
            if error.kind not in ("message_gone", "rejected"):
                raise

    def typing(self, chat: str) -> None:
        """Show that an answer is being written."""
        self._api.call("sendChatAction", {**place(chat), "action": "typing"})

    def download(self, attachment: Attachment) -> bytes:
        """The content of a file. Raises `ChannelError` for one that is too large."""
        if self._is_public and (attachment.size or 0) > LARGEST_FILE:
            raise ChannelError("Telegram gives bots no file of more than 20 MB.", "too_large")
        found = self._api.call("getFile", {"file_id": attachment.reference})
        return self._api.download(found["file_path"])

    def upload(self, chat: str, name: str, content: bytes, *, nonce: str) -> str:  # noqa: ARG002
        """Send a file."""
        sent = self._api.call("sendDocument", place(chat), files={"document": (name, content)})
        return str(sent["message_id"])

    def announce(self, commands: Sequence[tuple[str, str]]) -> None:
        """Register the commands; the bot works without."""
        listed = [{"command": name, "description": about} for name, about in commands]
        with suppress(ChannelError):
            self._api.call("setMyCommands", {"commands": listed})

    def close(self) -> None:
        """Close the connections."""
        self._api.close()


def place(chat: str) -> dict[str, Any]:
    """The fields that name a chat, and the topic in it."""
    id, _, topic = chat.partition("/")
    return {"chat_id": int(id), "message_thread_id": int(topic)} if topic else {"chat_id": int(id)}
