"""From Telegram's updates to events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bough.channels.events import Attachment, ChannelEvent
from bough.channels.inbox import message_delivery
from bough.model.keys import telegram_key

KINDS = ("message", "edited_message", "callback_query", "message_reaction")
"""The updates that are asked for."""
UNREADABLE = (ValueError, KeyError, TypeError, AttributeError)
"""Errors that an update of an unexpected shape raises."""
FILES = {
    "document": "file", "voice": "voice.ogg", "audio": "audio.mp3", "video": "video.mp4",
    "video_note": "video.mp4", "animation": "animation.mp4", "sticker": "sticker.webp",
}  # fmt: skip
"""The fields of a message with a file, and the name of one that has none."""


class UpdateReader:
    """Reads updates for a bot, whose own name tells when it is addressed."""

    def __init__(self, me: Mapping[str, Any]) -> None:
        self._id = str(me["id"])
        self._username = str(me.get("username", "")).lower()

    def event(self, update: Mapping[str, Any]) -> ChannelEvent | None:
        """The event of an update; None for one that says nothing to the bot."""
        if pressed := update.get("callback_query"):
            return self._pressed(pressed)
        if reaction := update.get("message_reaction"):
            return self._reaction(reaction)
        edited = update.get("edited_message")
        message = edited or update.get("message")
        return None if message is None else self._message(message, edited is not None)

    def _message(self, message: Mapping[str, Any], is_edit: bool) -> ChannelEvent | None:
        sender = message.get("from") or {}
        if not sender or sender.get("is_bot"):
            return None
        chat, number = str(message["chat"]["id"]), str(message["message_id"])
        if upgraded := message.get("migrate_to_chat_id"):
            return ChannelEvent("migration", message_delivery(chat, number), telegram_key(chat), chat,
                                str(sender["id"]), text=str(upgraded))  # fmt: skip
        text, entities = message.get("text", ""), message.get("entities", ())
        if not text:
            text, entities = message.get("caption", ""), message.get("caption_entities", ())
        files = tuple(attachments(message))
        if not text and not files:
            return None  # somebody joined, the title changed, and the like
        command, for_me = self._command(text, entities)
        if command is not None and not for_me:
            return None
        replied = message.get("reply_to_message") or {}
        is_group = message["chat"].get("type") != "private"
        topic = str(message["message_thread_id"]) if message.get("is_topic_message") else None
        version = str(message.get("edit_date", 0)) if is_edit else None
        words = text.partition(" ")[2] if command else self._without_mention(text)
        return ChannelEvent(
            "edit" if is_edit else "command" if command else "message",
            f"e:{chat}:{number}:{version}" if is_edit else message_delivery(chat, number),
            telegram_key(chat if topic is None else f"{chat}:{topic}"),
            chat if topic is None else f"{chat}/{topic}",
            str(sender["id"]), name_of(sender), number, words, command,
            None if is_topic_start(replied, topic) or not replied else str(replied["message_id"]),
            (message.get("quote") or {}).get("text") or replied.get("text") or replied.get("caption"),
            files, is_group, not is_group or command is not None or self._is_addressed(text, entities, replied),
            version=version, album=message.get("media_group_id"),
        )  # fmt: skip

    def _pressed(self, pressed: Mapping[str, Any]) -> ChannelEvent | None:
        message = pressed.get("message")
        if not message or not pressed.get("data"):
            return None
        chat = str(message["chat"]["id"])
        topic = str(message["message_thread_id"]) if message.get("is_topic_message") else None
        command, _, words = str(pressed["data"]).partition(" ")
        sender = pressed["from"]
        return ChannelEvent(
            "command", f"c:{pressed['id']}", telegram_key(chat if topic is None else f"{chat}:{topic}"),
            chat if topic is None else f"{chat}/{topic}", str(sender["id"]), name_of(sender), text=words,
            command=command, is_group=message["chat"].get("type") != "private",
        )  # fmt: skip

    def _reaction(self, reaction: Mapping[str, Any]) -> ChannelEvent | None:
        sender = reaction.get("user") or {}
        if not sender:
            return None
        chat, number = str(reaction["chat"]["id"]), str(reaction["message_id"])
        emoji = "".join(one.get("emoji", "") for one in reaction.get("new_reaction", ()))
        return ChannelEvent(
            "reaction", f"r:{chat}:{number}:{sender['id']}:{reaction.get('date')}:{emoji}", telegram_key(chat), chat,
            str(sender["id"]), name_of(sender), number, emoji,
        )  # fmt: skip

    def _command(self, text: str, entities: Any) -> tuple[str | None, bool]:
        """The command that a text begins with, and whether it is for this bot: `/help@other_bot` is not."""
        if not any(one.get("type") == "bot_command" and one.get("offset") == 0 for one in entities):
            return None, True
        name, _, bot = text.split(maxsplit=1)[0][1:].partition("@")
        return name.lower(), not bot or bot.lower() == self._username

    def _is_addressed(self, text: str, entities: Any, replied: Mapping[str, Any]) -> bool:
        if str((replied.get("from") or {}).get("id")) == self._id:
            return True
        for one in entities:
            if one.get("type") == "text_mention" and str((one.get("user") or {}).get("id")) == self._id:
                return True
        return bool(self._username) and f"@{self._username}" in text.lower()

    def _without_mention(self, text: str) -> str:
        """The words without the name of the bot at their beginning."""
        mention = f"@{self._username}"
        return text[len(mention) :].lstrip(" ,:") if self._username and text.lower().startswith(mention) else text


def is_topic_start(replied: Mapping[str, Any], topic: str | None) -> bool:
    """Whether a reply only says to which topic a message belongs, as Telegram puts it."""
    return topic is not None and str(replied.get("message_id")) == topic


def attachments(message: Mapping[str, Any]) -> Iterator[Attachment]:
    """The files of a message; of a picture the largest size."""
    if photos := message.get("photo"):
        largest = max(photos, key=lambda one: one.get("width", 0) * one.get("height", 0))
        yield Attachment(largest["file_id"], "photo.jpg", "image/jpeg", largest.get("file_size"))
    for field, name in FILES.items():
        if file := message.get(field):
            yield Attachment(
                file["file_id"], file.get("file_name") or name, file.get("mime_type"), file.get("file_size")
            )


def name_of(sender: Mapping[str, Any]) -> str:
    return str(sender.get("first_name") or sender.get("username") or sender["id"])
