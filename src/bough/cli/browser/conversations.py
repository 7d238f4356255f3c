"""The left pane: conversations, in windows, or what a search found in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rich.text import Text

from bough.cli.browser.lines import LinesView
from bough.cli.output.text import one_line, pluralize, truncate
from bough.cli.output.times import ago
from bough.cli.output.titles import listed_title
from bough.model.search_query import parse_query
from bough.model.values import replace, value

if TYPE_CHECKING:
    from bough.model import SessionInfo
    from bough.model.previews import SessionPreview
    from bough.store import Store

PAGE = 100
"""Conversations that are read at a time."""
FOUND = 200
"""Messages that a search lists."""
TITLES = 5_000
"""Conversations whose titles are searched, the most recently used ones."""


@value
class Scope:
    """Which conversations are listed."""

    name: str
    directory: str | None = None
    channel: str | None = None
    pinned: bool = False


@value
class ConversationRow:
    """A conversation, or a message that a search found in one."""

    info: SessionInfo | None
    at: str | None
    """The head, or the message that was found."""
    found: str | None = None
    """The words around what was found."""


def scopes(store: Store, directory: str) -> list[Scope]:
    """This directory, all, pinned, and a scope for each program or channel that conversations come from."""
    from bough.importers import names

    found = [Scope("here", directory=directory), Scope("all"), Scope("pinned", pinned=True)]
    for channel in ("cli", "telegram", "discord", "api", "mcp", *names()):
        if store.sessions(channel=channel, delegates=False, limit=1):
            found.append(Scope(channel, channel=channel))
    return found


def page_of(store: Store, scope: Scope, before: int | None, limit: int = PAGE) -> list[SessionInfo]:
    """The next conversations of a scope, the most recently used first."""
    return store.sessions(
        channel=scope.channel, directory=scope.directory, pinned=scope.pinned, delegates=False, limit=limit,
        before=before,
    )  # fmt: skip


def search_rows(
    store: Store, scope: Scope, typed: str, is_cancelled: Callable[[], bool] = lambda: False
) -> list[ConversationRow]:
    """The conversations whose title has all the words, then those with a message that a search finds, once each."""
    words, rows = typed.lower().split(), dict[str, ConversationRow]()
    before: int | None = None
    for _ in range(TITLES // 1000):
        page = page_of(store, scope, before, 1000)
        for info in page:
            if all(word in f"{info.title or ''} {info.key}".lower() for word in words):
                rows[info.key] = ConversationRow(info, info.head_id)
        if is_cancelled():
            return []
        if len(page) < 1000:
            break
        before = page[-1].cursor
    query = replace(parse_query(typed), directory=scope.directory, channel=scope.channel)
    for hit in store.search(query, limit=FOUND):
        key = hit.session or hit.node.id
        if key not in rows:
            rows[key] = ConversationRow(store.find_session(key) if hit.session else None, hit.node.id, hit.snippet)
    return list(rows.values())


class ConversationPane(LinesView):
    """Conversations, two lines each: title or question; last use, place, size, or the words that were found."""

    row_height = 2

    def __init__(self, store: Store, here: str | None) -> None:
        super().__init__("conversations")
        self._store = store
        self.here = here
        """The key of the conversation that this directory continues."""
        self.scope = Scope("all")
        self.words: list[str] = []
        """The words of a search, which are highlighted."""
        self.rows: list[ConversationRow] = []
        self._previews: dict[str, SessionPreview] = {}
        self._more = False

    @property
    def chosen(self) -> ConversationRow | None:
        """The row of the cursor."""
        return self.rows[self.place] if self.place < len(self.rows) else None

    def list_scope(self, scope: Scope, place: int | None = 0) -> None:
        """List the conversations of a scope from the first page on, or as many as were listed if `place` is None."""
        size = PAGE if place is not None else max(len(self.rows), PAGE)
        infos = page_of(self._store, scope, None, size)
        self.scope, self.words, self._more = scope, [], len(infos) == size
        self.rows = [ConversationRow(info, info.head_id) for info in infos]
        self._previews.clear()
        self.rows_changed(place)

    def show_found(self, rows: list[ConversationRow], typed: str) -> None:
        """List what a search found."""
        self.rows, self._more = rows, False
        self.words = parse_query(typed).wanted.split()
        self._previews.clear()
        self.rows_changed(0)

    def near_end(self) -> None:
        """Read the next page."""
        last = self.rows[-1].info if self.rows else None
        if not self._more or last is None:
            return
        infos = page_of(self._store, self.scope, last.cursor)
        self._more = len(infos) == PAGE
        self.rows += [ConversationRow(info, info.head_id) for info in infos]
        self.rows_changed(self.place)

    def count(self) -> int:
        """The number of rows that have been read."""
        return len(self.rows)

    def row(self, place: int, width: int) -> list[Text]:
        """Title and details."""
        shown = self.rows[place]
        preview = self._preview(place)
        title = listed_title(preview) if preview else ""
        is_here = shown.info is not None and shown.info.key == self.here
        head = Text.assemble(("● " if is_here else "  ", "green"), (truncate(title or "(empty)", width - 2), "bold"))
        if shown.found is not None:
            details = Text("  " + truncate(one_line(shown.found), width - 2))
            for word in self.words:
                details.highlight_words([word.strip("\"'.,;:!?()*")], "bold yellow", case_sensitive=False)
            return [head, details]
        return [head, Text("  " + truncate(details_of(shown, preview), width - 2), "dim")]

    def _preview(self, place: int) -> SessionPreview | None:
        """The preview of a row, read together with those of the rows beside it."""
        info = self.rows[place].info
        if info is None:
            return None
        if info.key not in self._previews:
            window = max(self.size.height // 2, 10)
            near = [row.info for row in self.rows[place : place + window] if row.info]
            wanted = [one for one in near if one.key not in self._previews]
            self._previews |= {one.info.key: one for one in self._store.previews(wanted)}
        return self._previews.get(info.key)


def details_of(row: ConversationRow, preview: SessionPreview | None) -> str:
    """Last use, place, size and state of a conversation."""
    if row.info is None or preview is None:
        return ""
    parts = [ago(row.info.updated_at), one_line(row.info.key)]
    parts.append(pluralize(preview.messages, "message"))
    if preview.branches > 1:
        parts.append(pluralize(preview.branches, "branch", "branches"))
    if preview.status in ("interrupted", "failed", "running"):
        parts.append(preview.status)
    if row.info.pinned_at:
        parts.append("pinned")
    return " · ".join(parts)
