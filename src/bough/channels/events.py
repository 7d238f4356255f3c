"""What a service delivers: messages, edits, commands and the like, as values that are stored as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from bough.model import Json
from bough.model.values import value

EventKind: TypeAlias = Literal["message", "edit", "delete", "reaction", "command", "migration"]


@value
class Attachment:
    """A file that came with a message, and how the service calls it."""

    reference: str
    name: str
    mime: str | None = None
    size: int | None = None

    def as_json(self) -> Json:
        return [self.reference, self.name, self.mime, self.size]


@value
class ChannelEvent:
    """One thing that happened in a chat. `delivery` is the same however often the service delivers it."""

    kind: EventKind
    delivery: str
    conversation: str
    """The session's key. Events of one conversation are handled one after another."""
    chat: str
    """Where answers go, as the service addresses it."""
    sender: str = ""
    """Id of the person; empty where the service does not say who it was."""
    sender_name: str = ""
    message: str | None = None
    """The message's id at the service: the one that was sent, edited, deleted or reacted to."""
    text: str = ""
    """The words; of a command what follows its name, of a reaction the emoji, of a migration the chat's new id."""
    command: str | None = None
    reply_to: str | None = None
    """Id of the message that is replied to."""
    quoted: str | None = None
    """The words of that message, or of the part that was quoted."""
    attachments: tuple[Attachment, ...] = ()
    is_group: bool = False
    is_addressed: bool = True
    """Whether it is meant for the bot: in a direct chat always, in a group if it mentions it or replies to it."""
    begins_at: str | None = None
    """Of a thread: the external name of the message that it began at."""
    version: str | None = None
    """Of an edit: what distinguishes it from other edits of the message."""
    album: str | None = None
    """What messages that were sent as one have in common: several pictures are several messages."""

    def as_json(self) -> dict[str, Any]:
        """The fields that say something."""
        found = {name: getattr(self, name) for name in self.__match_args__}
        found["attachments"] = [attachment.as_json() for attachment in self.attachments]
        return {name: one for name, one in found.items() if one not in (None, "", [])}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> ChannelEvent:
        files = tuple(Attachment(*one) for one in data.get("attachments", ()))
        return ChannelEvent(**{**data, "attachments": files})


def external_name(chat: str, message: str) -> str:
    """The name of a message at its service, as the store keeps it."""
    return f"{chat}:{message}"
