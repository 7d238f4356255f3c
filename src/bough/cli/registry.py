"""The commands, by name. A command's module is imported when the command runs, not before.

To add one: write `cli/commands/NAME.py` with a click command called `command`, and a row in `COMMANDS`. A module with
several commands names the one that is meant, as `module:attribute`.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

import click

from bough.cli.argv import WITH_VALUE, WITHOUT, meant, near_miss
from bough.cli.locate import Locator

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

COMMANDS = {
    "run": ("run", "Ask, in this directory's conversation; it continues where it left off."),
    "chat": ("chat", "Talk, turn after turn; `run` can go on with it, and the other way round."),
    "conversations": ("conversations", "List, show, delete, clean, restore, title and label conversations."),
    "tree": ("tree", "Draw conversations as trees, or the tree of one message."),
    "show": ("show", "Print the dialog that leads to a message, or where a session stands."),
    "search": ("search", "Find what was said, by its words."),
    "sessions": ("sessions", "List the names that conversations go by."),
    "stats": ("stats", "Show tokens and cost, by model, day and session."),
    "fork": ("fork", "Make a new session that stands at any message."),
    "title": ("title", "Give a conversation a title."),
    "label": ("label", "Put a label on a message."),
    "delete": ("delete", "Delete messages or sessions; they go to the trash."),
    "restore": ("restore", "List what is in the trash, or bring it back."),
    "clean": ("clean", "Move conversations that were not used for long to the trash."),
    "import": ("import_", "Bring in conversations of other programs; what is known is not brought in twice."),
    "export": ("export", "Write conversations as jsonl, md, html, or a provider's messages."),
    "db": ("db", "Look after the store: path, verify, backup, copy, vacuum, migrate."),
    "mcp": ("mcp", "Serve an agent to other programs, as a tool over MCP."),
    "local": ("local", "Fetch the model that answers without a key and without a network."),
    "config": ("config", "Show what is settled, and where each value comes from."),
    "doctor": ("doctor", "Check the store, the disk, the configuration and the models."),
    "completion": ("completion", "Print the script that completes commands, ids and names in your shell."),
}
"""Name → module and one line of help, in the order in which `bough --help` lists them."""

SECTIONS = {
    "run": "Ask",
    "conversations": "Look",
    "fork": "Change",
    "import": "In and out",
    "db": "Look after",
}
"""The first command of each part of that list."""

ALIASES = {
    "conversation": "conversations",
    "convo": "conversations",
    "convos": "conversations",
    "conv": "conversations",
    "ls": "conversations",
}
"""What a command is called too."""


class Commands(click.Group):
    """A group that knows its commands by name only; `default` is called when no command is named."""

    def __init__(
        self,
        name: str,
        commands: Mapping[str, tuple[str, str]],
        aliases: Mapping[str, str],
        *,
        sections: Mapping[str, str] = {},
        default: str | None = None,
        **options: object,
    ) -> None:
        super().__init__(name, context_settings=SETTINGS, **options)  # type: ignore[arg-type]
        self.rows, self.aliases, self.sections, self.default = commands, aliases, sections, default

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.rows)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        name = self.aliases.get(cmd_name, cmd_name)
        if name not in self.rows:
            return None
        module, _, attribute = self.rows[name][0].partition(":")
        found: click.Command = getattr(import_module(f"bough.cli.commands.{module}"), attribute or "command")
        return found

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        names_none = args[0].startswith("-") and args[0] not in WITHOUT if args else not ctx.resilient_parsing
        return super().parse_args(ctx, [self.default, *args] if self.default and names_none else args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in {*self.rows, *self.aliases} and not ctx.resilient_parsing:
            near = near_miss(args[0], {*self.rows, *self.aliases})
            hint = f"; did you mean {near!r}?" if near else f"; there are {', '.join(self.rows)}."
            raise click.UsageError(f"{args[0]!r} is no command{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        parts: dict[str, list[tuple[str, str]]] = {}
        title = "Commands"
        for name, (_, text) in self.rows.items():
            title = self.sections.get(name, title)
            parts.setdefault(title, []).append((name, text))
        room = max(map(len, self.rows))
        for title, rows in parts.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(room), text) for name, text in rows])


class Root(Commands):
    """`bough`: its first word may also be the beginning of a prompt."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        completing = ctx.resilient_parsing  # for a shell; then nobody can be asked
        words = meant(args, {*self.rows, *self.aliases}, asks=not completing)
        return super().parse_args(ctx, words if words or completing else ["--help"])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """What a first word may become: a command, or a flag of `bough` or of `bough run`."""
        found = super().shell_complete(ctx, incomplete)
        run = self.get_command(ctx, "run")
        if run is None or not incomplete.startswith("-"):
            return found
        flags = run.shell_complete(click.Context(run, parent=ctx), incomplete)
        return found + [flag for flag in flags if flag.value not in (*WITHOUT, *WITH_VALUE)]


def _root(ctx: click.Context, db: str | None, config: str | None) -> None:
    ctx.obj = Locator(db, config)


def _version(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked:
        import bough

        click.echo(f"bough {bough.__version__}")
        ctx.exit()


ROOT = Root(
    "bough",
    COMMANDS,
    ALIASES,
    sections=SECTIONS,
    callback=click.pass_context(_root),
    help="Every conversation with an AI, kept; any point of it, a place to start again.\n\n"
    'A first word that is no command is a prompt: bough "why is the sky blue" is bough run "why is the sky blue".',
    epilog="bough COMMAND --help says more. Exit statuses and files: docs/cli.md.",
    params=[
        click.Option(["--db"], metavar="PATH", type=click.Path(), help="The store: a file, or postgresql://…"),
        click.Option(
            ["--config"],
            metavar="FILE",
            type=click.Path(),
            help="The configuration, instead of the usual config.toml.",
        ),
        click.Option(
            ["--version"],
            is_flag=True,
            expose_value=False,
            is_eager=True,
            callback=_version,
            help="Say which bough this is.",
        ),
    ],
)
