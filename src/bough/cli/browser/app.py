"""The browser: three panes, and the keys that move between them and act on what is chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual import work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal
from textual.timer import Timer
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from bough.cli.browser import changes
from bough.cli.browser.conversations import ConversationPane, Scope, scopes, search_rows
from bough.cli.browser.dialog import LOADED, DialogPane, LoadedDialog, load_dialog
from bough.cli.browser.help import HINTS, STYLE, help_lines
from bough.cli.browser.lines import LinesView
from bough.cli.browser.picked import Picked, PickedVerb
from bough.cli.browser.prompts import AskLine, Confirm, PageScreen
from bough.cli.browser.tree import TreePane, runs_by_message
from bough.cli.output.text import one_line
from bough.errors import BoughError

if TYPE_CHECKING:
    from bough.model import Headline
    from bough.model.tree import Tree
    from bough.store import Store

PAUSE = 0.05
"""Seconds without a key after which the other panes follow, and a search begins."""
PANES = ("conversations", "tree", "dialog")


class Browser(App[Picked]):
    """Conversations, the tree of the chosen one, and the dialog up to the chosen message."""

    CSS = STYLE
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (72, "-medium"), (110, "-wide")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(keys, action, show=False)
        for keys, action in (
            ("q,ctrl+q", "quit"), ("escape", "leave"), ("tab,l,right", "forward"), ("shift+tab,h,left", "backward"),
            ("enter", "open"), ("space", "unfold"), ("slash", "search"), ("s", "scope"), ("m", "filter"),
            ("c", "pick('continue')"), ("f", "pick('fork')"), ("e", "pick('edit')"), ("a", "pick('regenerate')"),
            ("A,shift+a", "answer_with"), ("n", "pick('new')"), ("o", "pick('page')"), ("equals_sign", "compare"),
            ("r", "rename"), ("number_sign", "label"), ("p", "pin"), ("d,delete", "delete"), ("u", "undo"),
            ("y", "copy"), ("Y,shift+y", "copy_code"), ("x", "export"), ("question_mark", "help"),
        )
    ]  # fmt: skip

    def __init__(self, store: Store, directory: str, *, title: str = "bough", at: str | None = None) -> None:
        super().__init__()
        self.store = store
        self._directory = directory
        self._heading = title
        self._at = at
        self._scopes: list[Scope] = [Scope("here", directory=directory), Scope("all")]
        self._pauses: dict[str, Timer] = {}
        """What waits until the keys pause: one timer for each pane that follows."""
        self.models: list[str] = []
        """Models that are suggested for another answer."""

    # Panes --------------------------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        """The search line, the panes, and a line about the keys."""
        last = self.store.last_session(self._directory)
        yield Input(placeholder='/ search: words, "a phrase", role:user, label:x, after:7d', id="search")
        with Horizontal(id="panes"):
            yield ConversationPane(self.store, last.key if last else None)
            with Container(id="right"):
                yield TreePane()
                yield DialogPane()
        yield Static(id="hints")

    @property
    def list_pane(self) -> ConversationPane:
        """The left pane."""
        return self.query_one(ConversationPane)

    @property
    def tree_pane(self) -> TreePane:
        """The middle pane."""
        return self.query_one(TreePane)

    @property
    def dialog_pane(self) -> DialogPane:
        """The right pane."""
        return self.query_one(DialogPane)

    def on_mount(self) -> None:
        """List what there is: this directory's conversations, if it has any."""
        last = self.store.last_session(self._directory)
        self.tree_pane.here = last.head_id if last else None
        is_here = bool(self.store.sessions(directory=self._directory, delegates=False, limit=1))
        self._enter("conversations")
        self._list(self._scopes[0 if is_here else 1])
        if not self.list_pane.rows:
            self.dialog_pane.border_title = "Nothing is stored yet. n asks the first question."
        self._find_scopes()

    @work(thread=True, exit_on_error=False)
    def _find_scopes(self) -> None:
        self._scopes = scopes(self.store, self._directory)

    def _list(self, scope: Scope) -> None:
        self.list_pane.list_scope(scope)
        self.list_pane.border_title = f"{self._heading} · {scope.name} (s)"

    def _enter(self, name: str) -> None:
        """Give a pane the focus; on a narrow terminal it is the only one."""
        for pane in PANES:
            self.query_one(f"#{pane}").set_class(pane == name, "active")
        self.query_one("#right").set_class(name != "conversations", "active")
        self.query_one(f"#{name}").focus()
        # Set_class takes effect with the next layout: a pane that was hidden gets the focus after it.
        self.call_after_refresh(self.query_one(f"#{name}").focus)
        self.hint(HINTS[name])

    def hint(self, text: str) -> None:
        """Show a line at the bottom."""
        self.query_one("#hints", Static).update(Text(text, no_wrap=True, overflow="ellipsis"))

    @property
    def pane(self) -> str:
        """The name of the pane that is active."""
        return next((name for name in PANES if self.query_one(f"#{name}").has_class("active")), "conversations")

    # The panes follow one another ---------------------------------------------------------------------------------

    def on_lines_view_moved(self, event: LinesView.Moved) -> None:
        """Let the panes to the right follow, once the cursor rests."""
        if event.view is self.list_pane:
            self._soon("tree", self.load_tree)
        elif event.view is self.tree_pane:
            self._soon("dialog", self.load_dialog)

    def _soon(self, name: str, action: Callable[[], object]) -> None:
        if name in self._pauses:
            self._pauses[name].stop()
        self._pauses[name] = self.set_timer(PAUSE, action)

    @work(thread=True, exclusive=True, group="tree", exit_on_error=False)
    def load_tree(self) -> None:
        """Read the tree of the chosen conversation, and show it."""
        row, worker = self.list_pane.chosen, get_current_worker()
        root: Tree[Headline] | None = None
        runs: dict[str, list[Headline]] = {}
        at = self._at or (row.at if row else None)
        self._at = None
        try:
            if at is not None:
                (root,) = self.store.outline(at, whole=True)
            if row and row.info:
                runs = runs_by_message(self.store.previews(self.store.sessions(parent=row.info.key, limit=1000)))
        except BoughError as error:  # deleted in the meantime
            self.call_from_thread(self.hint, str(error))
        if not worker.is_cancelled:
            head = row.info.head_id if row and row.info else at
            self.call_from_thread(self.tree_pane.show, root, runs, head, at)

    @work(thread=True, exclusive=True, group="dialog", exit_on_error=False)
    def load_dialog(self, more: int = 0) -> None:
        """Read the end of the dialog up to the chosen message, and show it."""
        node, worker = self.tree_pane.chosen, get_current_worker()
        found: LoadedDialog | None = None
        try:
            if node is not None:
                found = load_dialog(self.store, node.id, LOADED + more)
        except BoughError as error:
            self.call_from_thread(self.hint, str(error))
        if not worker.is_cancelled:
            self.call_from_thread(self.dialog_pane.show, found, from_end=not more)

    # Moving between panes -----------------------------------------------------------------------------------------

    def action_forward(self) -> None:
        """Unfold, or enter the next pane."""
        if self.pane == "tree" and self.tree_pane.fold(False):
            return
        self._enter(PANES[min(PANES.index(self.pane) + 1, 2)])

    def action_backward(self) -> None:
        """Enter the pane before."""
        self._enter(PANES[max(PANES.index(self.pane) - 1, 0)])

    def action_leave(self) -> None:
        """Leave the search, the pane, and then the browser."""
        search = self.query_one("#search", Input)
        if search.value:
            search.value = ""
        elif search.has_focus or self.pane != "conversations":
            self.action_backward()
        else:
            self.exit(None)

    def action_unfold(self) -> None:
        """Fold or unfold: branches in the tree, thinking and tools in the dialog."""
        self.tree_pane.toggle() if self.pane == "tree" else self.dialog_pane.toggle()

    def action_filter(self) -> None:
        """Filter the tree."""
        shown = self.tree_pane.next_filter()
        self.tree_pane.border_title = "" if shown == "everything" else f"only {shown} (m)"

    def action_scope(self) -> None:
        """List the conversations of the next scope."""
        names = [scope.name for scope in self._scopes]
        now = names.index(self.list_pane.scope.name) if self.list_pane.scope.name in names else -1
        self.query_one("#search", Input).value = ""
        self._list(self._scopes[(now + 1) % len(names)])

    # Search -------------------------------------------------------------------------------------------------------

    def action_search(self) -> None:
        """Type words to search for."""
        self._enter("conversations")
        self.call_after_refresh(self.query_one("#search", Input).focus)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Search as the user types."""
        if event.input.id == "search":
            self._soon("search", lambda: self.search(event.value.strip()))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter goes to what was found."""
        if event.input.id == "search":
            self.list_pane.focus()

    @work(thread=True, exclusive=True, group="search", exit_on_error=False)
    def search(self, typed: str) -> None:
        """Search the titles and messages of the scope; without words, list it again."""
        worker, scope = get_current_worker(), self.list_pane.scope
        if len(typed) < 2:
            self.call_from_thread(self._list, scope)
            return
        try:
            rows = search_rows(self.store, scope, typed, lambda: worker.is_cancelled)
        except BoughError as error:
            self.call_from_thread(self.hint, one_line(str(error)))
            return
        if not worker.is_cancelled:
            self.call_from_thread(self.list_pane.show_found, rows, typed)
            self.call_from_thread(self.hint, f"{len(rows)} found in {scope.name} · Enter goes there · Esc ends")

    # Picking ------------------------------------------------------------------------------------------------------

    def action_open(self) -> None:
        """Continue the conversation, or from the message of the tree."""
        if self.pane == "conversations":
            self.action_pick("open")
        else:
            self.action_pick("continue")

    def action_pick(self, verb: PickedVerb, model: str | None = None) -> None:
        """End the browser with what is to be done."""
        key, id = self.target_key, self.target_id
        if verb == "new":
            self.exit(Picked("new"))
        elif id is None:
            self.hint("Nothing is chosen.")
        elif verb == "edit" and (self.tree_pane.chosen is None or self.tree_pane.chosen.role != "user"):
            self.hint("Choose one of your own messages in the tree: its text goes back into the editor.")
        else:
            self.exit(Picked(verb, key, id, model))

    @work
    async def action_answer_with(self) -> None:
        """Answer the question again with another model."""
        model = await self.push_screen_wait(AskLine("Answer again with which model?", suggestions=self.models))
        if model:
            self.action_pick("regenerate", model)

    @property
    def target_id(self) -> str | None:
        """The message that keys act on."""
        row, node = self.list_pane.chosen, self.tree_pane.chosen
        if self.pane == "conversations" and row is not None:
            return row.at
        return node.id if node else None

    @property
    def target_key(self) -> str | None:
        """The conversation that keys act on."""
        row = self.list_pane.chosen
        return row.info.key if row and row.info else None

    # Changing -----------------------------------------------------------------------------------------------------

    def _change(self, change: Callable[..., str], *given: Any) -> None:
        """Change the store, say so, and draw what is there now. An error is shown, and changes nothing."""
        try:
            said = change(self.store, *given)
        except (BoughError, OSError) as error:
            said = one_line(str(error))
        if not self.query_one("#search", Input).value:
            self.list_pane.list_scope(self.list_pane.scope, None)
        self._at = self.tree_pane.chosen.id if self.tree_pane.chosen and self.pane != "conversations" else None
        self.load_tree()
        self.hint(said)

    @work
    async def action_rename(self) -> None:
        """Give the conversation a title."""
        if (key := self.target_key) is not None:
            before = self.store.session(key).info.title or ""
            title = await self.push_screen_wait(AskLine(f"Title of {key}", before))
            if title:
                self._change(changes.rename, key, title)

    @work
    async def action_label(self) -> None:
        """Label the message."""
        if (id := self.target_id) is not None:
            before = self.store.headlines([id])[0].label or ""
            text = await self.push_screen_wait(AskLine(f"Label of {id}; empty removes it", before))
            if text is not None:
                self._change(changes.label, id, text)

    def action_pin(self) -> None:
        """Pin or unpin the conversation."""
        if self.target_key is not None:
            self._change(changes.toggle_pin, self.target_key)

    @work
    async def action_delete(self) -> None:
        """Delete the conversation, or in the tree the message with all that follows."""
        in_tree = self.pane != "conversations"
        name = self.target_id if in_tree else self.target_key
        if name is None:
            return
        what = f"Delete {name} and all that follows it?" if in_tree else f"Delete the conversation {name}?"
        if await self.push_screen_wait(Confirm(what)):
            self._change(changes.delete_messages if in_tree else changes.delete_session, name)

    def action_undo(self) -> None:
        """Undo the last change."""
        self._change(changes.undo)

    # Reading ------------------------------------------------------------------------------------------------------

    def action_copy(self) -> None:
        """Copy the message."""
        self._copy(lambda text: text)

    def action_copy_code(self) -> None:
        """Copy the code of the message."""
        from bough.cli.output.code import code_blocks

        self._copy(lambda text: "\n".join(code_blocks(text)))

    def _copy(self, part: Callable[[str], str]) -> None:
        text = part(changes.text_of(self.store, self.target_id)) if self.target_id else ""
        if text:
            self.copy_to_clipboard(text)
        self.hint(f"Copied {len(text):,} characters." if text else "There is nothing to copy here.")

    @work
    async def action_export(self) -> None:
        """Write the dialog to a file."""
        if (id := self.target_id) is not None:
            name = changes.file_name(self.target_key, id)
            file = await self.push_screen_wait(AskLine("Export to: .md, .html, .jsonl", name))
            if file:
                self._change(changes.export, id, file)

    def action_compare(self) -> None:
        """Mark a message, then compare the dialog up to another one with it."""
        id, marked = self.target_id, self.tree_pane.marked
        if id is None:
            return
        if marked is None or marked == id:
            self.tree_pane.mark(None if marked == id else id)
            self.hint("Now go to another message, and press = again." if marked is None else "Not marked any more.")
            return
        from bough.cli.commands.compare import comparison_lines
        from bough.cli.output.console import in_pane

        with in_pane(self.size.width - 8):
            lines = list(comparison_lines(self.store.compare(marked, id)))
        self.tree_pane.mark(None)
        self.push_screen(PageScreen(f"{marked} and {id}", [Text.from_ansi(line) for line in lines]))

    def action_help(self) -> None:
        """Show the keys."""
        self.push_screen(PageScreen("Keys", help_lines()))

    def on_dialog_pane_reached_top(self) -> None:
        """Read earlier messages of the dialog."""
        shown = self.dialog_pane.dialog
        if shown is not None and not shown.is_whole:
            self.load_dialog(len(shown.nodes))
