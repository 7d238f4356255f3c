"""Entries of a transcript of Claude Code ⇄ nodes: an entry with a message is a node after that of its parent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bough import formats
from bough.adapters.common import priced
from bough.errors import FormatError
from bough.model import Json, Message, Usage
from bough.model.values import replace
from bough.session import Session

KEPT = "claude-agent-sdk"


def entry_of(message: Message) -> Json:
    """The entry that a node was made of."""
    return (message.envelope or {})[KEPT]


def messages_of(entry: Any) -> list[Message]:
    """The messages of an entry, the first with all of it; none for an entry that is no message."""
    wire = entry.get("message")
    if entry.get("type") not in ("user", "assistant") or not isinstance(wire, dict):
        return []
    try:
        found = list(
            formats.get("anthropic").decode([{"role": wire.get("role"), "content": wire.get("content")}]).messages
        )
    except FormatError:
        return []
    if found:
        found[0] = replace(found[0], envelope={**(found[0].envelope or {}), KEPT: entry})
    return found


class Transcript:
    """Adds entries to a session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._kind = f"{KEPT}:{session.key}"

    def unknown(self, entries: Sequence[Any]) -> list[Any]:
        """The entries whose `uuid` is not in the transcript, and those without one."""
        return [entry for entry in entries if not isinstance(entry.get("uuid"), str) or not self._known(entry["uuid"])]

    def _known(self, uuid: str) -> bool:
        return self._session.store.find_external(self._kind, uuid) is not None

    def add(
        self, entries: Sequence[Any], order: list[Json], documents: dict[str, Json], revisions: dict[str, int]
    ) -> None:
        """Adds entries in the order given, which is noted in `order`, one of the documents."""
        runs = runs_of(entries)
        placed: dict[str, str] = {}
        for number, run in enumerate(runs):
            messages = [message for _, found in run for message in found]
            names = [name for entry, found in run for name in self._names(entry, found)]
            at = {} if not messages else self._place(run, placed)

            def written(ids: list[str], run: Any = run, last: bool = number + 1 == len(runs)) -> Mapping[str, Json]:
                added = iter(ids)
                for entry, found in run:
                    own = [next(added) for _ in found]
                    order.append({"node": own[0]} if own else {"entry": entry})
                    if own and isinstance(entry.get("uuid"), str):
                        placed[entry["uuid"]] = own[-1]
                return documents if last else {}

            if messages:
                guard = revisions if number + 1 == len(runs) else {}
                self._session.append(
                    messages, documents=written, revisions=guard, external=names, **at, **provenance(run)
                )
            else:
                self._session.put_documents(written([]), revisions=revisions)

    def _names(self, entry: Any, found: Sequence[Message]) -> list[tuple[str, str] | None]:
        uuid = entry.get("uuid")
        first = (self._kind, uuid) if isinstance(uuid, str) else None
        return [first, *[None for _ in found[1:]]] if found else []

    def _place(self, run: Any, placed: Mapping[str, str]) -> dict[str, Any]:
        """Where the first message of a run goes: after its parent, if that is a node, else at the end."""
        parent = next(entry for entry, found in run if found).get("parentUuid")
        if not isinstance(parent, str):
            return {}
        node = placed.get(parent) or self._session.store.find_external(self._kind, parent)
        return {} if node is None else {"at": self._last_of(node)}

    def _last_of(self, node: str) -> str:
        """The last node of the entry that begins at one: an entry with a result and words is two."""
        store = self._session.store
        while below := [child for child in store.children(node) if not has_entry(child.message)]:
            node = below[0].id
        return node


def has_entry(message: Message) -> bool:
    return isinstance(message.envelope, dict) and KEPT in message.envelope


def runs_of(entries: Sequence[Any]) -> list[list[tuple[Any, list[Message]]]]:
    """The entries in runs that are chains: a message whose parent is not the message before it begins another."""
    runs: list[list[tuple[Any, list[Message]]]] = [[]]
    above: set[str] = set()
    """The message before, and what is no message since."""
    for entry in entries:
        found = messages_of(entry)
        uuid, parent = entry.get("uuid"), entry.get("parentUuid")
        if found and above and isinstance(parent, str) and parent not in above:
            runs.append([])
        if found:
            above = set()
        if isinstance(uuid, str):
            above.add(uuid)
        runs[-1].append((entry, found))
    return runs


def provenance(run: Sequence[tuple[Any, list[Message]]]) -> dict[str, Any]:
    """Arguments of `Session.append` about the replies of a run.

    Claude Code writes an entry for each block of a reply, all with the usage of the whole: it counts at the last one.
    """
    usages: list[Usage | None] = []
    last: dict[str, int] = {}
    model = request = None
    for entry, found in run:
        wire = entry.get("message") or {}
        for message in found:
            if message.role == "assistant":
                if (reply := wire.get("id")) in last:
                    usages[last[reply]] = None
                if reply is not None:
                    last[reply] = len(usages)
                model, request = wire.get("model") or model, entry.get("requestId") or wire.get("id") or request
                usages.append(usage_of(wire))
    if not any(usages) and model is None:
        return {}
    return {"usage": usages, "model": model, "provider": "anthropic", "request_id": request}


def usage_of(wire: Any) -> Usage | None:
    counts = wire.get("usage")
    if not isinstance(counts, dict):
        return None
    read, made = counts.get("cache_read_input_tokens") or 0, counts.get("cache_creation_input_tokens") or 0
    sent = (counts.get("input_tokens") or 0) + read + made
    return priced(Usage(sent, counts.get("output_tokens"), read), wire.get("model"), "anthropic")
