"""Table of the commands. A command's module is imported when the command runs.

To add one: write `cli/commands/NAME.py` with a click command called `command`, and a row in `COMMANDS`. A module with
several commands names one of them as `module:attribute`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

import click

from bough.cli.argv import GLOBAL_FLAGS, GLOBAL_OPTIONS, first_word, resolve, similar_command
from bough.cli.locate import Locator

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

COMMANDS = {
    "run": ("run", "Ask a question in this directory's conversation."),
    "chat": ("chat", "Chat in this directory's conversation."),
    "browse": ("browse", "Browse conversations and branches on a full screen, as `bough` alone does."),
    "conversations": ("conversations", "List, show, delete, clean, restore, title and label conversations."),
    "tree": ("tree", "Draw conversations as trees, or the tree of one message."),
    "show": ("show", "Print the dialog up to a message, or of a session."),
    "search": ("search", "Search all messages by words."),
    "compare": ("compare", "Compare two branches or two answers, word by word."),
    "sessions": ("sessions", "List sessions."),
    "status": ("status", "Show the store, this directory's conversation, unfinished turns and the model."),
    "labels": ("labels", "List the labels, with the number of messages of each."),
    "sql": ("sql", "Read the store with SQL."),
    "stats": ("stats", "Show tokens and cost, by model, day and session."),
    "fork": ("fork", "Create a session that continues from any message."),
    "title": ("title", "Give a conversation a title."),
    "label": ("label", "Label a message."),
    "pin": ("pin", "Pin conversations and messages, or list what is pinned."),
    "delete": ("delete", "Delete messages or sessions; they go to the trash."),
    "restore": ("restore", "List the trash, or restore from it."),
    "undo": ("undo", "Undo the last delete, rewind, clear, move, title or label."),
    "clean": ("clean", "Move old conversations to the trash."),
    "import": ("import_", "Import conversations of other programs, each message once."),
    "export": ("export", "Write conversations as jsonl, md, html, or a provider's messages."),
    "db": ("db", "Maintain the store: path, verify, backup, copy, vacuum, migrate."),
    "serve": ("serve", "Serve the store over HTTP: OpenAI's API, bough's own, MCP, and the page."),
    "page": ("serve:page", "Open the page with all conversations in a browser."),
    "bot": ("bot", "Answer people on Telegram, Discord and the like."),
    "tokens": ("tokens", "Make, list and revoke tokens for the server."),
    "mcp": ("mcp", "Serve history, or an agent, to other programs over MCP."),
    "acp": ("acp", "Serve an editor over the Agent Client Protocol."),
    "templates": ("templates", "List the templates of questions, or print one."),
    "models": ("models", "List the models that can be asked, with window and price."),
    "keys": ("keys", "Store the API keys of providers."),
    "local": ("local", "Install the embedded model, which needs no key and no network."),
    "config": ("config", "Show the settings, and where each value comes from."),
    "doctor": ("doctor", "Check the store, the disk, the configuration and the models."),
    "completion": ("completion", "Print the completion script for your shell."),
}
"""Module and one line of help of each command, in the order of `bough --help`."""

SECTIONS = {
    "run": "Ask",
    "browse": "Look",
    "fork": "Change",
    "import": "In and out",
    "serve": "Serve",
    "db": "Maintain",
}
"""The first command of each section of `bough --help`."""

ALIASES = {
    "conversation": "conversations",
    "convo": "conversations",
    "convos": "conversations",
    "conv": "conversations",
    "ls": "conversations",
}
"""Other names of the commands."""


class Commands(click.Group):
    """A group that imports its commands on demand; `default` runs when no command is named."""

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
        names_none = args[0].startswith("-") and args[0] not in GLOBAL_FLAGS if args else not ctx.resilient_parsing
        return super().parse_args(ctx, [self.default, *args] if self.default and names_none else args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in {*self.rows, *self.aliases} and not ctx.resilient_parsing:
            near = similar_command(args[0], {*self.rows, *self.aliases})
            hint = f"; did you mean {near!r}?" if near else f"; the commands are {', '.join(self.rows)}."
            raise click.UsageError(f"{args[0]!r} is not a command{hint}", ctx)
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
    """`bough`, whose first word may also start a prompt."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # Shell completion cannot ask a question.
        if "--plain" in args[: first_word(args)]:  # before anything is written
            os.environ["BOUGH_PLAIN"] = "1"
        return super().parse_args(ctx, resolve(args, {*self.rows, *self.aliases}, asks=not ctx.resilient_parsing))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Completions of the first word: commands, and flags of `bough` and `bough run`."""
        found = super().shell_complete(ctx, incomplete)
        run = self.get_command(ctx, "run")
        if run is None or not incomplete.startswith("-"):
            return found
        flags = run.shell_complete(click.Context(run, parent=ctx), incomplete)
        return found + [flag for flag in flags if flag.value not in (*GLOBAL_FLAGS, *GLOBAL_OPTIONS)]


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
    'A first word that is not a command starts a prompt: bough "why is the sky blue" runs bough run "why…".',
    epilog="bough COMMAND --help shows the options of a command. Exit statuses and files: docs/cli.md.",
    params=[
        click.Option(["--db"], metavar="PATH", type=click.Path(), help="The store: a file, or postgresql://…"),
        click.Option(
            ["--config"],
            metavar="FILE",
            type=click.Path(),
            help="The configuration, instead of the default config.toml.",
        ),
        click.Option(
            ["--plain"],
            is_flag=True,
            expose_value=False,
            help="For screen readers: no colours, boxes, status line, pages or redrawn lines. Or: BOUGH_PLAIN=1.",
        ),
        click.Option(
            ["--version"],
            is_flag=True,
            expose_value=False,
            is_eager=True,
            callback=_version,
            help="Print the version.",
        ),
    ],
)
