"""Claude Agent SDK: `ClaudeAgentOptions(session_store=BoughSessionStore("chat.db"))`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bough.adapters.claude_entries import Transcript, entry_of
from bough.adapters.common import at_once, json_of, key_of, open_store, settled
from bough.errors import Conflict
from bough.model import Document, Json, SessionInfo
from bough.model.keys import DELEGATE
from bough.session import Session
from bough.store import Store

if TYPE_CHECKING:
    from typing import Self

    from bough.db import StrPath

CHANNEL = "claude-agent-sdk"
BATCH = "claude-agent-sdk.batch/"
"""Documents with the order of the entries: nodes by their ids, and what is no message as it is."""
SUMMARY = "claude-agent-sdk.summary"
TRIES = 50


class BoughSessionStore:
    """Transcripts in a store: each is a session, the messages in it are nodes, and a subagent's is a delegate.

    `where` is a file, `:memory:`, or the URL of a server; without it, the default store. `store` is one that is open
    already. An entry whose `uuid` is in the transcript is not added again. What is deleted goes to the trash.
    """

    def __init__(self, where: StrPath | None = None, *, store: Store | None = None) -> None:
        self.store, self._owned = open_store(where, store)
        self._written = 0
        self._call = at_once if store is None and str(where) == ":memory:" else settled

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the store, unless it was given."""
        if self._owned:
            self.store.close()

    async def append(self, key: Any, entries: list[Any]) -> None:
        """Adds entries to the end of a transcript."""
        if entries:
            await self._call(self._append, key, entries)

    async def load(self, key: Any) -> list[Any] | None:
        """The entries of a transcript, as they were added; None if there is none."""
        return await self._call(self._load, key)

    async def list_sessions(self, project_key: str) -> list[Any]:
        """The transcripts of a project, without those of subagents: `session_id` and `mtime`, in milliseconds."""
        summaries = await self._call(self._summaries, project_key)
        return [{"session_id": one["session_id"], "mtime": one["mtime"]} for one in summaries]

    async def list_session_summaries(self, project_key: str) -> list[Any]:
        """The summaries that the SDK has made of the transcripts of a project."""
        return await self._call(self._summaries, project_key)

    async def delete(self, key: Any) -> None:
        """Deletes a transcript with those of its subagents; with a `subpath` only that one."""
        await self._call(self._delete, key)

    async def list_subkeys(self, key: Any) -> list[str]:
        """The subpaths of the transcripts of subagents."""
        return await self._call(self._subkeys, key)

    def session(self, key: Any) -> Session:
        """The session of bough that a transcript is: to fork it, to search it, to see what it cost."""
        return self.store.session(session_key(key))

    # Inside ---------------------------------------------------------------------------------------------------------

    def _append(self, key: Any, entries: Sequence[Any]) -> None:
        session = self._make(key)
        for attempt in range(TRIES):
            try:
                self._try_append(session, key, entries)
            except Conflict:  # another process added to the transcript at the same moment
                if attempt + 1 < TRIES:
                    continue
                raise
            return

    def _try_append(self, session: Session, key: Any, entries: Sequence[Any]) -> None:
        transcript = Transcript(session)
        fresh = transcript.unknown(entries)
        last = session.documents(BATCH, descending=True, limit=1)
        number = int(last[0].name.removeprefix(BATCH)) + 1 if last else 0
        name = f"{BATCH}{number:012}"
        order: list[Json] = []
        documents: dict[str, Json] = {name: order}
        revisions = {name: 0}
        if "subpath" not in key or key["subpath"] is None:
            documents[SUMMARY], revisions[SUMMARY] = self._folded(session, key, entries)
        transcript.add(fresh, order, documents, revisions)

    def _folded(self, session: Session, key: Any, entries: Sequence[Any]) -> tuple[Json, int]:
        """The summary with these entries in it, and the revision that it was at."""
        from claude_agent_sdk import fold_session_summary

        (before,) = session.documents(names=[SUMMARY]) or (None,)
        folded = dict(fold_session_summary(json_of(before) if before else None, key, list(entries)))
        earlier = json_of(before)["mtime"] if before else 0
        # Two transcripts that are written in one millisecond have an order all the same.
        self._written = folded["mtime"] = max(time.time_ns() // 1_000_000, earlier + 1, self._written + 1)
        return folded, before.revision if before else 0

    def _load(self, key: Any) -> list[Any] | None:
        if self.store.find_session(session_key(key)) is None:
            return None
        batches = self.store.session(session_key(key)).documents(BATCH)
        order = [item for batch in batches for item in json_of(batch)]
        nodes = [item["node"] for item in order if "node" in item]
        found = iter(self.store.get_messages(nodes) if nodes else [])
        return [entry_of(next(found).message) if "node" in item else item["entry"] for item in order] or None

    def _sessions(self, project_key: str) -> list[tuple[SessionInfo, Any]]:
        found = [(info, mark(info)) for info in self.store.sessions(channel=CHANNEL)]
        return [(info, own) for info, own in found if own and own["project_key"] == project_key]

    def _summaries(self, project_key: str) -> list[Any]:
        found: list[Document] = []
        for info, own in self._sessions(project_key):
            if own["subpath"] is None:
                found += self.store.session(info.key).documents(names=[SUMMARY])
        return [json_of(document) for document in found]

    def _delete(self, key: Any) -> None:
        if self.store.find_session(session_key(key)) is not None:
            self.store.delete_session(session_key(key))

    def _subkeys(self, key: Any) -> list[str]:
        if self.store.find_session(session_key(key)) is None:
            return []
        own = (mark(info) for info in self.store.sessions(parent=session_key(key)))
        return [one["subpath"] for one in own if one and one["subpath"] is not None]

    def _make(self, key: Any) -> Session:
        name = session_key(key)
        if self.store.find_session(name) is None:
            subpath = key.get("subpath")
            if subpath is not None:
                self._make({**key, "subpath": None})
            kept = {"project_key": key["project_key"], "session_id": key["session_id"], "subpath": subpath}
            return self.store.session(name, extra={CHANNEL: kept})
        return self.store.session(name)


def session_key(key: Any) -> str:
    """The key of the session that a transcript is."""
    main = key_of(f"{CHANNEL}:{key['project_key']}:{key['session_id']}")
    subpath = key.get("subpath")
    return main if subpath is None else key_of(f"{main}{DELEGATE}{subpath}")


def mark(info: SessionInfo) -> Any:
    own = info.extra.get(CHANNEL) if isinstance(info.extra, dict) else None
    return own if own and session_key(own) == info.key else None
