"""What the browser asks or shows over its panes: a line of text, a yes or no, and pages."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Key
from textual.screen import ModalScreen
from textual.widgets import Input, Label

from bough.cli.browser.lines import LinesView


class AskLine(ModalScreen[str | None]):
    """Asks for a line; None if it is left with Escape."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", show=False)]

    def __init__(self, question: str, text: str = "", suggestions: list[str] | None = None) -> None:
        super().__init__()
        self._question, self._text, self._suggestions = question, text, suggestions

    def compose(self) -> ComposeResult:
        """The question and the line."""
        from textual.suggester import SuggestFromList

        suggester = SuggestFromList(self._suggestions, case_sensitive=False) if self._suggestions else None
        with Vertical(classes="prompt"):
            yield Label(Text(self._question))
            yield Input(self._text, suggester=suggester, select_on_focus=False)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter answers."""
        self.dismiss(event.value)


class Confirm(ModalScreen[bool]):
    """Asks a question that y answers; every other key means no."""

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        """The question."""
        with Vertical(classes="prompt"):
            yield Label(Text(f"{self._question}  y / n"))

    def on_key(self, event: Key) -> None:
        """Answer."""
        event.stop()
        self.dismiss(event.key in ("y", "Y"))


class TextPage(LinesView):
    """Lines to read."""

    has_cursor = False

    def __init__(self, lines: list[Text]) -> None:
        super().__init__("page")
        self._page = lines

    def count(self) -> int:
        """The number of lines."""
        return len(self._page)

    def row(self, place: int, width: int) -> list[Text]:  # noqa: ARG002
        """One line."""
        return [self._page[place]]

    def action_move(self, by: int) -> None:
        """Scroll."""
        self.scroll_relative(y=by, animate=False, force=True)

    def action_page(self, pages: float) -> None:
        """Scroll by screens."""
        self.action_move(int(pages * max(self.size.height - 1, 1)))

    def action_move_to(self, place: int) -> None:
        """Scroll to the beginning or to the end."""
        self.action_move(self.count() * (1 if place < 0 else -1))


class PageScreen(ModalScreen[None]):
    """A page over the panes; q or Escape closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,question_mark", "dismiss(None)", show=False)]

    def __init__(self, title: str, lines: list[Text]) -> None:
        super().__init__()
        self._title, self._shown = title, lines

    def compose(self) -> ComposeResult:
        """The title and the lines."""
        with Vertical(classes="page"):
            yield Label(Text(self._title, "bold"))
            yield TextPage(self._shown)
