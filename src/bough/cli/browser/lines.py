"""A list of lines that are made when they are drawn, with a cursor: what every pane of the browser is."""

from __future__ import annotations

from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.events import Click, Resize
from textual.geometry import Size as Extent2D
from textual.message import Message as Posted
from textual.scroll_view import ScrollView
from textual.strip import Strip

CURSOR, QUIET_CURSOR = Style(bgcolor="#3a3a5c"), Style(bgcolor="#2a2a38")
"""The row of the cursor, in the pane that has the focus and in the others."""


class LinesView(ScrollView, can_focus=True):
    """Draws only the rows that are on the screen, so that it does not matter how many there are."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", "next", show=False),
        Binding("up,k", "move(-1)", "previous", show=False),
        Binding("pagedown,ctrl+f", "page(1)", show=False),
        Binding("pageup,ctrl+b", "page(-1)", show=False),
        Binding("ctrl+d", "page(0.5)", show=False),
        Binding("ctrl+u", "page(-0.5)", show=False),
        Binding("home,g", "move_to(0)", show=False),
        Binding("end,G,shift+g", "move_to(-1)", show=False),
    ]
    row_height = 1

    class Moved(Posted):
        """The cursor has moved, by a key or because the rows are others."""

        def __init__(self, view: LinesView) -> None:
            super().__init__()
            self.view = view

        @property
        def control(self) -> LinesView:
            """The pane."""
            return self.view

    def __init__(self, id: str) -> None:
        super().__init__(id=id)
        self.place = 0
        """The row of the cursor."""
        self._strips: dict[int, list[Text]] = {}

    # What a pane says ---------------------------------------------------------------------------------------------

    def count(self) -> int:
        """The number of rows."""
        return 0

    def row(self, place: int, width: int) -> list[Text]:  # noqa: ARG002
        """The lines of a row, `row_height` of them."""
        return []

    def near_end(self) -> None:
        """Called when the cursor comes near the last row: a list that is longer than its rows loads more."""

    # Drawing ------------------------------------------------------------------------------------------------------

    def rows_changed(self, place: int | None = None) -> None:
        """Draw again after the rows have changed, with the cursor at `place`."""
        self._strips.clear()
        last = max(self.count() - 1, 0)
        self.place = min(self.place if place is None else place, last)
        self.virtual_size = Extent2D(max(self.size.width, 1), self.count() * self.row_height)
        self._show_cursor()
        self.refresh()
        self.post_message(self.Moved(self))

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        width = self.size.width
        place, line = divmod(y + round(self.scroll_offset.y), self.row_height)
        if place >= self.count():
            return Strip.blank(width, self.rich_style)
        if place not in self._strips:
            if len(self._strips) > 2000:
                self._strips.clear()
            self._strips[place] = self.row(place, width)
        lines = self._strips[place]
        text = lines[line] if line < len(lines) else Text("")
        strip = Strip(list(text.render(self.app.console))).crop(0, width).extend_cell_length(width)
        if place == self.place and self.has_cursor:  # first, because the first background that is applied stays
            strip = strip.apply_style(CURSOR if self.has_focus else QUIET_CURSOR)
        return strip.apply_style(self.rich_style)

    has_cursor = True

    def on_resize(self, _: Resize) -> None:
        """Make the lines again, for the new width."""
        self.rows_changed()

    # Moving -------------------------------------------------------------------------------------------------------

    def action_move(self, by: int) -> None:
        """Move the cursor."""
        self.go(self.place + by)

    def action_page(self, pages: float) -> None:
        """Move by screens."""
        self.go(self.place + int(pages * max(self.size.height // self.row_height - 1, 1)))

    def action_move_to(self, place: int) -> None:
        """Move to a row; -1 is the last one."""
        self.go(self.count() - 1 if place < 0 else place)

    def go(self, place: int) -> None:
        """Move the cursor to a row, and show it."""
        last = self.count() - 1
        place = max(0, min(place, last))
        if place != self.place:
            before, self.place = self.place, place
            self._show_cursor()
            for row in (before, place):  # only these two: a scroll draws the others
                self.refresh_lines(row * self.row_height, self.row_height)
            self.post_message(self.Moved(self))
        if place >= last - max(self.size.height, 1):
            self.near_end()

    def on_click(self, event: Click) -> None:
        """Move the cursor to the row that was clicked."""
        self.focus()
        self.go((event.y + round(self.scroll_offset.y)) // self.row_height)

    def _show_cursor(self) -> None:
        top, height = self.place * self.row_height, max(self.size.height, 1)
        offset = round(self.scroll_offset.y)
        if top < offset:
            self.scroll_to(y=top, animate=False, force=True)
        elif top + self.row_height > offset + height:
            self.scroll_to(y=top + self.row_height - height, animate=False, force=True)
