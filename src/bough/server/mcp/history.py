"""What the tools answer, from a store."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from bough.errors import BoughError, Invalid, NotFound
from bough.model import Hit
from bough.model.search_query import parse_query
from bough.model.values import value
from bough.server.mcp.quoting import around, day, excerpt, line, quoted

if TYPE_CHECKING:
    from bough.model import Node
    from bough.model.previews import SessionPreview
    from bough.server.mcp.quoting import Parts
    from bough.store import Store

IN_USE = 600 * 1_000_000
"""Microseconds since the last use, in which a conversation of the client's directory counts as the asking one."""
SNIPPET = 160
MOST_LINES = 200
Ask: TypeAlias = "Callable[[Store, str, str, str | None], str]"
"""Asks a model at a message: the answer."""


@value
class History:
    """The history of one store, for one client."""

    store: Store
    directory: str | None = None
    """The client's directory: what is in use there now is the conversation that asks, and is left out of searches."""
    ask_model: Ask | None = None

    def call(self, name: str, given: Mapping[str, Any]) -> str:
        """The answer of a tool. Raises `BoughError`."""
        return str(getattr(self, name)(**{("from_" if key == "from" else key): item for key, item in given.items()}))

    def search(self, q: str, limit: int = 8, best: bool = False, all: bool = False, cursor: str | None = None) -> str:
        """One line for each hit."""
        if not q.strip():
            raise Invalid("q is empty; `sessions` lists conversations.")
        order: Any = "best" if best else "newest"
        found = self.store.search(parse_query(q), limit=limit, order=order, cursor=cursor)
        hits, left_out = self._without_asking(found, all)
        previews = self._previews([hit.session for hit in hits if hit.session])
        lines = [self._hit(hit, previews.get(hit.session or "")) for hit in hits]
        notes = list(found.notes)
        if found.by_beginning:
            notes.append("No message has all words; these have words that begin with them.")
        if left_out:
            notes.append(f"{left_out} in conversations in use here left out; all=true shows them.")
        if found.waiting:
            notes.append(f"{found.waiting} messages are not indexed yet.")
        notes.append(f"more: cursor={found.next}" if found.next else "no more")
        return quoted("\n".join(lines)) + "\n" + " ".join(notes) if lines else "Nothing was found. " + " ".join(notes)

    def _without_asking(self, hits: list[Hit], everything: bool) -> tuple[list[Hit], int]:
        if everything or self.directory is None:
            return list(hits), 0
        used: dict[str | None, bool] = {None: False}
        for key in {hit.session for hit in hits} - {None}:
            info = self.store.find_session(key or "")
            recent = info is not None and info.updated_at > self.store.clock() - IN_USE
            used[key] = recent and info is not None and info.directory == self.directory
        kept = [hit for hit in hits if not used[hit.session]]
        return kept, len(hits) - len(kept)

    def _previews(self, keys: list[str]) -> dict[str, SessionPreview]:
        infos = [info for key in dict.fromkeys(keys) if (info := self.store.find_session(key)) is not None]
        return {preview.info.key: preview for preview in self.store.previews(infos)}

    def _hit(self, hit: Hit, preview: SessionPreview | None) -> str:
        words = line(hit.snippet, SNIPPET)
        return f"{hit.node.id} {day(hit.node.created_at)} {origin(preview)} [{hit.node.role}] {words}{size(preview)}"

    def read(self, id: str, from_: int | None = None, budget: int = 1500, parts: Parts = "text") -> str:
        """A part of a dialog."""
        path, number = self._path(id)
        if not path:
            return f"Session {id} is empty."
        start = from_ or around(path, number, budget, parts)
        if start > len(path):
            raise Invalid(f"There are {len(path)} messages; from={start} is beyond them.")
        shown = excerpt(path, start, budget, parts, 0 if from_ else number)
        about = f"{len(path)} messages; #{shown.first}–#{shown.last} shown."
        if shown.first > 1:
            about += f" +{shown.tokens_before} tokens before: read({id}, from=1)."
        if shown.last < len(path):
            about += f" +{shown.tokens_after} tokens after: read({id}, from={shown.last + 1})."
        return f"{quoted(shown.text)}\n{about}"

    def tree(self, id: str, depth: int = 6) -> str:
        """The outline of a tree."""
        path, number = self._path(id)
        if not path:
            return f"Session {id} is empty."
        lines: list[str] = []
        hidden = 0
        for trees in self.store.segments(path[number - 1].id, whole=True):
            for deep, tree in trees.branches():
                if deep > depth or len(lines) >= MOST_LINES:
                    hidden += 1
                    continue
                one = tree.node
                ends = f" … {line(one.last.words, 60)}" if one.messages > 1 else ""
                at = f" ← {', '.join(one.last.sessions)}" if one.last.sessions else ""
                mark = f" [{one.last.status}]" if one.last.status not in (None, "complete") else ""
                label = f" ({one.last.label})" if one.last.label else ""
                counted = f"{one.messages} messages: " if one.messages > 1 else ""
                words = f"{counted}[{one.first.role}] {line(one.first.words, 60)}{ends}"
                lines.append(f"{'  ' * deep}{one.last.id} {words}{label}{mark}{at}")
        rest = f"\n{hidden} more branches; depth={depth + 4} shows more." if hidden else ""
        return quoted("\n".join(lines)) + rest

    def sessions(
        self, source: str | None = None, directory: str | None = None, label: str | None = None, limit: int = 8,
        cursor: str | None = None,
    ) -> str:  # fmt: skip
        """One line for each session."""
        before = None if cursor is None else number_of(cursor, "cursor")
        found = self.store.sessions(
            channel=source, directory=directory, label=label, delegates=False, limit=limit + 1, before=before
        )
        lines = [
            f"{one.info.key} {day(one.info.updated_at)} {origin(one)} {line(one.title, 80)!r}{size(one)}"
            + (f" head {one.info.head_id}" if one.info.head_id else "")
            for one in self.store.previews(found[:limit])
        ]
        more = f"more: cursor={found[limit - 1].cursor}" if len(found) > limit else "no more"
        return f"{quoted(chr(10).join(lines))}\n{more}" if lines else "No sessions were found."

    def usage(self, by: Any = None, session: str | None = None, since: str | None = None) -> str:
        """A table of tokens and cost."""
        found = self.store.usage(session, by=by, since=None if since is None else moment_of(since))
        lines = ["name | turns | input | output | cost in dollars (? is unknown)"]
        for total in found[:MOST_LINES]:
            used = total.usage
            unpriced = f" (+{total.unpriced} turns unpriced)" if total.unpriced and used.cost is not None else ""
            cost = "?" if used.cost is None else f"{used.cost:.4f}{unpriced}"
            name = line(total.name or ("all" if by is None else "?"), 80)
            lines.append(f"{name} | {total.turns} | {shown(used.input_tokens)} | {shown(used.output_tokens)} | {cost}")
        return "\n".join(lines)

    def compare(self, a: str, b: str, budget: int = 1500) -> str:
        """What two dialogs share, and what each has after it."""
        (one, first), (other, second) = self._path(a), self._path(b)
        if not one or not other:
            raise Invalid("An empty session has nothing to compare.")
        found = self.store.compare(one[first - 1].id, other[second - 1].id)
        common = len(found.common)
        texts = [f"{common} messages in common" + (f", up to {found.fork_id}." if found.fork_id else ".")]
        for name, nodes in ((a, found.a), (b, found.b)):
            if not nodes:
                texts.append(f"{name}: nothing more.")
                continue
            part = excerpt([*found.common, *nodes], common + 1, budget // 2, "text")
            left = f" +{part.tokens_after} tokens: read({nodes[-1].id}, from={part.last + 1})." if (
                part.last < common + len(nodes)) else ""  # fmt: skip
            texts.append(f"{name}: {len(nodes)} messages.{left}\n{quoted(part.text)}")
        return "\n".join(texts)

    def fork(self, id: str, title: str | None = None) -> str:
        """A new session at a message."""
        made = self.store.fork(self._message(id), title=title)
        return f"{made.key} continues at {made.head}."

    def label(self, id: str, text: str | None = None) -> str:
        """A label on a message."""
        message = self._message(id)
        self.store.label(message, text or None)
        return f"{message} has the label {text!r}." if text else f"{message} has no label."

    def ask(self, id: str, text: str, model: str | None = None) -> str:
        """The answer of a model in a branch."""
        if self.ask_model is None:
            raise Invalid("This server cannot ask models.")
        return self.ask_model(self.store, self._message(id), text, model)

    def _message(self, id: str) -> str:
        path, number = self._path(id)
        if not path:
            raise Invalid(f"Session {id!r:.80} is empty.")
        return path[number - 1].id

    def _path(self, id: str) -> tuple[list[Node], int]:
        """The dialog of a session or through a message, to the head of a session if it goes on there; the number of
        the message in it. Raises `NotFound`, with what to do."""
        if self.store.find_session(id) is not None:
            path = self.store.session(id).path()
            return path, len(path)
        try:
            (node,) = self.store.get_messages([id])
        except NotFound as error:
            raise NotFound(f"{error} Ids come from search, sessions and tree.") from None
        through = self.store.sessions_through(node.id)
        path = self.store.session(through[0].key).path() if through else self.store.path(node.id)
        return path, next(number for number, one in enumerate(path, 1) if one.id == node.id)


def origin(preview: SessionPreview | None) -> str:
    """Where a conversation is from: the program and the name of the directory."""
    if preview is None:
        return "–"
    directory = os.path.basename(preview.info.directory or "")
    return line(f"{preview.info.channel or '–'}{'·' + directory if directory else ''}", 40)


def size(preview: SessionPreview | None) -> str:
    if preview is None:
        return ""
    branches = f"{preview.branches} branches, " if preview.branches > 1 else ""
    return f" ({branches}{preview.messages} msgs)"


def shown(count: int | None) -> str:
    return "?" if count is None else str(count)


def number_of(text: str, name: str) -> int:
    if not text.isdecimal() or len(text) > 18:
        raise Invalid(f"{name} is a number from the page before, not {text!r:.40}.")
    return int(text)


def moment_of(text: str) -> int:
    """The time of a date, or of an age such as 7d."""
    found = parse_query(f"after:{text}").since if re.fullmatch(r"[\w:.+-]+", text) else None
    if found is None:
        raise Invalid(f"since is a date (2026-08-20) or an age (7d), not {text!r:.40}.")
    return found


def describe(error: BoughError) -> str:
    """An error for a model: a code, whether to try again, and what to do."""
    return f"error {error.code.replace('_', '-')} (retryable: {'yes' if error.code == 'busy' else 'no'}): {error}"
