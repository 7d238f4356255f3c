"""From what Discord's gateway delivers to events."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import discord

from bough.channels.commands import COMMANDS
from bough.channels.events import Attachment, ChannelEvent, external_name
from bough.channels.inbox import message_delivery
from bough.channels.receiver import ADMITTING
from bough.model.keys import discord_key

KNOWN_COMMANDS = {*COMMANDS, *ADMITTING}
MENTION = re.compile(r"<@!?(\d+)>")
SPOKEN = (discord.MessageType.default, discord.MessageType.reply)
"""The messages that somebody has written; the others say that somebody joined, and the like."""


def chat_of(channel: Any) -> str:
    """How a place is addressed: the id of a channel, and behind it that of a thread in it."""
    return f"{channel.parent_id}/{channel.id}" if isinstance(channel, discord.Thread) else str(channel.id)


def conversation_of(channel: Any, person: int | None, is_direct: bool) -> str:
    """The session's key of a place; that of a direct message is of the person."""
    if is_direct and person is not None:
        return discord_key("dm", person)
    return discord_key("thread" if isinstance(channel, discord.Thread) else "channel", channel.id)


def message_event(message: discord.Message, me: discord.ClientUser) -> ChannelEvent | None:
    """The event of a message that was sent; None for one that says nothing to the bot."""
    return None if is_ignored(message) else written(message, me, None)


def edit_event(message: discord.Message, me: discord.ClientUser) -> ChannelEvent | None:
    """The event of an edit. Discord also says so when it adds a preview to a message, or pins it."""
    edited_at = message.edited_at
    if is_ignored(message) or edited_at is None:
        return None
    return written(message, me, str(int(edited_at.timestamp() * 1000)))


def is_ignored(message: discord.Message) -> bool:
    is_machine = message.author.bot or message.webhook_id is not None
    return is_machine or message.type not in SPOKEN or not (message.content or message.attachments)


def written(message: discord.Message, me: discord.ClientUser, version: str | None) -> ChannelEvent:
    """The event of a message, or of a version of it."""
    channel, is_group = message.channel, message.guild is not None
    chat, number, replied = chat_of(channel), str(message.id), message.reference
    quoted = replied.resolved if replied is not None else None
    quoted = quoted if isinstance(quoted, discord.Message) else None
    is_reply = quoted is not None and quoted.author.id == me.id
    text = without_mention(message, me)
    command, words = command_of(text)
    kind = "message" if version is None and command is None else "command" if version is None else "edit"
    return ChannelEvent(
        kind,  # type: ignore[arg-type]
        message_delivery(chat, number) if version is None else f"e:{chat}:{number}:{version}",
        conversation_of(channel, message.author.id, not is_group), chat,
        str(message.author.id), message.author.display_name, number, text if command is None else words,
        command if version is None else None,
        None if replied is None or replied.message_id is None else str(replied.message_id),
        None if quoted is None else quoted.content,
        tuple(Attachment(one.url, one.filename, one.content_type, one.size) for one in message.attachments),
        is_group, not is_group or is_reply or is_mentioned(message, me), begins_at(channel), version,
    )  # fmt: skip


def begins_at(channel: Any) -> str | None:
    """The name of the message that a thread began at: the thread has its id."""
    if not isinstance(channel, discord.Thread):
        return None
    return external_name(str(channel.parent_id), str(channel.id))


def is_mentioned(message: discord.Message, me: discord.ClientUser) -> bool:
    """Whether a message names the bot, or the role that Discord has made for it."""
    if any(one.id == me.id for one in message.mentions):
        return True
    return any(role.tags is not None and role.tags.bot_id == me.id for role in message.role_mentions)


def without_mention(message: discord.Message, me: discord.ClientUser) -> str:
    """The words, without the bot's name at their beginning and with the names of people instead of their ids."""
    text = re.sub(rf"\A(<@!?{me.id}>[\s,:]*)+", "", message.content)
    names = {str(one.id): one.display_name for one in message.mentions}
    return MENTION.sub(lambda match: f"@{names[match[1]]}" if match[1] in names else match[0], text)


def command_of(text: str) -> tuple[str | None, str]:
    """The command that a text begins with, and what follows its name."""
    name, _, words = text.partition(" ")
    if name.startswith("/") and name[1:].lower() in KNOWN_COMMANDS:
        return name[1:].lower(), words
    return None, text


def interaction_event(pressed: discord.Interaction) -> ChannelEvent | None:
    """The event of a slash command or of a button."""
    data: Mapping[str, Any] = pressed.data or {}
    if pressed.type is discord.InteractionType.application_command:
        words = " ".join(str(option.get("value", "")) for option in data.get("options", ()))
        command = str(data.get("name", ""))
    elif pressed.type is discord.InteractionType.component:
        command, _, words = str(data.get("custom_id", "")).partition(" ")
    else:
        return None
    if pressed.channel is None:
        return None
    is_group = pressed.guild_id is not None
    return ChannelEvent(
        "command", f"c:{pressed.id}", conversation_of(pressed.channel, pressed.user.id, not is_group),
        chat_of(pressed.channel), str(pressed.user.id), pressed.user.display_name, text=words, command=command,
        is_group=is_group, begins_at=begins_at(pressed.channel),
    )  # fmt: skip


def deletion_event(channel: Any, message: int, is_direct: bool) -> ChannelEvent:
    """The event of a message that was deleted; Discord does not say by whom."""
    chat = chat_of(channel)
    return ChannelEvent(
        "delete", f"d:{chat}:{message}", conversation_of(channel, None, is_direct), chat, "", message=str(message)
    )


def reaction_event(channel: Any, given: discord.RawReactionActionEvent) -> ChannelEvent:
    """The event of a reaction."""
    chat = chat_of(channel)
    return ChannelEvent(
        "reaction", f"r:{chat}:{given.message_id}:{given.user_id}:{given.emoji}",
        conversation_of(channel, given.user_id, given.guild_id is None), chat, str(given.user_id),
        message=str(given.message_id), text=given.emoji.name,
    )  # fmt: skip
