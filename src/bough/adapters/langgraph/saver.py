"""The checkpoint saver of LangGraph over a store."""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    CheckpointTuple,
    get_checkpoint_id,
    get_checkpoint_metadata,
    writes_sort_key,
)
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from bough.adapters.common import json_of, open_store
from bough.adapters.langgraph import adoption, upkeep, values
from bough.adapters.langgraph.awaited import Awaited
from bough.adapters.langgraph.dialog import Dialogs, can_be_a_path, holder
from bough.adapters.langgraph.messages import provenance
from bough.adapters.langgraph.threads import Threads
from bough.errors import Conflict
from bough.model import Document, Json
from bough.session import Session
from bough.store import Store

CHECKPOINT = "checkpoint/"
WRITES = "writes/"
PAGE = 50
"""Checkpoints that are read at a time."""
TRIES = 20


class Checkpoints(Awaited, BaseCheckpointSaver):
    """Checkpoints of threads in a store, with all optional methods, to be called or awaited.

    A thread is the session of that name. The messages in its state are nodes of the tree, everything else documents of
    the session. A store that is given stays open; without one, the default store is used.
    """

    def __init__(self, store: Store | None = None, *, serde: Any = None) -> None:
        super().__init__(serde=serde)
        self.store, self._owned = open_store(None, store)
        self._threads = Threads(self.store)
        self._known = Dialogs(self.store, self.serde)

    def close(self) -> None:
        """Closes the store, unless it was given."""
        if self._owned:
            self.store.close()

    def setup(self) -> None:
        """Does nothing: the tables are there when the store is open."""

    # Saving ---------------------------------------------------------------------------------------------------------

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:  # noqa: ARG002
        """Stores a checkpoint: what is new in it, in one transaction."""
        thread, namespace, parent = place_of(config)
        session = self._threads.make(thread, namespace)
        before = self._document(session, parent) if parent else None
        known = before["values"] if before else {}
        rest = {name: part for name, part in checkpoint.items() if name != "channel_values"}
        document = {
            "parent": parent,
            "checkpoint": values.inline(self.serde.dumps_typed(rest)),
            "metadata": get_checkpoint_metadata(config, metadata),
            "values": {},
        }
        json.dumps(document["metadata"])  # refuses what cannot be stored before anything is
        documents: dict[str, Json | bytes] = {CHECKPOINT + checkpoint["id"]: document}
        stored = values.digests(known.values())
        dialog = None
        for channel, value in checkpoint["channel_values"].items():
            if self._is_readable and can_be_a_path(value):
                place = holder(session, channel)
                head = place.head
                tips = [head, known[channel][1] if channel in known and known[channel][0] == "path" else None]
                growth = self._dialogs.growth(tips, value)
                if growth.new and channel == "messages":
                    dialog = growth
                    continue
                document["values"][channel] = ["path", self._branch(place, head, growth)]
                continue
            document["values"][channel], more = values.refer(self.serde.dumps_typed(value), stored)
            documents |= more
        if dialog is None:
            session.put_documents(documents)
        else:

            def named(ids: Sequence[str]) -> dict[str, Json | bytes]:
                document["values"]["messages"] = ["path", ids[-1]]
                return documents

            self._append(session, dialog, named)
        return {"configurable": {"thread_id": thread, "checkpoint_ns": namespace, "checkpoint_id": checkpoint["id"]}}

    def put_writes(self, config: Any, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = "") -> None:
        """Stores what a task wrote. What it wrote before under the same number stays, unless it is an error or such."""
        thread, namespace, checkpoint = place_of(config)
        session = self._threads.make(thread, namespace)
        replaces = all(channel in WRITES_IDX_MAP for channel, _ in writes)
        documents: dict[str, Json | bytes] = {}
        rows = {}
        for index, (channel, value) in enumerate(writes):
            reference, more = values.refer(self.serde.dumps_typed(value), set())
            rows[str(WRITES_IDX_MAP.get(channel, index))] = [channel, reference]
            documents |= more
        name = f"{WRITES}{checkpoint}/{task_id}"
        for attempt in range(TRIES):
            (found,) = session.documents(names=[name]) or (None,)
            before = json_of(found)["writes"] if found else {}
            merged = {**before, **rows} if replaces else {**rows, **before}
            own = {name: {"path": task_path, "writes": merged}}
            try:
                session.put_documents({**documents, **own}, revisions={name: found.revision if found else 0})
            except Conflict:
                if attempt + 1 < TRIES:
                    continue
                raise
            return

    # Reading --------------------------------------------------------------------------------------------------------

    def get_tuple(self, config: Any) -> CheckpointTuple | None:
        """A checkpoint, or the newest one of its thread; None if there is none. Raises `NotFound` for lost messages."""
        thread, namespace, _ = place_of(config)
        session = self._threads.find(thread, namespace)
        if session is None:
            return None
        id = get_checkpoint_id(config)
        found = self._meant_document(session, id)
        head = adoption.node(id) if id else session.head
        if not namespace and self._is_readable and adoption.is_due(found[0] if found else None, id, head):
            return self._adopted(thread, session, found[0] if found else None, head)
        return self._tuple(thread, namespace, session, found[0]) if found else None

    def list(
        self, config: Any, *, filter: Any = None, before: Any = None, limit: int | None = None
    ) -> Iterator[CheckpointTuple]:
        """The checkpoints of a thread, or of all, the newest first."""
        each = [self._newest(*thread, config, before) for thread in self._meant(config)]
        merged = heapq.merge(*each, key=lambda found: found[0].name, reverse=True)
        wanted = (found for found in merged if matches(found[0].value["metadata"], filter))
        for document, thread, namespace, session in islice(wanted, limit):
            yield self._tuple(thread, namespace, session, document)

    def get_delta_channel_history(self, *, config: Any, channels: Sequence[str]) -> Mapping[str, Any]:
        """What was written to channels since their last whole value, and that value. Loads nothing else."""
        target = self._target(config) if channels else None
        collected: dict[str, list[Any]] = {channel: [] for channel in channels}
        seeds: dict[str, Any] = {}
        if target is not None:
            session, document = target
            at, missing = document["parent"], set(channels)
            while at and missing and (document := self._document(session, at)):
                for write in reversed(self._writes(session, at, missing)):
                    collected[write[1]].append(write)
                here = {channel: document["values"][channel] for channel in missing & document["values"].keys()}
                seeds |= self._values(session, here)
                missing -= here.keys()
                at = document["parent"]
        return {
            channel: {"writes": collected[channel][::-1], **({"seed": seeds[channel]} if channel in seeds else {})}
            for channel in channels
        }

    # Upkeep ---------------------------------------------------------------------------------------------------------

    def delete_thread(self, thread_id: str) -> None:
        """Deletes a thread. Its messages that no other session reaches go to the trash."""
        key = self._threads.key(str(thread_id), "")
        if self.store.find_session(key) is not None:
            self.store.delete_session(key)

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Deletes the checkpoints that runs made, and their writes."""
        wanted = set(map(str, run_ids))
        for _, _, session in self._threads.every():
            upkeep.delete(session, lambda document: str(json_of(document)["metadata"].get("run_id")) in wanted)

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copies all checkpoints and writes of a thread. Messages are shared, not copied."""
        for namespace, session in self._threads.of(str(source_thread_id)):
            upkeep.copy(session, self._threads.make(str(target_thread_id), namespace))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Deletes the checkpoints of threads but the newest of each namespace, or all of them with `delete`.

        The ancestors that the channels of the newest one are rebuilt from are kept. Raises `ValueError`.
        """
        if strategy not in ("keep_latest", "delete"):
            raise ValueError(f"The strategy is keep_latest or delete, not {strategy!r}.")
        for thread_id in thread_ids:
            if strategy == "delete":
                self.delete_thread(thread_id)
                continue
            for _, session in self._threads.of(str(thread_id)):
                upkeep.keep_latest(session)

    def get_next_version(self, current: Any, channel: None) -> Any:  # noqa: ARG002
        """The next version of a channel: a number. A text of another saver is continued as such a text."""
        if isinstance(current, str):
            return f"{int(current.split('.')[0]) + 1:032}.{0:016}"
        return 1 if current is None else int(current) + 1

    # Inside ---------------------------------------------------------------------------------------------------------

    @property
    def _is_readable(self) -> bool:
        """Whether messages may be stored as text: an application that encrypts what it stores does not want it."""
        return isinstance(self.serde, JsonPlusSerializer)

    @property
    def _dialogs(self) -> Dialogs:
        """Its lists of messages: LangGraph copies a saver to give it another serializer, which reads them anew."""
        if self._known.serde is not self.serde:
            self._known = Dialogs(self.store, self.serde)
        return self._known

    def _document(self, session: Session, id: str) -> Json:
        (found,) = session.documents(names=[CHECKPOINT + id]) or (None,)
        return found and json_of(found)

    def _meant_document(self, session: Session, id: str | None) -> Sequence[Document]:
        """The document of this checkpoint, or of the newest one, if there is one."""
        if id:
            return session.documents(names=[CHECKPOINT + id])
        return session.documents(CHECKPOINT, descending=True, limit=1)

    def _target(self, config: Any) -> tuple[Session, Json] | None:
        thread, namespace, id = place_of(config)
        session = self._threads.find(thread, namespace)
        if session is None:
            return None
        found = (
            session.documents(names=[CHECKPOINT + id])
            if id
            else session.documents(CHECKPOINT, descending=True, limit=1)
        )
        return (session, json_of(found[0])) if found else None

    def _append(self, session: Session, growth: Any, documents: Any) -> str:
        messages = [one.to_message() for one in growth.new]
        about = provenance([one.message for one in growth.new])
        ids = session.append(messages, at=growth.parent, documents=documents, **about)
        self._dialogs.remember(growth, ids)
        return ids[-1]

    def _branch(self, session: Session, head: str | None, growth: Any) -> str:
        if growth.new:
            return self._append(session, growth, None)
        if growth.parent != head:
            session.move(growth.parent)
        return growth.parent

    def _meant(self, config: Any) -> Iterator[tuple[str, str, Session]]:
        if not config or "thread_id" not in config["configurable"]:
            yield from self._threads.every()
            return
        thread, namespace = str(config["configurable"]["thread_id"]), config["configurable"].get("checkpoint_ns")
        for name, session in self._threads.of(thread):
            if namespace is None or name == namespace:
                yield thread, name, session

    def _newest(self, thread: str, namespace: str, session: Session, config: Any, before: Any) -> Iterator[Any]:
        if config and (id := get_checkpoint_id(config)):
            for document in session.documents(names=[CHECKPOINT + id]):
                yield document, thread, namespace, session
            return
        end = get_checkpoint_id(before) if before else None
        bound = CHECKPOINT + end if end else None
        while page := session.documents(CHECKPOINT, before=bound, limit=PAGE, descending=True):
            for document in page:
                yield document, thread, namespace, session
            bound = page[-1].name

    def _tuple(self, thread: str, namespace: str, session: Session, document: Any) -> CheckpointTuple:
        id, kept = document.name.removeprefix(CHECKPOINT), document.value
        checkpoint = self.serde.loads_typed(values.read(session, [kept["checkpoint"]])(kept["checkpoint"]))
        checkpoint["channel_values"] = self._values(session, kept["values"])
        own, parent = (
            id and {"configurable": {"thread_id": thread, "checkpoint_ns": namespace, "checkpoint_id": id}}
            for id in (id, kept["parent"])
        )
        return CheckpointTuple(own, checkpoint, kept["metadata"], parent or None, self._writes(session, id))

    def _adopted(self, thread: str, session: Session, document: Any, head: str | None) -> CheckpointTuple:
        """The newest checkpoint with the dialog as it is: another program has led it, forked it or moved it since."""
        messages = self._dialogs.messages(head) if head else []
        if document is None:
            return adoption.first(thread, head, messages)
        values = {name: one for name, one in json_of(document)["values"].items() if name != "messages"}
        kept = Document(document.name, {**json_of(document), "values": values}, 0, 0)
        return adoption.continued(self._tuple(thread, "", session, kept), messages)

    def _values(self, session: Session, references: Mapping[str, Json]) -> dict[str, Any]:
        value = values.read(session, [one for one in references.values() if one[0] != "path"])
        return {
            channel: self._dialogs.messages(reference[1])
            if reference[0] == "path"
            else self.serde.loads_typed(value(reference))
            for channel, reference in references.items()
        }

    def _writes(self, session: Session, id: str, channels: set[str] | None = None) -> Sequence[Any]:
        rows = []
        for document in session.documents(f"{WRITES}{id}/"):
            task = document.name.rpartition("/")[2]
            for index, (channel, reference) in json_of(document)["writes"].items():
                if channels is None or channel in channels:
                    rows.append(
                        (writes_sort_key(json_of(document)["path"], task, int(index)), task, channel, reference)
                    )
        rows.sort(key=lambda row: row[0])
        value = values.read(session, [reference for *_, reference in rows])
        return [(task, channel, self.serde.loads_typed(value(reference))) for _, task, channel, reference in rows]


def place_of(config: Any) -> tuple[str, str, Any]:
    """Thread, namespace and checkpoint of a configuration."""
    at = config["configurable"]
    return str(at["thread_id"]), at.get("checkpoint_ns") or "", get_checkpoint_id(config)


def matches(metadata: Mapping[str, Any], filter: Mapping[str, Any] | None) -> bool:
    return all(name in metadata and metadata[name] == wanted for name, wanted in (filter or {}).items())
