"""Listen to Discord's gateway, and read what was missed while the connection was gone.

The gateway confirms nothing and repeats what was missed only for minutes. So the newest message that was received is
stored, and after every new connection the messages after it are read, before those that have come since.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias

import discord

from bough.channels.channel import log
from bough.channels.discord import gateway_events
from bough.channels.discord.gateway_events import chat_of
from bough.errors import BoughError

if TYPE_CHECKING:
    from bough.channels.discord.client import DiscordClient
    from bough.channels.events import ChannelEvent
    from bough.channels.receiver import Receiver

EVERYWHERE = ""
"""The place whose cursor is the newest message of all that was received; everything before it was read."""
MOST_MISSED = 1000
"""Messages of one place that are read after a pause."""

Arrived: TypeAlias = "tuple[ChannelEvent, int | None]"
"""An event, and the id of its message if it is new there."""


class Listener:
    """Hands on the events of one connection in their order. The handlers run on the event loop."""

    def __init__(self, discord_client: DiscordClient, receiver: Receiver) -> None:
        self.ended = threading.Event()
        """Set when an event could not be handed on; `error` says why."""
        self.error: BoughError | None = None
        self._discord = discord_client
        self._receiver = receiver
        self._in_order = ThreadPoolExecutor(1, "discord events")
        self._is_ready = False
        self._held: list[Arrived] | None = []
        """What has come while what was missed is not read yet; None when nothing is held."""
        for handler in (
            self.on_ready, self.on_resumed, self.on_disconnect, self.on_message, self.on_raw_message_edit,
            self.on_raw_message_delete, self.on_raw_bulk_message_delete, self.on_raw_reaction_add, self.on_interaction,
        ):  # fmt: skip
            discord_client.client.event(handler)

    def close(self) -> None:
        """Wait for the event that is being handed on; the others are delivered again."""
        self._in_order.shutdown(cancel_futures=True)

    async def on_disconnect(self) -> None:
        if self._held is None:
            self._held = []

    async def on_ready(self) -> None:
        self._continue()

    async def on_resumed(self) -> None:
        self._continue()

    async def on_message(self, message: discord.Message) -> None:
        self._add(gateway_events.message_event(message, self._me), message.id)

    async def on_raw_message_edit(self, edited: discord.RawMessageUpdateEvent) -> None:
        self._add(gateway_events.edit_event(edited.message, self._me))

    async def on_raw_message_delete(self, deleted: discord.RawMessageDeleteEvent) -> None:
        self._delete(deleted.channel_id, deleted.message_id, deleted.guild_id)

    async def on_raw_bulk_message_delete(self, deleted: discord.RawBulkMessageDeleteEvent) -> None:
        for message in deleted.message_ids:
            self._delete(deleted.channel_id, message, deleted.guild_id)

    async def on_raw_reaction_add(self, given: discord.RawReactionActionEvent) -> None:
        if given.user_id != self._me.id:
            self._add(gateway_events.reaction_event(self._place(given.channel_id), given))

    async def on_interaction(self, pressed: discord.Interaction) -> None:
        """Hand on a command at once, held up by nothing: Discord waits three seconds, then says that nobody answered.

        So whoever reads that the command was taken knows that it is stored.
        """
        event = gateway_events.interaction_event(pressed)
        if event is None:
            return
        try:
            is_taken = await self._discord.client.loop.run_in_executor(None, self._receiver.accept, event)
        except BoughError as error:
            log.warning("discord: a command was not taken: %s", error)
            return
        if is_taken:
            with suppress(discord.HTTPException):  # it is stored, and answered as any other
                await confirm(pressed, event)

    @property
    def _me(self) -> discord.ClientUser:
        user: discord.ClientUser = self._discord.client.user
        return user

    def _place(self, channel: int) -> Any:
        client = self._discord.client
        return client.get_channel(channel) or client.get_partial_messageable(channel)

    def _delete(self, channel: int, message: int, guild: int | None) -> None:
        self._add(gateway_events.deletion_event(self._place(channel), message, guild is None))

    def _add(self, event: ChannelEvent | None, message: int | None = None) -> None:
        if event is None:
            return
        if self._held is None:
            self._in_order.submit(self._hand_on, event, message)
        else:
            self._held.append((event, message))

    def _continue(self) -> None:
        """Read what was missed, and then hand on what has come since."""
        held, self._held = self._held or [], None
        self._in_order.submit(self._read_missed)
        for event, message in held:
            self._in_order.submit(self._hand_on, event, message)

    def _hand_on(self, event: ChannelEvent, message: int | None) -> None:
        self._guarded(lambda: self._accept(event, message, (event.chat, EVERYWHERE)))

    def _accept(self, event: ChannelEvent, message: int | None, places: tuple[str, ...]) -> None:
        if self._receiver.accept(event) and message is not None:
            self._receiver.advance(dict.fromkeys(places, str(message)))

    def _read_missed(self) -> None:
        self._guarded(self._accept_missed)

    def _accept_missed(self) -> None:
        cursors = self._receiver.cursors()
        newest = self._discord.call(newest_message)
        since = cursors.get(EVERYWHERE)
        if since is not None:
            for message in self._discord.call(lambda client: missed(client, cursors, int(since))):
                event = gateway_events.message_event(message, self._me)
                if event is not None:
                    self._accept(event, message.id, (event.chat,))
        self._receiver.advance({EVERYWHERE: str(max(newest, int(since or 0)))})
        if not self._is_ready:
            self._is_ready = True
            self._receiver.ready()

    def _guarded(self, work: Any) -> None:
        """Do something in the thread of events; an error ends the listening, so that nothing is passed over."""
        if self.error is not None:
            return
        try:
            work()
        except BoughError as error:
            self.error = error
            self.ended.set()
        except Exception:
            log.exception("discord: an event could not be read.")


async def confirm(pressed: discord.Interaction, event: ChannelEvent) -> None:
    """Tell Discord that a command was taken: its words are shown; of a button nothing is."""
    if pressed.type is discord.InteractionType.component:
        await pressed.response.defer()
        return
    said = f"/{event.command} {event.text}".strip()
    await pressed.response.send_message(said[:1900], allowed_mentions=discord.AllowedMentions.none())


async def newest_message(client: discord.Client) -> int:
    """The id of the newest message that the bot could have seen; ids of Discord grow with time."""
    return max((place.last_message_id or 0 for place in places_of(client)), default=0) or client.user.id


def places_of(client: discord.Client) -> list[Any]:
    """The channels and threads of all guilds that have messages."""
    return [
        place for guild in client.guilds for place in (*guild.channels, *guild.threads) if hasattr(place, "history")
    ]


async def missed(client: discord.Client, cursors: Mapping[str, str], since: int) -> list[discord.Message]:
    """The messages that came after those that were received, in their order.

    A first direct message of somebody cannot be found: Discord does not list who has written to a bot.
    """
    after: dict[int, int] = {
        int(chat.rpartition("/")[2]): max(int(cursor), since if "/" in chat else 0)
        for chat, cursor in cursors.items()
        if chat != EVERYWHERE
    }
    for place in places_of(client):
        if (place.last_message_id or 0) > since:
            after[place.id] = max(since, int(cursors.get(chat_of(place), 0)))
    found = [message for place, start in after.items() async for message in read_after(client, place, start)]
    return sorted(found, key=lambda message: message.id)


async def read_after(client: discord.Client, place: int, start: int) -> AsyncIterator[discord.Message]:
    """The messages of a place after one of them. A place that is gone, or closed to the bot, has none."""
    try:
        channel = client.get_channel(place) or await client.fetch_channel(place)
        async for message in channel.history(after=discord.Object(start), oldest_first=True, limit=MOST_MISSED):
            yield message
    except (discord.NotFound, discord.Forbidden):
        log.info("discord: a place could not be read again.")
