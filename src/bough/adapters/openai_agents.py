"""OpenAI Agents SDK: `Runner.run(agent, "…", session=BoughSession("c1", "chat.db"))`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from bough.adapters.common import key_of, open_store, settled
from bough.adapters.openai_items import FORMAT, items_of, message_of, own_item
from bough.adapters.openai_usage import RunUsage
from bough.adapters.paths import Paths, copied
from bough.errors import Conflict, NotFound
from bough.model import Json, Node
from bough.session import Session
from bough.store import Store

if TYPE_CHECKING:
    from typing import Self

    from bough.db import StrPath

BRANCHES = "openai-agents.branches"
"""The document with the name of the current branch."""
MAIN = "main"
PATHS: WeakKeyDictionary[Store, Paths[Json]] = WeakKeyDictionary()
"""The items of the paths that were read last, for all sessions of a store."""


class BoughSession:
    """A session of the SDK. Each item is a message of the session with this key, kept verbatim.

    In memory like the SDK's own without a path; `store` is a store that is open already, and that `close` leaves open.
    Raises what `bough.connect` raises.
    """

    def __init__(
        self,
        session_id: str,
        db_path: StrPath = ":memory:",
        *,
        store: Store | None = None,
        session_settings: Any = None,
        model: str | None = None,
    ) -> None:
        from agents.memory import SessionSettings

        if session_settings is None or isinstance(session_settings, dict):
            session_settings = SessionSettings().resolve(session_settings)
        self.session_id = session_id
        self.session_settings = session_settings
        self.db_path = db_path
        self._store, self._owned = open_store(db_path, store)
        self._key = key_of(session_id)
        self._closed = False
        self._usage = RunUsage(model)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the store, unless it was given. Every later call raises `RuntimeError`, as the SDK's sessions do."""
        if not self._closed and self._owned:
            self._store.close()
        self._closed = True

    # The protocol of the SDK ----------------------------------------------------------------------------------------

    async def get_items(self, limit: int | None = None, *, wrapper: Any = None) -> list[Any]:
        """The items, oldest first; the last ones with a limit."""
        self._usage.begin(wrapper)
        wanted = self.session_settings.limit if limit is None else limit
        return await self._call(self._items, wanted)

    async def add_items(self, items: list[Any], *, wrapper: Any = None) -> None:
        """Adds items, all or none."""
        self._check_open()
        messages = [message_of(item) for item in items]
        if not messages:
            return
        replies = any(message.role == "assistant" for message in messages)
        about = self._usage.take(wrapper) if replies else {}
        try:
            await self._call(lambda: self.session.append(messages, **about))
        except BaseException:
            self._usage.give_back(about)
            raise

    async def pop_item(self, *, wrapper: Any = None) -> Any:  # noqa: ARG002
        """Takes the newest item off, and gives it; None if there is none. It stays in the store, as a branch."""
        return await self._call(self._pop)

    async def clear_session(self, *, wrapper: Any = None) -> None:  # noqa: ARG002
        """Empties the session and deletes its branches. What no other session reaches goes to the trash."""
        await self._call(self._clear)

    # Usage ----------------------------------------------------------------------------------------------------------

    @property
    def hooks(self) -> Any:
        """Hooks of a run that note model and tokens of each reply: `Runner.run(…, session=s, hooks=s.hooks)`.

        Without them the tokens are noted all the same, under the model that the session was made with, if any.
        """
        return self._usage.hooks()

    async def usage(self, by: Any = "model") -> Any:
        """Tokens and cost, as `Session.usage`."""
        return await self._call(lambda: self.session.usage(by=by))

    # Branches -------------------------------------------------------------------------------------------------------

    @property
    def session(self) -> Session:
        """The session of bough that the current branch is."""
        self._check_open()
        return self._store.session(self._branch_key(self._current()))

    async def nodes(self) -> list[Node]:
        """The messages of the current branch with their ids."""
        return await self._call(self._path)

    async def create_branch(self, at: int | str | None = None, branch_name: str | None = None) -> str:
        """Makes a branch after an item, and switches to it; its name. Nothing is copied.

        `at` is the number of items to keep (a negative number counts from the end), the id of a node, or None for all.
        Raises `ValueError` for a name in use and for an item that is not there.
        """
        return await self._call(self._create_branch, at, branch_name)

    async def create_branch_from_turn(self, turn_number: int, branch_name: str | None = None) -> str:
        """Makes a branch before the nth words of the user, counted from 1, and switches to it; its name.

        Raises `ValueError` as `create_branch` does.
        """

        def work() -> str:
            starts = [at for at, node in enumerate(self.session.path()) if node.role == "user"]
            if not 1 <= turn_number <= len(starts):
                raise ValueError(f"There is no turn {turn_number}; there are {len(starts)}.")
            return self._create_branch(starts[turn_number - 1], branch_name)

        return await self._call(work)

    async def switch_to_branch(self, branch_id: str) -> None:
        """Makes a branch the current one, in every process. Raises `ValueError` for one that is not there."""
        await self._call(self._switch, branch_id)

    async def list_branches(self) -> list[dict[str, Any]]:
        """The branches, `main` first: `branch_id`, `message_count`, `user_turns`, `is_current` and `created_at`."""
        return await self._call(self._list_branches)

    async def delete_branch(self, branch_id: str, force: bool = False) -> None:
        """Deletes a branch; what no other one reaches goes to the trash.

        Raises `ValueError` for `main`, for one that is not there, and for the current one unless `force`.
        """
        await self._call(self._delete_branch, branch_id, force)

    def delegate(self, agent: str) -> BoughSession:
        """The session of a sub-agent, for `agent.as_tool(…, session=…)`: it works for this one, and its costs count."""
        child = self.session.delegate(agent)
        return BoughSession(child.key, store=self._store, session_settings=self.session_settings)

    # Inside ---------------------------------------------------------------------------------------------------------

    def _check_open(self) -> None:
        if self._closed:
            # Programs match the text of the SDK's own error.
            raise RuntimeError(f"Session {self.session_id!r} is used after close: SQLiteSession is closed")

    async def _call(self, verb: Callable[..., Any], *args: Any) -> Any:
        self._check_open()
        return await settled(verb, *args)

    def _items(self, limit: int | None) -> list[Json]:
        if self._store.find_session(self._key) is None:
            return []
        session, last = self.session, None if limit is None else max(limit, 0)
        if (kept := self._kept_items(session.head, last)) is not None:
            return kept
        path = session.path(last)
        if any(node.kind == "summary" for node in path):
            return list(session.context(FORMAT).payload)[-(limit or 0) :]
        found = items_of([node.message for node in path])
        return found if limit is None or len(found) <= limit else found[len(found) - limit :]

    def _kept_items(self, head: str | None, last: int | None) -> list[Json] | None:
        """The items, if all of them came from this SDK; what is remembered is not read again."""
        try:
            found = PATHS.setdefault(self._store, Paths(own_item)).end(self._store, head, last) if head else []
        except NotFound:  # deleted in the meantime
            return None
        return [copied(item) for item in found] if all(item is not None for item in found) else None

    def _path(self) -> list[Node]:
        return self.session.path()

    def _pop(self) -> Json:
        session = self.session
        node = session.pop()
        if node is None:
            return None
        *others, last = items_of([node.message])
        if others:  # a message of another adapter is several items here
            session.append([message_of(item) for item in others])
        return last

    def _clear(self) -> None:
        if self._store.find_session(self._key) is None:
            return
        for name in self._branch_names():
            self._store.delete_session(self._branch_key(name))
        main = self._store.session(self._key)
        main.clear()
        if main.documents(names=[BRANCHES]):
            main.delete_document(BRANCHES)

    def _branch_key(self, name: str) -> str:
        return self._key if name == MAIN else f"{self._key}:branch:{name}"

    def _current(self) -> str:
        found = self._store.find_session(self._key) and self._store.session(self._key).documents(names=[BRANCHES])
        return str(found[0].value) if found else MAIN

    def _branch_names(self) -> list[str]:
        prefix = self._branch_key("")
        keys = (info.key for info in self._store.sessions())
        return sorted(key.removeprefix(prefix) for key in keys if key.startswith(prefix))

    def _check_branch(self, name: str) -> None:
        if name != MAIN and self._store.find_session(self._branch_key(name)) is None:
            raise ValueError(f"There is no branch {name!r}; there are {', '.join([MAIN, *self._branch_names()])}.")

    def _create_branch(self, at: int | str | None, name: str | None) -> str:
        session = self.session
        name = name or f"branch-{len(self._branch_names()) + 1}"
        if name == MAIN or not name.strip():
            raise ValueError(f"A branch cannot be called {name!r}.")
        place = at if isinstance(at, str) else self._place(session.path(), at)
        try:
            if place is None:
                self._new_branch(name)
            else:
                session.fork(at=place, key=self._branch_key(name))
        except (Conflict, NotFound) as problem:
            raise ValueError(str(problem)) from problem
        self._switch(name)
        return name

    def _new_branch(self, name: str) -> None:
        if self._store.find_session(self._branch_key(name)) is not None:
            raise Conflict(f"There is a branch {name!r} already.")
        self._store.session(self._branch_key(name))

    def _place(self, path: Sequence[Node], at: int | None) -> str | None:
        """The id of the last node to keep; None to keep none. Raises `ValueError`."""
        keep = len(path) if at is None else at + len(path) if at < 0 else at
        if not 0 <= keep <= len(path):
            raise ValueError(f"There are {len(path)} items, not {at}.")
        return path[keep - 1].id if keep else None

    def _switch(self, name: str) -> None:
        self._check_branch(name)
        self._store.session(self._key).put_document(BRANCHES, name)

    def _list_branches(self) -> list[dict[str, Any]]:
        current, found = self._current(), []
        for name in [MAIN, *self._branch_names()]:
            session = self._store.session(self._branch_key(name))
            roles = [node.role for node in session.path()]
            found.append(
                {
                    "branch_id": name,
                    "message_count": len(roles),
                    "user_turns": roles.count("user"),
                    "is_current": name == current,
                    "created_at": session.info.created,
                }
            )
        return found

    def _delete_branch(self, name: str, force: bool) -> None:
        if name == MAIN:
            raise ValueError("The main branch cannot be deleted; clear the session instead.")
        self._check_branch(name)
        if name == self._current():
            if not force:
                raise ValueError(f"Branch {name!r} is the current one; switch to another, or use force=True.")
            self._switch(MAIN)
        self._store.delete_session(self._branch_key(name))
