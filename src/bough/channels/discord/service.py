"""Discord as a chat service."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import sha256
from io import BytesIO
from typing import TYPE_CHECKING, Any

import discord

from bough.channels.discord.client import DiscordClient, translated
from bough.channels.discord.listener import Listener
from bough.channels.discord.markup import with_aligned_tables
from bough.channels.service import Menu, persist
from bough.channels.split import utf16_units
from bough.errors import ChannelError

if TYPE_CHECKING:
    from bough.agent import Stop
    from bough.channels.events import Attachment
    from bough.channels.receiver import Receiver

LIMIT = 2000
NONCE_LENGTH = 25
LARGEST_FILE = 64 * 1024 * 1024
LONGEST_LABEL, LONGEST_COMMAND = 80, 100
"""Of a button."""
ARCHIVED = 50083
"""The code of the error of a thread that is archived."""


class Discord:
    """One bot of Discord."""

    name = "discord"
    text_limit = 1900
    """Of 2000, so that a fence can be closed and opened again."""
    edit_seconds = 1.2

    def __init__(self, token: str, api_url: str | None = None, gateway_url: str | None = None) -> None:
        self._discord = DiscordClient(token, api_url, gateway_url)

    def measure(self, text: str) -> int:
        """The length in UTF-16 units: the strictest of those that Discord's programs count."""
        return utf16_units(text)

    def receive(self, receiver: Receiver, stop: Stop) -> None:
        """Listen to the gateway. discord.py resumes, identifies anew and waits as Discord asks."""
        try:
            persist(self._discord.log_in, stop)
        except ChannelError:
            if stop.is_set:
                return
            raise
        listener = Listener(self._discord, receiver)
        running = self._discord.start(self._discord.client.connect())
        running.add_done_callback(lambda _: listener.ended.set())
        stop.add_callback(listener.ended.set)
        listener.ended.wait()
        is_stopped = stop.is_set
        running.cancel()
        listener.close()
        if is_stopped:
            return
        if listener.error is not None:
            raise listener.error
        error = running.exception()
        raise ChannelError("Discord ended the connection.") if error is None else translated(error)

    def send(self, chat: str, text: str, *, nonce: str, reply_to: str | None = None, menu: Menu = ()) -> str:
        """Send a message; its id. One with the same nonce, some minutes ago, is found instead."""
        reference: Any = None
        if reply_to is not None:
            reference = discord.MessageReference(
                message_id=int(reply_to), channel_id=place(chat), fail_if_not_exists=False
            )

        async def work(client: discord.Client) -> str:
            sent = await client.get_partial_messageable(place(chat)).send(
                shown(text), nonce=nonce_of(nonce), reference=reference, view=buttons(menu), suppress_embeds=True,
                mention_author=False,
            )  # fmt: skip
            return str(sent.id)

        return self._discord.call(work)

    def edit(self, chat: str, message: str, text: str, *, menu: Menu = ()) -> None:
        """Change the text of a message; in an archived thread after opening it again."""

        async def work(client: discord.Client) -> None:
            target = client.get_partial_messageable(place(chat)).get_partial_message(int(message))
            try:
                await target.edit(content=shown(text), view=buttons(menu))
            except discord.HTTPException as error:
                if error.code != ARCHIVED:
                    raise
                thread = await client.fetch_channel(place(chat))
                await thread.edit(archived=False)
                await target.edit(content=shown(text), view=buttons(menu))

        self._discord.call(work)

    def delete(self, chat: str, message: str) -> None:
        """Delete a message."""
        try:
            self._on_message(chat, message, lambda target: target.delete())
        except ChannelError as error:
            if error.kind not in ("message_gone", "rejected"):
                raise

    def typing(self, chat: str) -> None:
        """Show that an answer is being written."""

        async def work(client: discord.Client) -> None:
            await client.get_partial_messageable(place(chat)).typing()

        self._discord.call(work)

    def download(self, attachment: Attachment) -> bytes:
        """The content of a file. Raises `ChannelError` for one that is too large."""
        if (attachment.size or 0) > LARGEST_FILE:
            raise ChannelError(f"It has more than {LARGEST_FILE >> 20} MB.", "too_large")
        content: bytes = self._discord.call(lambda client: client.http.get_from_cdn(attachment.reference))
        return content

    def upload(self, chat: str, name: str, content: bytes, *, nonce: str) -> str:
        """Send a file."""

        async def work(client: discord.Client) -> str:
            file = discord.File(BytesIO(content), name)
            sent = await client.get_partial_messageable(place(chat)).send(file=file, nonce=nonce_of(nonce))
            return str(sent.id)

        return self._discord.call(work)

    def announce(self, commands: Sequence[tuple[str, str]]) -> None:
        """Register the commands, each with one text; the bot works without."""
        words = {"name": "text", "description": "What the command is about", "type": 3, "required": False}
        listed = [{"name": name, "description": about[:100], "type": 1, "options": [words]} for name, about in commands]
        with suppress(ChannelError):
            self._discord.call(lambda client: client.http.bulk_upsert_global_commands(client.application_id, listed))

    def close(self) -> None:
        """Close the connections."""
        self._discord.close()

    def _on_message(self, chat: str, message: str, work: Callable[[Any], Any]) -> None:
        self._discord.call(
            lambda client: work(client.get_partial_messageable(place(chat)).get_partial_message(int(message)))
        )


def place(chat: str) -> int:
    """The id of a channel, or of the thread in it."""
    return int(chat.rpartition("/")[2])


def nonce_of(nonce: str) -> str:
    """A nonce as short as Discord wants it."""
    return sha256(nonce.encode()).hexdigest()[:NONCE_LENGTH]


def shown(text: str) -> str:
    """The text as Discord shows it best; as it is, if that would be too long."""
    aligned = with_aligned_tables(text)
    return aligned if utf16_units(aligned) <= LIMIT else text


def buttons(menu: Menu) -> Any:
    """The buttons of a menu; None without. Their presses are interactions, which discord.py need not remember."""
    if not menu:
        return None
    view = discord.ui.View(timeout=None)
    for label, command in menu:
        view.add_item(discord.ui.Button(label=label[:LONGEST_LABEL] or "…", custom_id=command[:LONGEST_COMMAND]))
    view.stop()
    return view
