"""`/trash`: what was deleted, and can be restored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bough.exporters.html.blocks import text
from bough.model import Json
from bough.model.times import iso
from bough.server.page.html import button, moment, notice, plural
from bough.server.page.screen import ScreenRequest, Section, State

if TYPE_CHECKING:
    from bough.store import Store


class TrashScreen:
    """The entries of the trash, and what can be undone."""

    title = "Trash"
    section: Section = "trash"

    def __init__(self, store: Store, asked: ScreenRequest) -> None:
        self.can_write = asked.can_write
        self.entries = store.trash()
        self.undoable = store.undoable(10)
        self.state: State = "ready" if self.entries else "empty"

    def main(self) -> str:
        head = ('<header class="title"><h1>Trash</h1><p class="facts"><span>What is restored has its ids and links again'
                "</span></p></header>")  # fmt: skip
        if not self.entries:
            return head + notice("empty", "The trash is empty") + self._undoable()
        rows = "".join(
            f'<li class="row"><span><strong>{text(entry.reason)}</strong><span class="last">'
            f"{text(', '.join(entry.sessions[:3]))}</span></span>"
            f'<p class="facts"><span>{plural(entry.messages, "message")}</span>'
            f'<span class="when">{moment(entry.deleted_at)}</span></p>'
            f"{button('restore', 'Restore', id=entry.id) if self.can_write else ''}</li>"
            for entry in self.entries
        )
        return f'{head}<ul class="rows with-buttons">{rows}</ul>{self._undoable()}'

    def _undoable(self) -> str:
        if not self.undoable or not self.can_write:
            return ""
        rows = "".join(
            f'<li class="row"><span>{text(one.text)}</span><p class="facts"><span class="when">{moment(one.at)}</span></p>'
            f"{button('undo', 'Undo', cursor=str(one.cursor))}</li>"
            for one in self.undoable
        )
        return f'<h2 class="day">Can be undone</h2><ul class="rows with-buttons">{rows}</ul>'

    def aside(self) -> str:
        return ""

    def data(self) -> Json:
        return {
            "entries": [
                {
                    "id": entry.id,
                    "deleted": iso(entry.deleted_at),
                    "reason": entry.reason,
                    "messages": entry.messages,
                    "sessions": list(entry.sessions),
                }
                for entry in self.entries
            ]
        }

    def markdown(self) -> str:
        lines = [f"- `{entry.id}` {entry.reason}: {entry.messages} messages" for entry in self.entries]
        return "\n".join(["# Trash", "", *lines, ""])
