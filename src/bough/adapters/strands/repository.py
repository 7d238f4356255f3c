"""The session repository and the session manager of Strands over a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strands.session.repository_session_manager import RepositorySessionManager
from strands.session.session_repository import SessionRepository
from strands.types.exceptions import SessionException
from strands.types.session import Session as StrandsSession
from strands.types.session import SessionAgent, SessionMessage, SessionType

from bough.adapters.common import json_of, key_of, open_store
from bough.adapters.strands.messages import foreign, kept, message_of, provenance
from bough.model import Json, Node
from bough.model.keys import DELEGATE
from bough.session import Session
from bough.store import Store

if TYPE_CHECKING:
    from bough.db import StrPath

SESSION = "strands.session"
AGENT = "strands.agent"
GROUP = "strands.multi-agent/"
CHANGED = "strands.message/"
"""Documents with messages that were changed: in the tree they stay as they were."""
DEFAULT = "default"
"""The id that Strands gives to an agent without one."""


class BoughSessionRepository(SessionRepository):
    """Sessions in a store. The default agent's messages are the session's dialog, those of others are delegates'.

    `where` is a file, `:memory:`, or the URL of a server; without it, the default store. `store` is one that is open
    already.
    """

    def __init__(self, where: StrPath | None = None, *, store: Store | None = None) -> None:
        self.store, self._owned = open_store(where, store)
        self.models: dict[str, str] = {}
        """The model of each agent, where it is known: messages do not tell it."""

    def close(self) -> None:
        """Closes the store, unless it was given."""
        if self._owned:
            self.store.close()

    def create_session(self, session: Any, **kwargs: Any) -> Any:  # noqa: ARG002
        """Creates a session. Raises `SessionException` if it exists."""
        if self._read(key_of(session.session_id), SESSION) is not None:
            raise SessionException(f"Session {session.session_id} already exists")
        self.store.session(key_of(session.session_id)).put_document(SESSION, session.to_dict())
        return session

    def read_session(self, session_id: str, **kwargs: Any) -> Any:  # noqa: ARG002
        """A session; None if there is none. A dialog that another program led is one."""
        found = self._read(key_of(session_id), SESSION)
        if found is not None:
            return StrandsSession.from_dict(found)
        info = self.store.find_session(key_of(session_id))
        return StrandsSession(session_id, SessionType.AGENT) if info is not None and info.head_id else None

    def delete_session(self, session_id: str, **kwargs: Any) -> None:  # noqa: ARG002
        """Deletes a session with its agents; what no other session reaches goes to the trash."""
        self._check_session(session_id)
        self.store.delete_session(key_of(session_id))

    def create_agent(self, session_id: str, session_agent: Any, **kwargs: Any) -> None:  # noqa: ARG002
        """Creates an agent. Raises `SessionException` if it exists, or its session does not."""
        self._check_session(session_id)
        key = agent_key(session_id, session_agent.agent_id)
        if self._read(key, AGENT) is not None:
            raise SessionException(f"Agent {session_agent.agent_id} already exists in session {session_id}")
        self.store.session(key).put_document(AGENT, session_agent.to_dict())

    def read_agent(self, session_id: str, agent_id: str, **kwargs: Any) -> Any:  # noqa: ARG002
        """An agent; None if there is none."""
        found = self._read(agent_key(session_id, agent_id), AGENT)
        return None if found is None else SessionAgent.from_dict(found)

    def update_agent(self, session_id: str, session_agent: Any, **kwargs: Any) -> None:  # noqa: ARG002
        """Replaces the state of an agent. Raises `SessionException` if there is none."""
        before = self._agent(session_id, session_agent.agent_id)
        session_agent.created_at = json_of(before.document(AGENT))["created_at"]
        before.put_document(AGENT, session_agent.to_dict())

    def create_message(self, session_id: str, agent_id: str, session_message: Any, **kwargs: Any) -> None:  # noqa: ARG002
        """Adds a message to the dialog of an agent. Raises `SessionException` if its number is taken."""
        session = self._agent(session_id, agent_id)
        number, last = session_message.message_id, session.path(1)
        own = kept(last[0].message) if last else None
        if own is not None and own["message_id"] >= number and number in dict(self._messages(session)):
            raise SessionException(f"Message {number} already exists in agent {agent_id} in session {session_id}")
        session.append([message_of(session_message)], **provenance(session_message.message, self.models.get(agent_id)))

    def read_message(self, session_id: str, agent_id: str, message_id: int, **kwargs: Any) -> Any:  # noqa: ARG002
        """A message by its number; None if there is none."""
        key = agent_key(session_id, agent_id)
        if self._read(key, AGENT) is None:
            return None
        return dict(self._messages(self.store.session(key))).get(message_id)

    def update_message(self, session_id: str, agent_id: str, session_message: Any, **kwargs: Any) -> None:  # noqa: ARG002
        """Changes a message as the agent sees it. Raises `SessionException` if there is none."""
        session = self._agent(session_id, agent_id)
        before = dict(self._messages(session)).get(session_message.message_id)
        if before is None:
            raise SessionException(f"Message {session_message.message_id} does not exist in session {session_id}")
        session_message.created_at = before.created_at
        session.put_document(f"{CHANGED}{session_message.message_id:012}", session_message.to_dict())

    def list_messages(
        self, session_id: str, agent_id: str, limit: int | None = None, offset: int = 0, **kwargs: Any  # noqa: ARG002
    ) -> list[Any]:  # fmt: skip
        """The messages of an agent by their numbers, or a page of them. Raises `SessionException` without the agent."""
        found = [message for _, message in self._messages(self._agent(session_id, agent_id))]
        return found[offset:] if limit is None else found[offset : offset + limit]

    def create_multi_agent(self, session_id: str, multi_agent: Any, **kwargs: Any) -> None:  # noqa: ARG002
        """Creates the state of a graph or a swarm."""
        self._check_session(session_id)
        self.store.session(key_of(session_id)).put_document(GROUP + multi_agent.id, multi_agent.serialize_state())

    def read_multi_agent(self, session_id: str, multi_agent_id: str, **kwargs: Any) -> Any:  # noqa: ARG002
        """The state of a graph or a swarm; None if there is none."""
        return self._read(key_of(session_id), GROUP + multi_agent_id)

    def update_multi_agent(self, session_id: str, multi_agent: Any, **kwargs: Any) -> None:  # noqa: ARG002
        """Replaces the state of a graph or a swarm. Raises `SessionException` if there is none."""
        if self.read_multi_agent(session_id, multi_agent.id) is None:
            raise SessionException(f"MultiAgent state {multi_agent.id} in session {session_id} does not exist")
        self.store.session(key_of(session_id)).put_document(GROUP + multi_agent.id, multi_agent.serialize_state())

    # Inside ---------------------------------------------------------------------------------------------------------

    def _read(self, key: str, document: str) -> Json:
        if self.store.find_session(key) is None:
            return None
        found = self.store.session(key).documents(names=[document])
        return json_of(found[0]) if found else None

    def _check_session(self, session_id: str) -> None:
        if self.read_session(session_id) is None:
            raise SessionException(f"Session {session_id} does not exist")

    def _agent(self, session_id: str, agent_id: str) -> Session:
        key = agent_key(session_id, agent_id)
        if self._read(key, AGENT) is None:
            raise SessionException(f"Agent {agent_id} in session {session_id} does not exist")
        return self.store.session(key)

    def _messages(self, session: Session) -> list[tuple[int, Any]]:
        """The messages of the dialog with their numbers. One that another program added has the next number."""
        changed = {}
        for document in session.documents(CHANGED):
            changed[int(document.name.removeprefix(CHANGED))] = json_of(document)
        found: list[tuple[int, Any]] = []
        for node in session.path():
            for whole in wholes(node, 1 + max((number for number, _ in found), default=-1)):
                number = whole["message_id"]
                found.append((number, SessionMessage.from_dict(changed.get(number, whole))))
        return sorted(found, key=lambda one: one[0])


def wholes(node: Node, number: int) -> list[Json]:
    own = kept(node.message)
    if own is not None:
        return [own]
    at = node.created.isoformat()
    return [
        {"message": message, "message_id": number + index, "created_at": at, "updated_at": at}
        for index, message in enumerate(foreign([node.message]))
    ]


def agent_key(session_id: str, agent_id: str) -> str:
    """The key of the session with the dialog of an agent."""
    key = key_of(session_id)
    return key if agent_id == DEFAULT else key_of(f"{key}{DELEGATE}{agent_id}")


class BoughSessionManager(RepositorySessionManager):
    """The session manager of an agent over a store, which is named as for the repository."""

    def __init__(
        self, session_id: str, where: StrPath | None = None, *, store: Store | None = None, **kwargs: Any
    ) -> None:
        self.repository = BoughSessionRepository(where, store=store)
        super().__init__(session_id=session_id, session_repository=self.repository, **kwargs)

    def initialize(self, agent: Any, **kwargs: Any) -> None:
        """Restores an agent, also where another program has led the dialog so far."""
        info = self.repository.store.find_session(agent_key(self.session_id, agent.agent_id))
        if info is not None and info.head_id and self.repository.read_agent(self.session_id, agent.agent_id) is None:
            self.repository.create_agent(self.session_id, SessionAgent.from_agent(agent))
        super().initialize(agent, **kwargs)

    def append_message(self, message: Any, agent: Any, **kwargs: Any) -> None:
        """Adds a message, with the model of the agent."""
        model = agent.model.get_config().get("model_id") if hasattr(agent, "model") else None
        if isinstance(model, str):
            self.repository.models[agent.agent_id] = model
        super().append_message(message, agent, **kwargs)

    def close(self) -> None:
        """Closes the store, unless it was given."""
        self.repository.close()
