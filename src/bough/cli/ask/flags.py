"""Flags of `run` and `chat`: which conversation, and which agent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from bough.cli.ask.choose import Target, read_continue
from bough.cli.options import MESSAGE, MESSAGE_OR_SESSION, SESSION, locator_of, store_options
from bough.errors import BoughError, Invalid
from bough.model import Json
from bough.model.values import value
from bough.runtime.settings import AgentOptions

if TYPE_CHECKING:
    from bough.store import Store


@value
class Flags:
    """Values of the flags."""

    models: tuple[str, ...]
    agent: str | None
    system: str | None
    continued: str | None
    resume: str | None
    new: bool
    session: str | None
    incognito: bool
    max_tokens: int | None
    timeout: float | None
    fields: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()

    @property
    def options(self) -> AgentOptions:
        """The flags that choose the agent. Raises `Invalid` for a field without a value."""
        model = self.models[0] if self.models else None
        return AgentOptions(
            model, self.agent, self.system, self.max_tokens, self.timeout, parse_fields_of_request(self.fields)
        )

    @property
    def tool_names(self) -> list[str]:
        """The tools of `--tools`, which may be separated by commas."""
        return [name.strip() for given in self.tools for name in given.split(",") if name.strip()]

    @property
    def is_continuing(self) -> bool:
        """Whether a stored conversation is needed: without one there is nothing to continue."""
        return self.continued is not None or self.resume is not None

    @property
    def names_conversation(self) -> bool:
        """Whether a conversation is named that may be stored."""
        return self.is_continuing or self.session is not None

    def target(self, store: Store, words: Sequence[str]) -> tuple[Target, list[str]]:
        """The conversation that is named, and the words of the prompt, which may begin after `-c`."""
        after, words = None, list(words)
        if self.continued:
            after, words = read_continue(store, self.continued, words)
        last = self.resume == "" or (self.continued is not None and after is None)
        return Target(last, after, self.resume or None, self.new, self.session), words


NO_FLAGS = Flags((), None, None, None, None, False, None, False, None, None)
"""No flag was given."""


def parse_fields_of_request(given: Sequence[str]) -> dict[str, Json]:
    """The fields of `-o NAME=VALUE`; a value is JSON, or else text. Raises `Invalid`."""
    import json

    found: dict[str, Json] = {}
    for one in given:
        name, sign, text = one.partition("=")
        if not sign or not name.strip():
            raise Invalid(f"-o {one!r} has no value; write -o temperature=0.2. Nothing was asked.")
        try:
            found[name.strip()] = json.loads(text)
        except ValueError:
            found[name.strip()] = text
    tokens = found.get("max_tokens")
    if tokens is not None and (not isinstance(tokens, int) or tokens < 1):
        raise Invalid(f"-o max_tokens={tokens!r} is not a whole number of at least 1. Nothing was asked.")
    return found


def tool_sources(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """MCP servers for shell completion, which cannot show an error."""
    with suppress(BoughError):
        return [name for name in locator_of(ctx).settings().names("mcp") if name.startswith(incomplete)]
    return []


def agents(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Agents for shell completion, which cannot show an error."""
    with suppress(BoughError):
        return [name for name in locator_of(ctx).settings().names("agents") if name.startswith(incomplete)]
    return []


def models(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Models for shell completion: those that `bough models` has listed, and the providers' names."""
    from bough.providers.model_list import cached_specs

    with suppress(BoughError):
        listed = cached_specs()
        named = [f"{name}:" for name in locator_of(ctx).settings().names("providers")]
        known = ["local", *listed, *(name for name in named if not any(one.startswith(name) for one in listed))]
        return [name for name in dict.fromkeys(known) if name.startswith(incomplete)]
    return []


OPTIONS: tuple[Callable[[Callable[..., Any]], Callable[..., Any]], ...] = (
    click.option(
        "-m", "--model", "models", metavar="NAME", multiple=True, shell_complete=models,
        help="Model: openai:…, anthropic:…, PROVIDER:…, local. `run` asks several at the same time.",
    ),
    click.option(
        "-o", "--option", "fields", metavar="NAME=VALUE", multiple=True,
        help="Field of the request: temperature=0.2, reasoning_effort=high, any other; repeatable.",
    ),
    click.option(
        "--tools", metavar="NAME", multiple=True, shell_complete=tool_sources,
        help="Tools instead of the configured ones: an MCP server, SERVER.TOOL, module:function, file.py, none.",
    ),
    click.option("-a", "--agent", metavar="NAME", shell_complete=agents, help="Agent of the configuration."),
    click.option("-s", "--system", metavar="TEXT", help="System prompt, for this conversation from now on."),
    click.option(
        "-c", "--continue", "continued", is_flag=False, flag_value="", metavar="[ID]", type=MESSAGE,
        help="Continue the last conversation of this directory, or from message ID.",
    ),
    click.option(
        "--resume", is_flag=False, flag_value="", metavar="[ID]", type=MESSAGE_OR_SESSION,
        help="Resume the conversation of message or session ID; without ID, the last one of this directory.",
    ),
    click.option("-n", "--new", is_flag=True, help="Start a new conversation."),
    click.option("--session", metavar="NAME", type=SESSION, help="Continue or create the conversation with this name."),
    click.option("-G", "--incognito", "--no-save", "incognito", is_flag=True, help="Store nothing."),
    click.option("--max-tokens", type=click.IntRange(1), metavar="N", help="Longest reply, in tokens."),
    click.option(
        "--timeout", type=click.FloatRange(0, min_open=True), metavar="SECONDS", help="Longest duration of a turn."
    ),
)  # fmt: skip


def flags(function: Callable[..., int]) -> Callable[..., int]:
    """Add the flags to a command, as its argument `flags`."""

    @wraps(function)
    def called(*args: Any, **given: Any) -> int:
        values = Flags(**{name: given.pop(name) for name in Flags.__match_args__})
        return function(*args, flags=values, **given)

    command: Callable[..., Any] = store_options(called)
    for option in reversed(OPTIONS):
        command = option(command)
    return command
