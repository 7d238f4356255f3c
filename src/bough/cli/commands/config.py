"""`bough config`: show and change the configuration."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bough.cli.locate import Locator
from bough.cli.options import json_option, store_options
from bough.cli.output.text import one_line
from bough.cli.registry import Commands
from bough.model.values import replace

if TYPE_CHECKING:
    from bough.config import Config, Setting

TEMPLATE = """\
# Defaults for bough. All keys: `bough config`, or docs/configuration.md.

[run]
# model = "openai:gpt-5-mini"
# system = "Answer briefly."
"""


@click.command()
@store_options
@json_option
@click.argument("names", nargs=-1, metavar="[KEY]…")
@click.pass_obj
def show(locator: Locator, names: tuple[str, ...], as_json: bool) -> None:
    """Show every setting with its value and origin. Secrets are never shown."""
    from bough.cli.output import console

    settings = [effective(locator, setting) for setting in select(locator.settings(), names)]
    if as_json:
        console.print_json([{"key": one.name, "value": one.shown, "origin": one.origin} for one in settings])
        return
    console.print_lines(setting_lines(settings))


def effective(locator: Locator, setting: Setting) -> Setting:
    """The setting with its effective value: for the store and the model, the one that would be used by default."""
    if setting.name == "db.path":
        found = locator.find()
        return replace(setting, value=found.where, origin=found.source)
    if setting.name == "run.model" and setting.value is None:
        from bough.providers import default

        return replace(setting, value=default(os.environ, locator.settings().tables("providers")))
    return setting


def select(config: Config, names: tuple[str, ...]) -> list[Setting]:
    """The settings with these names or in these sections; without names, all."""
    if not names:
        return config.settings()
    found = []
    for name in names:
        section = [one for one in config.settings() if one.name.startswith(f"{name}.")]
        found += section or [config.setting(name)]
    return found


def setting_lines(settings: list[Setting]) -> list[str]:
    """One line per setting: name, value as TOML, and origin."""
    from bough.cli.output import console
    from bough.cli.output.text import pad

    rows = [(one_line(one.name), format_value(one.shown), one_line(one.origin)) for one in settings]
    room = 44 if console.on_terminal() else 10_000
    first, second = (max((len(row[column]) for row in rows), default=0) for column in (0, 1))
    return [
        f"{pad(name, first)}  {pad(shown, min(second, room))}  {console.styled(origin, 'dim')}"
        for name, shown, origin in rows
    ]


def format_value(value: Any) -> str:
    from bough.config.writing import toml

    return "–" if value is None else one_line(toml(value))


@click.command()
@json_option
@store_options
@click.pass_obj
def path(locator: Locator, as_json: bool) -> None:
    """Print the path of the configuration file, which may not exist."""
    from bough.cli.output import console

    file = file_of(locator)
    if as_json:
        console.print_json({"path": str(file), "exists": file.exists()})
    else:
        click.echo(str(file))


def file_of(locator: Locator) -> Path:
    from bough.config import default_path

    return Path(locator.config).expanduser() if locator.config else default_path()


@click.command(name="set")
@store_options
@click.argument("key")
@click.argument("value")
@click.pass_obj
def set_(locator: Locator, key: str, value: str) -> None:
    """Set a value in the file: bough config set run.model local."""
    from bough.cli.output import console
    from bough.config.writing import set_value

    file = file_of(locator)
    set_value(file, key, value)
    console.note(f"{key} is set in {file}")


@click.command()
@store_options
@click.pass_obj
def edit(locator: Locator) -> None:
    """Open the file in $VISUAL or $EDITOR, then check it."""
    from bough.config import load
    from bough.config.writing import write

    file = file_of(locator)
    if not file.exists():
        write(file, TEMPLATE)
    click.edit(filename=str(file))
    load(file)


class Settings(Commands):
    """`bough config`, where `show` may be omitted before the name of a key or a section."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        from bough.config.keys import SECTIONS

        named = bool(args) and args[0].partition(".")[0] in SECTIONS
        return super().parse_args(ctx, ["show", *args] if named else args)


command = Settings(
    "config",
    {
        "show": ("config:show", "Show every setting and its origin."),
        "path": ("config:path", "Print the path of the file."),
        "set": ("config:set_", "Set a value in the file."),
        "edit": ("config:edit", "Open the file in your editor."),
    },
    {"list": "show", "ls": "show", "get": "show"},
    default="show",
    help="Show and change the configuration. All keys: docs/configuration.md.",
)
