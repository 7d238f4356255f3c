"""A chat that is going on: the session it stands in, who answers, and one question after another."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from bough.cli.ask.agent import Casting, remember
from bough.cli.ask.ask import ask, interruptible
from bough.cli.ask.attach import attached
from bough.cli.ask.choose import Choice
from bough.cli.locate import here
from bough.cli.output.console import on_terminal
from bough.cli.output.live import RunPrinter, aside
from bough.cli.output.text import one_line, sanitize
from bough.errors import BoughError
from bough.model import Part, Text
from bough.model.values import replace

if TYPE_CHECKING:
    from bough.agent import Agent, Outcome
    from bough.cli.ask.crew import Crew
    from bough.cli.ask.flags import Flags
    from bough.config import Config
    from bough.session import Session
    from bough.store import Store


class Talk:
    """What the commands of a chat look at and change. Use it in a `with` block: leaving it lets the model go."""

    def __init__(self, store: Store, crew: Crew, config: Config, session: Session, flags: Flags) -> None:
        self.store = store
        self.crew = crew
        self.config = config
        self.session = session
        self.directory = here()
        self.kept = not flags.incognito
        self.files: list[str] = []
        """What goes along with the next question."""
        self._casting = flags.casting
        self._agent = crew.cast(flags.casting, session.info)
        remember(session, flags.casting, config)

    def __enter__(self) -> Talk:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._agent.provider.close()

    @property
    def agent(self) -> Agent:
        """Who answers."""
        return self._agent

    def recast(self, **changes: str | None) -> None:
        """Lets someone else answer from now on: `recast(model="local")`. Raises what `Crew.cast` raises."""
        self._cast(self.session, replace(self._casting, **changes))

    def move(self, session: Session, *, alone: bool = False) -> None:
        """Goes on in another session, with whoever answers there; or `alone`, with nobody but who answers here."""
        forgotten = {} if alone else {"model": None, "agent": None, "system": None}
        self._cast(session, replace(self._casting, **forgotten))

    def _cast(self, session: Session, casting: Casting) -> None:
        agent = self.crew.cast(casting, session.info)  # what this raises has changed nothing
        self._agent.provider.close()
        self.session, self._agent, self._casting = session, agent, casting
        remember(session, casting, self.config)

    def status(self) -> str:
        """Where we are and who answers, on one line."""
        name = self.session.key if self.kept else "incognito: nothing is kept"
        attachments = f" · {len(self.files)} attached" if self.files else ""
        return one_line(f"{name} · {self.agent.provider.name}: {self.agent.provider.model}{attachments}")

    def go(self, read: Callable[[], str], first: str) -> int:
        """Reads and answers until there is nothing more to read."""
        from bough.cli.commands.chat.slash import obey, welcome

        welcome(self)
        line: str | None = first or None
        while True:
            try:
                said = line if line is not None else read()
            except EOFError:
                break
            line = None
            if said.strip() and not (obey(self, said) if is_command(said) else self.answer(said)):
                break
        self.farewell()
        return 0

    def answer(self, said: str) -> bool:
        """Asks; whether the chat goes on."""
        return self._tell(lambda: [*attached(self.files), Text(said.removeprefix(" "))], Choice(self.session))

    def retry(self, turn: str) -> bool:
        """Takes up a turn that did not complete; whether the chat goes on."""
        return self._tell(list, Choice(self.session, unfinished=turn))

    def _tell(self, parts: Callable[[], list[Part]], choice: Choice) -> bool:
        """Runs one turn. Ctrl+C ends the answer only, a lost terminal the chat, and an error neither."""
        teller = RunPrinter(kept=self.kept)
        with interruptible() as terminal:
            try:
                self._ended(ask(self.agent, choice, parts(), teller), teller)
            except KeyboardInterrupt:
                teller.note(f"Stopped. What came is kept: /retry {teller.turn} takes it up again.")
            except BoughError as problem:
                complain(str(problem))
                if teller.turn:
                    teller.note(f"The question is kept: /retry {teller.turn} asks it again.")
        return not (terminal.is_lost or teller.broken)

    def _ended(self, done: Outcome, teller: RunPrinter) -> None:
        self.files = []
        teller.print_reply_id(done)
        if on_terminal():
            print(flush=True)
        if done.reason:
            complain(self.agent.limits.describe(done.reason))

    def farewell(self) -> None:
        """Says how to come back."""
        if self.kept and self.session.head is not None:
            aside(f"To go on: bough chat -c, or bough run --session {one_line(self.session.key)} …")


def is_command(said: str) -> bool:
    """Whether a line is `/word …`. A path is not, and neither is a line that begins with a space."""
    return said.startswith("/") and said[1:2].isalpha() and "/" not in said.split(maxsplit=1)[0][1:]


def complain(text: str) -> None:
    """Says what went wrong; the chat goes on."""
    print(f"bough: {sanitize(text)}", file=sys.stderr, flush=True)
