"""The loop of a chat: read input, run a turn or a slash command, repeat."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from bough.cli.ask.ask import ask, interruptible
from bough.cli.ask.attach import attached
from bough.cli.ask.choose import Choice
from bough.cli.ask.first_run import with_offer
from bough.cli.commands.chat.type_ahead import typed_ahead
from bough.cli.locate import working_directory
from bough.cli.output.console import on_terminal
from bough.cli.output.live import RunPrinter, aside
from bough.cli.output.text import one_line, sanitize
from bough.errors import BoughError, Invalid
from bough.model import Part, Text
from bough.model.values import UNSET, Unset, replace

if TYPE_CHECKING:
    from bough.agent import Agent, Outcome
    from bough.cli.ask.flags import Flags
    from bough.cli.browser import Picked
    from bough.cli.locate import Locator
    from bough.model import Node
    from bough.runtime.agents import Runtime
    from bough.runtime.settings import AgentOptions
    from bough.session import Session
    from bough.store import Store


class ChatLoop:
    """State of a chat, which its slash commands read and change. Use it in a `with` block, which closes the model."""

    def __init__(self, locator: Locator, store: Store, runtime: Runtime, session: Session, flags: Flags) -> None:
        self.store = store
        self.runtime = runtime
        self.config = locator.settings()
        self.session = session
        self.directory = working_directory()
        self.kept = not flags.incognito
        self.files: list[str] = []
        """Attachments of the next question."""
        self.draft = ""
        """What the editor begins with at the next prompt."""
        self.interactive = False
        """Whether a person types at a terminal."""
        self._branch: str | Unset | None = UNSET
        """The message, or None for the beginning, that the next question follows instead of the head."""
        self._figures = ""
        self._options = flags.options
        self._agent = with_offer(locator, lambda: runtime.agent(flags.options, session.info))
        runtime.store_options(session, flags.options)

    def __enter__(self) -> ChatLoop:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._agent.provider.close()

    @property
    def agent(self) -> Agent:
        """The agent that answers."""
        return self._agent

    def change_agent(self, **changes: str | None) -> None:
        """Change the agent from now on: `change_agent(model="local")`. Raises what `Runtime.agent` raises."""
        self._switch(self.session, replace(self._options, **changes))

    def move(self, session: Session, *, keep_agent: bool = False) -> None:
        """Switch to another session and its agent; with `keep_agent`, take the present flags along."""
        forgotten = {} if keep_agent else {"model": None, "agent": None, "system": None}
        self._switch(session, replace(self._options, **forgotten))

    def _switch(self, session: Session, options: AgentOptions) -> None:
        agent = self.runtime.agent(options, session.info)  # first, because it may raise
        self._agent.provider.close()
        self.session, self._agent, self._options = session, agent, options
        self.draft, self._branch = "", UNSET
        self.count()
        self.runtime.store_options(session, options)

    def status(self) -> str:
        """The session, the model, and its figures as of the last turn, on one line."""
        name = self.session.key if self.kept else "incognito: nothing is stored"
        attachments = f" · {len(self.files)} attached" if self.files else ""
        model = f"{self.agent.provider.name}: {self.agent.provider.model}"
        return one_line(f"{name} · {model}{self._figures}{attachments}")

    def count(self) -> None:
        """Read the figures of the status line: tokens, cost, branches."""
        (shown,) = self.store.previews([self.session.info]) or (None,)
        parts = []
        if shown is not None:
            usage = shown.usage
            if usage.input_tokens is not None or usage.output_tokens is not None:
                parts.append(f"{usage.input_tokens or 0:,} → {usage.output_tokens or 0:,} tokens")
            if usage.cost is not None:
                parts.append(f"${usage.cost:.4f}")
            if shown.branches > 1:
                parts.append(f"one of {shown.branches} branches")
        self._figures = "".join(f" · {part}" for part in parts)

    def edit(self, node: Node) -> None:
        """Put a question into the editor; the next one that is asked takes its place, as another branch."""
        self.draft, self._branch = node.message.text, node.parent_id

    def leave_edit(self) -> None:
        """Ask the next question at the head again."""
        self._branch = UNSET

    def run(self, read: Callable[[], str], first: str, picked: Picked | None = None) -> int:
        """Read and answer until the input ends; return the exit status."""
        from bough.cli.commands.chat.reading import welcome
        from bough.cli.commands.chat.slash import dispatch

        self.count()
        welcome(self)
        line: str | None = first or None
        if picked is not None and not self._begin(picked):
            return 0
        while True:
            try:
                text = line if line is not None else read()
            except EOFError:
                break
            line = None
            if text.strip() and not (dispatch(self, text) if is_command(text) else self.answer(text)):
                break
        self.farewell()
        return 0

    def _begin(self, picked: Picked) -> bool:
        from bough.cli.commands.chat.branching import begin

        try:
            return begin(self, picked) is not False
        except BoughError as problem:
            report_error(str(problem))
            return True

    def answer(self, question: str) -> bool:
        """Ask a question, in place of the one that is edited if there is one; return whether the chat continues."""
        branch, self._branch = self._branch, UNSET
        if not isinstance(branch, Unset):
            self.session.move(branch)
        return self._turn(lambda: [*attached(self.files), Text(question.removeprefix(" "))], Choice(self.session))

    def retry(self, turn: str) -> bool:
        """Resume a turn that did not complete; return whether the chat continues."""
        return self._turn(list, Choice(self.session, unfinished=turn))

    def regenerate(self, at: str | None, model: str | None = None) -> bool:
        """Answer a question again, also with another model this once; return whether the chat continues."""
        at = at or self.session.head
        if at is None:
            raise Invalid("There is no question to answer again here yet.")
        choice = Choice(self.session, answer_at=at)
        if model is None:
            return self._turn(list, choice)
        agent = self.runtime.agent(replace(self._options, model=model), self.session.info)
        try:
            return self._turn(list, choice, agent)
        finally:
            agent.provider.close()

    def _turn(self, parts: Callable[[], list[Part]], choice: Choice, agent: Agent | None = None) -> bool:
        """Run one turn. Ctrl+C and /stop stop the reply, a lost terminal ends the chat, and an error neither."""
        printer, is_over = RunPrinter(kept=self.kept), False
        with interruptible() as terminal:
            try:
                with typed_ahead(enabled=self.interactive) as ahead:
                    outcome = ask(agent or self.agent, choice, parts(), printer, ahead.stop)
                self._ended(outcome, printer)
                self.draft, is_over = ahead.text, ahead.is_over
            except KeyboardInterrupt:
                again = f" What was received is kept: /retry {printer.turn} resumes it." if printer.turn else ""
                printer.note(f"Interrupted.{again}")
            except BoughError as problem:
                report_error(str(problem))
                if printer.turn:
                    printer.note(f"The question is kept: /retry {printer.turn} asks it again.")
        self.count()
        return not (terminal.is_lost or printer.broken or is_over)

    def _ended(self, outcome: Outcome, printer: RunPrinter) -> None:
        self.files = []
        printer.print_reply_id(outcome)
        if on_terminal():
            print(flush=True)
        if outcome.status == "stopped":
            printer.print_stopped(outcome)
        elif outcome.reason:
            report_error(self.agent.limits.describe(outcome.reason))

    def farewell(self) -> None:
        """Write how to continue this conversation."""
        if self.kept and self.session.head is not None:
            aside(f"To go on: bough chat -c, or bough run --session {one_line(self.session.key)} …")


def is_command(text: str) -> bool:
    """Whether a line is `/word …`. A path is not, and neither is a line that starts with a space."""
    return text.startswith("/") and text[1:2].isalpha() and "/" not in text.split(maxsplit=1)[0][1:]


def report_error(text: str) -> None:
    """Write an error on stderr."""
    print(f"bough: {sanitize(text)}", file=sys.stderr, flush=True)
