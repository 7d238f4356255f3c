"""A channel: a service, and what the store remembers of it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bough.channels.chats import Chats
from bough.channels.delivery import Delivery
from bough.channels.events import external_name
from bough.channels.inbox import Inbox
from bough.channels.members import Members
from bough.channels.outbox import Outbox
from bough.runtime.settings import AgentOptions

if TYPE_CHECKING:
    from bough.agent import Agent, Stop
    from bough.channels.events import ChannelEvent
    from bough.channels.service import ChatService
    from bough.channels.settings import ChannelSettings
    from bough.model import SessionInfo
    from bough.runtime.agents import Runtime
    from bough.session import Session
    from bough.store import Store

log = logging.getLogger("bough.channels")


class Channel:
    """What the handling of an event needs. `stop` ends all of it."""

    def __init__(
        self, service: ChatService, store: Store, runtime: Runtime, settings: ChannelSettings, stop: Stop
    ) -> None:  # fmt: skip
        self.service = service
        self.store = store
        self.runtime = runtime
        self.settings = settings
        self.stop = stop
        self.inbox = Inbox(store, service.name)
        self.outbox = Outbox(store, service.name)
        self.chats = Chats(store, service.name)
        self.members = Members(store, service.name, settings.allow, settings.limits)

    def session(self, conversation: str) -> Session:
        """The session of a conversation, found or made."""
        return self.store.session(conversation)

    def delivery(self, event: ChannelEvent) -> Delivery:
        """The messages that answer an event."""
        return Delivery(self.service, self.outbox, event.delivery, event.chat, event.message, self.stop)

    def options(self, info: SessionInfo) -> AgentOptions:
        """The agent and the model of the channel, unless the session has others."""
        return AgentOptions(
            model=None if info.model else self.settings.model, agent=None if info.agent else self.settings.agent
        )

    @contextmanager
    def agent(self, session: Session) -> Iterator[Agent]:
        """The agent that answers in a session."""
        info = session.info
        agent = self.runtime.agent(self.options(info), info)
        try:
            yield agent
        finally:
            agent.provider.close()

    def find(self, chat: str, message: str | None) -> str | None:
        """The id of the node that a message at the service is."""
        return None if message is None else self.find_named(external_name(chat, message))

    def find_named(self, name: str) -> str | None:
        """The id of the node with an external name."""
        return self.store.find_external(self.service.name, name)

    def name(self, chat: str, message: str, node: str, version: str | None = None) -> None:
        """Say which node a message at the service is; a version of it has a name of its own too."""
        name = external_name(chat, message)
        self.store.name_externally(self.service.name, name, message=node, move=True)
        if version is not None:
            self.store.name_externally(self.service.name, f"{name}:{version}", message=node)
