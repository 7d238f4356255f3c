"""Writes the man page and the shell completions into `share`, from the commands themselves. `make docs` runs it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click
from click.testing import CliRunner

from bough.cli.commands import completion
from bough.cli.registry import ROOT as COMMANDS

SHARE = Path(__file__).parent.parent / "share"
COMPLETIONS = {
    "bash": "bash-completion/completions/bough",
    "zsh": "zsh/site-functions/_bough",
    "fish": "fish/vendor_completions.d/bough.fish",
}


def files() -> dict[str, str]:
    """What is in `share`, by path."""
    made = {"man/man1/bough.1": man_page()}
    for shell, path in COMPLETIONS.items():
        made[path] = CliRunner().invoke(completion.command, [shell], catch_exceptions=False).output
    return made


def man_page() -> str:
    """`bough(1)`: every command with its options."""
    root = click.Context(COMMANDS, info_name="bough", max_content_width=80)
    lines = [
        ".\\\" Printed by scripts/share.py.", ".TH BOUGH 1", ".SH NAME",
        "bough \\- keep conversations with AI, and start again at any point of them", ".SH SYNOPSIS",
        ".B bough", "[\\fIQUESTION\\fR | \\fICOMMAND\\fR [\\fIARGUMENT\\fR ...]]", ".SH DESCRIPTION",
        *text(COMMANDS.help or ""), ".SH COMMANDS",
    ]  # fmt: skip
    for name, command, context in walk(COMMANDS, root, "bough"):
        lines += [f".SS {escaped(name)}", *text(command.help or command.short_help or "")]
        for option in command.get_params(context):
            if (
                isinstance(option, click.Option)
                and option.name != "help"
                and (record := option.get_help_record(context))
            ):
                lines += [".TP", f".B {escaped(record[0])}", escaped(record[1]) or "\\&"]
        if command.epilog:
            lines += [".PP", ".nf", *map(escaped, command.epilog.replace("\b", "").strip().splitlines()), ".fi"]
    lines += [".SH FILES", "The store and the configuration: \\fBbough db path\\fR, \\fBbough config path\\fR."]
    return "\n".join(lines) + "\n"


def walk(
    command: click.Command, context: click.Context, name: str
) -> Iterator[tuple[str, click.Command, click.Context]]:
    """All commands below a group, with their full names."""
    assert isinstance(command, click.Group)
    for part in sorted(command.list_commands(context)):
        found = command.get_command(context, part)
        if found is None or found.hidden:
            continue
        inner = click.Context(found, parent=context, info_name=part)
        yield f"{name} {part}", found, inner
        if isinstance(found, click.Group):
            yield from walk(found, inner, f"{name} {part}")


def text(words: str) -> list[str]:
    """Paragraphs of a help text in roff."""
    paragraphs = re.split(r"\n\s*\n", words.replace("\b\n", "").strip())
    return [line for part in paragraphs for line in (".PP", escaped(" ".join(part.split())) or "\\&")]


def escaped(words: str) -> str:
    """Text in which roff finds no command of its own."""
    ascii_only = "".join(one if one.isascii() else f"\\[u{ord(one):04X}]" for one in words.replace("\\", "\\e"))
    safe = ascii_only.replace("-", "\\-")
    return f"\\&{safe}" if safe.startswith((".", "'")) else safe


def main() -> None:
    """Write them all."""
    for path, content in files().items():
        target = SHARE / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content, "utf-8")
    sys.stdout.write(f"{SHARE}: the man page and {len(COMPLETIONS)} completions\n")


if __name__ == "__main__":
    main()
