"""The right pane: the dialog up to the chosen message, rendered, the last messages first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text
from textual.message import Message as Posted

from bough.cli.browser.lines import LinesView
from bough.cli.output.console import in_pane
from bough.model.values import value

if TYPE_CHECKING:
    from bough.model import Node, TurnInfo
    from bough.store import Store

LOADED = 30
"""Messages that are read at a time."""


@value
class LoadedDialog:
    """The end of a dialog."""

    nodes: tuple[Node, ...]
    turns: dict[str, TurnInfo]
    is_whole: bool
    """Whether it begins with the first message."""


def load_dialog(store: Store, id: str, last: int = LOADED) -> LoadedDialog:
    """The last messages up to `id`."""
    nodes = store.path(id, last)
    turns = {turn: store.turn_info(turn) for turn in {node.turn_id for node in nodes} if turn is not None}
    return LoadedDialog(tuple(nodes), turns, not nodes or nodes[0].parent_id is None)


class DialogPane(LinesView):
    """A rendered dialog. It has no cursor: moving scrolls."""

    has_cursor = False

    class ReachedTop(Posted):
        """The user has scrolled to the first line that is loaded, and further."""

    def __init__(self) -> None:
        super().__init__("dialog")
        self.dialog: LoadedDialog | None = None
        self.unfolds = False
        """Whether thinking and tool output are shown in full."""
        self._lines: list[Text] = []
        self._made_for = 0

    def show(self, dialog: LoadedDialog | None, *, from_end: bool = True) -> None:
        """Show the end of a dialog."""
        self.dialog, self._made_for = dialog, 0
        self._make()
        self.rows_changed(len(self._lines) - 1 if from_end else 0)
        if from_end:
            self.scroll_end(animate=False, force=True)

    def _make(self) -> None:
        from bough.cli.output.transcript import Folding, transcript

        width = max(self.size.width, 20)
        if self._made_for == width:
            return
        self._made_for = width
        if self.dialog is None:
            self._lines = []
            return
        with in_pane(width - 1):
            made = list(transcript(self.dialog.nodes, self.dialog.turns, Folding(self.unfolds, self.unfolds)))
        earlier = [] if self.dialog.is_whole else [Text("↑ earlier messages: PageUp, k", "dim")]
        self._lines = earlier + [Text.from_ansi(line) for line in made]

    def rows_changed(self, place: int | None = None) -> None:
        """Render again if the width is another one."""
        self._make()
        super().rows_changed(place)

    def toggle(self) -> None:
        """Show thinking and tool output in full, or not."""
        self.unfolds = not self.unfolds
        self.show(self.dialog)

    def count(self) -> int:
        """The number of lines."""
        return len(self._lines)

    def row(self, place: int, width: int) -> list[Text]:  # noqa: ARG002
        """One line."""
        return [self._lines[place]]

    def action_move(self, by: int) -> None:
        """Scroll; beyond the first line, ask for earlier messages."""
        if by < 0 and round(self.scroll_offset.y) == 0:
            self.post_message(self.ReachedTop())
        self.scroll_relative(y=by, animate=False, force=True)

    def action_page(self, pages: float) -> None:
        """Scroll by screens."""
        self.action_move(int(pages * max(self.size.height - 1, 1)))

    def action_move_to(self, place: int) -> None:
        """Scroll to the beginning of what is loaded, or to the end."""
        if place < 0:
            self.scroll_end(animate=False, force=True)
        else:
            self.scroll_home(animate=False, force=True)
