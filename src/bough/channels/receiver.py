"""What a service delivers is stored here, before the service is told that it was received, and then handled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bough.channels.channel import log
from bough.errors import ChannelError, Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bough.channels.channel import Channel
    from bough.channels.events import ChannelEvent
    from bough.channels.workers import Workers

ADMITTING = ("start", "pair")
"""Commands that a code may follow."""
GREETING = "You can talk to me now. /help lists the commands."


class Receiver:
    """Takes the events of one channel."""

    def __init__(self, channel: Channel, workers: Workers, ready: Callable[[str], None]) -> None:
        self._channel = channel
        self._workers = workers
        self._ready = ready

    def ready(self) -> None:
        """Say that the service delivers what is sent from now on."""
        self._ready(self._channel.service.name)

    def cursors(self) -> dict[str, str]:
        """Up to where each place of the service has been read."""
        return self._channel.chats.cursors()

    def advance(self, cursors: Mapping[str, str]) -> None:
        """Remember up to where places have been read."""
        self._channel.chats.put_cursors(cursors)

    def accept(self, event: ChannelEvent) -> bool:
        """Store an event durably and let it be handled; False for one that nobody here is to answer.

        Raises `Refused` once the bot stops: the service delivers it again.
        """
        channel = self._channel
        if channel.stop.is_set:
            raise Refused("The bot is stopping; the service delivers this again.")
        if event.kind == "delete":
            # Who has deleted it is not always said; it matters only if the message is known.
            is_known = channel.find(event.chat, event.message) is not None
            return is_known and self._put(event)
        if not channel.members.allows(event.sender, event.chat, event.chat.partition("/")[0]):
            return self._admit(event)
        if not event.is_addressed:
            return False
        if event.kind == "edit" and event.message and channel.inbox.reword(event):
            return True
        return self._put(event)

    def _put(self, event: ChannelEvent) -> bool:
        inbox = self._channel.inbox
        if not inbox.put(event):
            return True
        received = inbox.find(event.delivery)
        assert received is not None
        if event.command == "stop" and (dropped := self._workers.stop(received)):
            inbox.finish([one.n for one in dropped])
        self._workers.add([received])
        return True

    def _admit(self, event: ChannelEvent) -> bool:
        """Let a stranger in who has sent a valid code. Any other is not answered."""
        members, service = self._channel.members, self._channel.service
        if event.command not in ADMITTING or not members.admit(event.text, event.sender, event.sender_name):
            return False
        try:
            service.send(event.chat, GREETING, nonce=event.delivery)
        except ChannelError as error:
            log.warning("%s: a greeting was not sent: %s", service.name, error)
        return True
