"""What happens with the events of a conversation, by their kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bough.agent import Stop
from bough.channels.answering import Answering
from bough.channels.channel import log
from bough.channels.commands import Reply, run_command
from bough.channels.service import persist
from bough.errors import ChannelError

if TYPE_CHECKING:
    from bough.channels.channel import Channel
    from bough.channels.inbox import Received

DELETED = "deleted"
"""Label of a message that its author has deleted at the service."""


def handle(channel: Channel, batch: Sequence[Received], stop: Stop, was_stopped: bool) -> None:
    """Handle a batch of a conversation: messages that are answered together, or one other event."""
    event = batch[0].event
    if event.kind in ("message", "edit") or event.command == "retry":
        if batch[0].turn is None:
            batch = channel.inbox.take(batch)
        Answering(channel, batch, stop).answer()
        return
    channel.inbox.finish([received.n for received in batch])  # first: a command is not run twice
    if event.kind == "command":
        stopped = Reply("Stopped." if was_stopped else "Nothing is being answered.")
        reply(channel, batch[0], stopped if event.command == "stop" else run_command(channel, event))
    elif event.kind == "migration":
        migrate(channel, batch[0])
    else:
        mark(channel, batch[0])


def reply(channel: Channel, received: Received, said: Reply) -> None:
    """Send the reply to a command."""
    event, service = received.event, channel.service
    try:
        if said.file is not None:
            name, content = said.file
            persist(lambda: service.upload(event.chat, name, content, nonce=event.delivery), channel.stop)
        else:
            channel.delivery(event).finish(said.text, said.menu)
    except ChannelError as error:
        log.warning("%s: the reply to a command was not delivered: %s", service.name, error)


def migrate(channel: Channel, received: Received) -> None:
    """Let the conversation of a chat go on under the id that the service has given it."""
    event = received.event
    key = event.conversation.replace(event.chat, event.text, 1)
    head = channel.session(event.conversation).head
    if head is not None and channel.store.find_session(key) is None:
        channel.store.fork(head, key)


def mark(channel: Channel, received: Received) -> None:
    """Label a message that was deleted at the service, or that somebody has reacted to."""
    event = received.event
    node = channel.find(event.chat, event.message)
    if node is None:
        return
    (found,) = channel.store.get_messages([node])
    label = DELETED if event.kind == "delete" else event.text or None
    if event.kind == "delete" or found.label != DELETED:
        channel.store.label(node, label)
