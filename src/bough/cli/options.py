"""Options and argument types that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bough.cli.output.text import one_line, truncate
from bough.model.keys import cli_key
from bough.model.times import parse_time
from bough.model.values import value

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from bough.cli.locate import Locator
    from bough.store import Store

MOST = 50
"""Sessions offered by shell completion, at most."""
CLI = cli_key("")
F = TypeVar("F", bound=Callable[..., Any])

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def examples(*lines: str) -> str:
    """The examples at the end of a help page."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


@value
class Extent:
    """Values of the options that limit a list of conversations."""

    limit: int | None
    subagents: bool
    full: bool


def extent_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `-n`, `--all`, `--subagents` and `--full` to a command, as its argument `extent`."""

    @wraps(function)
    def command(*args: Any, limit: int, everything: bool, subagents: bool, full: bool, **more: Any) -> Any:
        return function(*args, extent=Extent(None if everything else limit, subagents, full), **more)

    for option in (
        click.option("--full", is_flag=True, help="On a terminal, do not fold the middle of long conversations."),
        click.option("--subagents", is_flag=True, help="Include subagents."),
        click.option("--all", "everything", is_flag=True, help="All conversations."),
        limit_option(20, "Number of conversations."),
    ):
        command = option(command)
    return command


def limit_option(default: int, help: str = "Number of rows.") -> Callable[[F], F]:
    """The option `-n N`."""
    number = click.IntRange(min=1)
    return click.option("-n", "--limit", metavar="N", type=number, default=default, show_default=True, help=help)


def _time(ctx: click.Context, parameter: click.Parameter, given: str | None) -> int | None:  # noqa: ARG001
    return None if given is None else parse_time(given)


def time_options(function: F) -> F:
    """Adds `--since` and `--until`, as microseconds."""
    option = partial(click.option, metavar="WHEN", callback=_time)
    until = option("--until", help="Before this time.")
    return option("--since", help="From this time on: 2026-11-16, 2026-11-16T08:30, or an age such as 7d.")(
        until(function)
    )


def _set_location(ctx: click.Context, parameter: click.Parameter, given: str | None) -> None:
    if given is not None:
        setattr(ctx.find_root().obj, parameter.name or "", given)


def store_options(function: F) -> F:
    """Accept `--db` and `--config` after the command's name too."""
    hidden: dict[str, Any] = {"hidden": True, "expose_value": False, "callback": _set_location, "type": click.Path()}
    return click.option("--db", **hidden)(click.option("--config", **hidden)(function))


class RefType(click.ParamType):  # type: ignore[type-arg]  # older clicks have no type arguments
    """The id of a message or the key of a session, with shell completion from the store."""

    name = "id"

    def __init__(self, *, ids: bool = True, keys: bool = True) -> None:
        self.ids, self.keys = ids, keys

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        return completions(
            ctx, incomplete, lambda store: self._messages(store, incomplete) + self._sessions(store, incomplete)
        )

    def _messages(self, store: Store, incomplete: str) -> list[tuple[str, str]]:
        """Messages whose id starts like this; for an empty word, the heads of sessions."""
        if not self.ids:
            return []
        heads = [info.head_id for info in store.sessions(limit=MOST) if info.head_id]
        return [(one.id, one.words) for one in store.headlines(store.find_ids(incomplete) if incomplete else heads)]

    def _sessions(self, store: Store, incomplete: str) -> list[tuple[str, str]]:
        """Sessions by key; for a word that is not empty, by short name too."""
        if not self.keys:
            return []
        from bough.cli.output.titles import listed_title

        shown = store.previews(store.sessions(limit=MOST))
        known = [(one.info.key, listed_title(one) or "session") for one in shown]
        short = [(key.removeprefix(CLI), title) for key, title in known if key.startswith(CLI) and key.count(":") == 1]
        return known + short if incomplete else known


class TrashType(click.ParamType):  # type: ignore[type-arg]
    """The name of an entry of the trash, with shell completion."""

    name = "name"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        return completions(ctx, incomplete, lambda store: [(entry.id, entry.reason or "") for entry in store.trash()])


def completions(
    ctx: click.Context, incomplete: str, known: Callable[[Store], Sequence[tuple[str, str]]]
) -> list[CompletionItem]:
    """The names from the store that start with the typed word, with a description of each."""
    from click.shell_completion import CompletionItem

    found: list[CompletionItem] = []
    with suppress(Exception), locator_of(ctx).existing() as store:  # shell completion cannot show an error
        for name, description in known(store):
            if name.startswith(incomplete) and name.isprintable():
                found.append(CompletionItem(name, help=truncate(one_line(description), 60)))
    return found


MESSAGE, SESSION, MESSAGE_OR_SESSION = RefType(keys=False), RefType(ids=False), RefType()


def locator_of(ctx: click.Context) -> Locator:
    """The locator of this command line, also during shell completion."""
    from bough.cli.locate import Locator

    root = ctx.find_root()
    return root.obj or Locator(root.params.get("db"), root.params.get("config"))
