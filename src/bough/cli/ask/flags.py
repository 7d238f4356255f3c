"""The flags that `run` and `chat` share: which conversation, and who answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from bough.cli.ask.agent import Casting
from bough.cli.ask.choose import Wish, read_continue
from bough.cli.options import MESSAGE, MESSAGE_OR_SESSION, SESSION, locator_of, store_options
from bough.errors import BoughError
from bough.model.values import value

if TYPE_CHECKING:
    from bough.store import Store


@value
class Flags:
    """What the command line says of which conversation is meant, and of who answers."""

    model: str | None
    agent: str | None
    system: str | None
    continued: str | None
    resume: str | None
    new: bool
    session: str | None
    incognito: bool
    max_tokens: int | None
    timeout: float | None

    @property
    def casting(self) -> Casting:
        """Who answers."""
        return Casting(self.model, self.agent, self.system, self.max_tokens, self.timeout)

    @property
    def is_continuing(self) -> bool:
        """Whether what is stored must be known."""
        return self.continued is not None or self.resume is not None or self.session is not None

    def wish(self, store: Store, words: Sequence[str]) -> tuple[Wish, list[str]]:
        """Which conversation is meant, and the words of the prompt: those after `-c` may be among them."""
        after, words = None, list(words)
        if self.continued:
            after, words = read_continue(store, self.continued, words)
        last = self.resume == "" or (self.continued is not None and after is None)
        return Wish(last, after, self.resume or None, self.new, self.session), words


def agents(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """The agents that a shell may complete. It has no place for an error."""
    with suppress(BoughError):
        return [name for name in locator_of(ctx).settings().names("agents") if name.startswith(incomplete)]
    return []


def models(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Who may be asked, as far as a shell can complete it: the names of providers."""
    with suppress(BoughError):
        known = ["local", *(f"{name}:" for name in locator_of(ctx).settings().names("providers"))]
        return [name for name in known if name.startswith(incomplete)]
    return []


OPTIONS: tuple[Callable[[Callable[..., Any]], Callable[..., Any]], ...] = (
    click.option(
        "-m", "--model", metavar="NAME", shell_complete=models,
        help="Who answers: openai:…, anthropic:…, PROVIDER:…, local.",
    ),
    click.option("-a", "--agent", metavar="NAME", shell_complete=agents, help="An agent of the configuration."),
    click.option("-s", "--system", metavar="TEXT", help="The system prompt, for this conversation from now on."),
    click.option(
        "-c", "--continue", "continued", is_flag=False, flag_value="", metavar="[ID]", type=MESSAGE,
        help="Continue the last conversation of this directory, or from message ID.",
    ),
    click.option(
        "--resume", is_flag=False, flag_value="", metavar="[ID]", type=MESSAGE_OR_SESSION,
        help="Resume a conversation by any id of it; without ID, the last one of this directory.",
    ),
    click.option("-n", "--new", is_flag=True, help="Start afresh."),
    click.option("--session", metavar="NAME", type=SESSION, help="A conversation with a name."),
    click.option("-G", "--incognito", "--no-save", "incognito", is_flag=True, help="Keep nothing of this."),
    click.option("--max-tokens", type=click.IntRange(1), metavar="N", help="How long a reply may get."),
    click.option(
        "--timeout", type=click.FloatRange(0, min_open=True), metavar="SECONDS", help="How long a turn may take."
    ),
)  # fmt: skip


def flags(function: Callable[..., int]) -> Callable[..., int]:
    """Gives a command the flags, as its argument `flags`."""

    @wraps(function)
    def called(*args: Any, **given: Any) -> int:
        said = Flags(**{name: given.pop(name) for name in Flags.__match_args__})
        return function(*args, flags=said, **given)

    made: Callable[..., Any] = store_options(called)
    for option in reversed(OPTIONS):
        made = option(made)
    return made
