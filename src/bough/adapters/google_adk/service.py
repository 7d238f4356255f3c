"""The session service of ADK over a store."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from uuid import uuid4

from google.adk.errors import StaleSessionError
from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.errors.session_not_found_error import SessionNotFoundError
from google.adk.sessions import Session as AdkSession
from google.adk.sessions import State
from google.adk.sessions.base_session_service import BaseSessionService, ListSessionsResponse

from bough.adapters.common import json_of, key_of, open_store, settled
from bough.adapters.google_adk.events import event_of, message_of, provenance
from bough.errors import Conflict
from bough.model import Document, Json
from bough.session import Session
from bough.store import Store

if TYPE_CHECKING:
    from bough.db import StrPath

CHANNEL = "google-adk"
SESSION = "google-adk.session"
STATE = "google-adk.state"
EVENT = "google-adk.event"
TRIES = 50


class BoughSessionService(BaseSessionService):
    """Sessions in a store: each is a session of bough, and an event a message of its dialog.

    `where` is a file, `:memory:`, or the URL of a server; without it, the default store. `store` is one that is open
    already. The state of an application and of a user is kept in sessions of their own, without messages.
    """

    def __init__(self, where: StrPath | None = None, *, store: Store | None = None) -> None:
        self.store, self._owned = open_store(where, store)

    async def close(self) -> None:
        """Closes the store, unless it was given."""
        if self._owned:
            await settled(self.store.close)

    async def create_session(
        self, *, app_name: str, user_id: str, state: dict[str, Any] | None = None, session_id: str | None = None
    ) -> Any:
        """A new session. Raises `AlreadyExistsError`."""
        id = (session_id or "").strip() or str(uuid4())
        await settled(self._create, app_name, user_id, id, state or {})
        return await settled(self._get, app_name, user_id, id, None)

    async def get_session(self, *, app_name: str, user_id: str, session_id: str, config: Any = None) -> Any:
        """A session with its events, or some of them; None if there is none."""
        return await settled(self._get, app_name, user_id, session_id.strip(), config)

    async def list_sessions(self, *, app_name: str, user_id: str | None = None) -> Any:
        """The sessions of an application, or of one of its users, without events, the one used last at the end."""
        return await settled(self._list, app_name, user_id)

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Deletes a session; what no other session reaches goes to the trash."""
        key = session_key(app_name, user_id, session_id.strip())
        if await settled(self.store.find_session, key) is not None:
            await settled(self.store.delete_session, key)

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        """The state of a user, without the prefix."""
        return await settled(self._shared, user_key(app_name, user_id))

    async def append_event(self, session: Any, event: Any) -> Any:
        """Adds an event, and what it changes of the state. An event that is there already is not added again.

        Raises `SessionNotFoundError`, and `StaleSessionError` if the session was written to since it was read.
        """
        if event.partial:
            return event
        before = await settled(self._check, session, event)
        if before is None:
            return event
        event = await super().append_event(session=session, event=event)
        await settled(self._append, session, event, before)
        session.last_update_time = event.timestamp
        return event

    # Inside ---------------------------------------------------------------------------------------------------------

    def _document(self, app: str, user: str, id: str) -> tuple[Session, Document] | None:
        key = session_key(app, user, id)
        if self.store.find_session(key) is None:
            return None
        session = self.store.session(key)
        found = session.documents(names=[SESSION])
        return (session, found[0]) if found else None

    def _create(self, app: str, user: str, id: str, state: Mapping[str, Any]) -> None:
        own, of_app, of_user = split(state)
        key, now = session_key(app, user, id), time.time()
        mark = {CHANNEL: {"app_name": app, "user_id": user, "id": id}}
        made = self.store.session(key) if self.store.find_session(key) else self.store.session(key, extra=mark)
        try:
            made.put_documents({SESSION: {"state": own, "at": now}}, revisions={SESSION: 0})
        except Conflict:
            raise AlreadyExistsError(f"Session with id {id} already exists.") from None
        self._share(app_key(app), of_app)
        self._share(user_key(app, user), of_user)

    def _get(self, app: str, user: str, id: str, config: Any) -> Any:
        found = self._document(app, user, id)
        if found is None:
            return None
        session, document = found
        last = config.num_recent_events if config else None
        events = [event_of(node) for node in session.path(last)]
        if config and config.after_timestamp is not None:
            events = events_since(events, config.after_timestamp)
        return self._session(app, user, id, json_of(document), events)

    def _session(self, app: str, user: str, id: str, kept: Json, events: Any) -> Any:
        state = dict(kept["state"])
        state |= {State.APP_PREFIX + name: value for name, value in self._shared(app_key(app)).items()}
        state |= {State.USER_PREFIX + name: value for name, value in self._shared(user_key(app, user)).items()}
        return AdkSession(
            app_name=app, user_id=user, id=id, state=state, events=events, last_update_time=kept["at"]
        )  # fmt: skip

    def _list(self, app: str, user: str | None) -> Any:
        found = []
        for info in self.store.sessions(channel=CHANNEL):
            own = info.extra.get(CHANNEL) if isinstance(info.extra, dict) else None
            if own and own["app_name"] == app and user in (None, own["user_id"]):
                documents = self.store.session(info.key).documents(names=[SESSION])
                if documents and session_key(app, own["user_id"], own["id"]) == info.key:
                    found.append(self._session(app, own["user_id"], own["id"], json_of(documents[0]), []))
        found.sort(key=lambda session: (session.last_update_time, session.user_id, session.id))
        return ListSessionsResponse(sessions=found)

    def _check(self, session: Any, event: Any) -> Document | None:
        """The document of a session to which an event may be added; None for an event that is there already."""
        found = self._document(session.app_name, session.user_id, session.id)
        if found is None:
            raise SessionNotFoundError(f"Session {session.id} not found.")
        own, document = found
        node = self.store.find_external(f"{EVENT}:{own.key}", event.id)
        if node is not None and event_of(self.store.get_messages([node])[0]) == event:
            return None
        if json_of(document)["at"] != session.last_update_time:
            raise stale(session)
        return document

    def _append(self, session: Any, event: Any, before: Document) -> None:
        own, of_app, of_user = split((event.actions.state_delta if event.actions else None) or {})
        kept = {"state": {**json_of(before)["state"], **own}, "at": event.timestamp}
        target = self.store.session(session_key(session.app_name, session.user_id, session.id))
        try:
            target.append(
                [message_of(event)], documents={SESSION: kept}, revisions={SESSION: before.revision},
                external=[(f"{EVENT}:{target.key}", event.id)], **provenance(event),
            )  # fmt: skip
        except Conflict:
            session.events.remove(event)
            raise stale(session) from None
        self._share(app_key(session.app_name), of_app)
        self._share(user_key(session.app_name, session.user_id), of_user)

    def _shared(self, key: str) -> dict[str, Any]:
        if self.store.find_session(key) is None:
            return {}
        found = self.store.session(key).documents(names=[STATE])
        return dict(json_of(found[0])) if found else {}

    def _share(self, key: str, news: Mapping[str, Any]) -> None:
        """Merges values into a state that several sessions share."""
        if not news:
            return
        session = self.store.session(key)
        for attempt in range(TRIES):
            found = session.documents(names=[STATE])
            before, revision = (json_of(found[0]), found[0].revision) if found else ({}, 0)
            try:
                session.put_document(STATE, {**before, **news}, revision=revision)
            except Conflict:
                if attempt + 1 < TRIES:
                    continue
                raise
            return


def split(state: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The values of the session, of the application and of the user. Temporary ones are in none of them."""
    own: dict[str, Any] = {}
    of_app: dict[str, Any] = {}
    of_user: dict[str, Any] = {}
    for name, value in state.items():
        if name.startswith(State.APP_PREFIX):
            of_app[name.removeprefix(State.APP_PREFIX)] = value
        elif name.startswith(State.USER_PREFIX):
            of_user[name.removeprefix(State.USER_PREFIX)] = value
        elif not name.startswith(State.TEMP_PREFIX):
            own[name] = value
    return own, of_app, of_user


def events_since(events: list[Any], timestamp: float) -> list[Any]:
    """The events after the last one that is older."""
    older = [at for at, event in enumerate(events) if event.timestamp < timestamp]
    return events[older[-1] + 1 :] if older else events


def stale(session: Any) -> StaleSessionError:
    return StaleSessionError(f"Session {session.id} was written to since it was read; read it again.")


def session_key(app: str, user: str, id: str) -> str:
    """The key of the session of bough."""
    return key_of(f"{CHANNEL}:{quote(app, safe='')}:{quote(user, safe='')}:{id}")


def app_key(app: str) -> str:
    return key_of(f"{CHANNEL}-app:{quote(app, safe='')}")


def user_key(app: str, user: str) -> str:
    return key_of(f"{CHANNEL}-user:{quote(app, safe='')}:{quote(user, safe='')}")
