"""From events to a question: its blocks, and the place in the tree where it is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from bough.errors import ChannelError, Invalid
from bough.model import Message, Part, Text, user
from bough.model.files import block_of

if TYPE_CHECKING:
    from bough.channels.channel import Channel
    from bough.channels.events import ChannelEvent
    from bough.session import Session

QUOTED = 400
"""Characters of a quoted message that a question repeats, if the message is not in the store."""


def question(channel: Channel, events: Sequence[ChannelEvent]) -> Message:
    """The message of a user, from one or several that were sent one after another."""
    return user(*(part for event in events for part in parts(channel, event)))


def parts(channel: Channel, event: ChannelEvent) -> Iterator[Part]:
    """The blocks of one event: files, then words. A file that cannot be had is named in their place."""
    for attachment in event.attachments:
        try:
            yield block_of(channel.service.download(attachment), attachment.name)
        except (ChannelError, Invalid) as error:
            yield Text(f"[The file {attachment.name!r} could not be read: {error}]")
    words = event.text
    if event.quoted and channel.find(event.chat, event.reply_to) is None:
        words = f"> {event.quoted[:QUOTED]}\n\n{words}"
    if event.is_group and event.sender_name:
        words = f"{event.sender_name}: {words}"
    if words or not event.attachments:
        yield Text(words)


def place(channel: Channel, session: Session, event: ChannelEvent) -> str | None:
    """Move the session to where an event belongs; what to tell people about it, if it moved to another branch.

    A reply goes on below the message that is replied to, an edit below the message before the edited one.
    """
    if event.kind == "edit":
        edited = channel.find(event.chat, event.message)
        if edited is not None:
            (node,) = channel.store.get_messages([edited])
            if session.head != node.parent_id:
                session.move(node.parent_id)
        return None
    target = channel.find(event.chat, event.reply_to)
    if target is None:
        start = channel.find_named(event.begins_at) if event.begins_at and session.head is None else None
        if start is not None:
            session.move(end_of_turn(channel, start))
        return None
    end, left = end_of_turn(channel, target), session.head
    if end == left:
        return None
    session.move(end)
    return f"↩ Continuing from there. The former branch is kept: /branches {left}" if left else None


def end_of_turn(channel: Channel, node: str) -> str:
    """The message that a reply continues: the answer, if the user's own question is replied to."""
    (found,) = channel.store.get_messages([node])
    if found.role != "user" or found.turn_id is None:
        return node
    turn = channel.store.turn_info(found.turn_id)
    return turn.last_id if turn.status in ("complete", "stopped") else node
