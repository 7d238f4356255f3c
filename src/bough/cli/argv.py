"""Decide whether a command line starts with a command or with a prompt."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Collection

import click

GLOBAL_OPTIONS = ("--db", "--config")
PLAIN = "--plain"
GLOBAL_FLAGS = ("-h", "--help", "--version")
FOREIGN_COMMANDS = {
    "list": "conversations list",
    "history": "conversations list",
    "logs": "conversations list",
    "print": "show",
    "view": "show",
    "rm": "delete",
    "log": "tree",
    "find": "search",
    "grep": "search",
    "ask": "run",
    "prompt": "run",
    "diff": "compare",
    "info": "status",
    "cost": "stats",
    "costs": "stats",
    "usage": "stats",
    "tag": "label",
    "tags": "labels",
    "star": "pin",
    "rename": "title",
    "revert": "undo",
    "trash": "restore",
    "settings": "config",
    "undelete": "restore",
    "continue": "run -c",
    "resume": "run --resume",
    "version": "--version",
}
"""Names of commands in other programs, and ours."""


def resolve(args: list[str], commands: Collection[str], *, asks: bool = True) -> list[str]:
    """Insert `run` before a prompt. With `asks`, confirm a misspelt command, or raise `click.UsageError`."""
    index = first_word(args)
    if index == len(args):
        return [*args, *without_words()] if asks else args
    if args[index] in GLOBAL_FLAGS or args[index] in commands:
        return args
    word = args[index]
    if word == "help":
        return [*args[:index], *args[index + 1 :], "--help"]
    if asks and (near := similar_command(word, commands)):
        return [*args[:index], *_confirm(word, near, args[index + 1 :])]
    return [*args[:index], "run", *args[index:]]


def without_words() -> list[str]:
    """The command of `bough` alone: `run` for piped input, the browser on a terminal, else the help."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError, AttributeError):  # closed, or replaced by an object without a file
        return ["--help"]
    if stat.S_ISFIFO(mode) or stat.S_ISREG(mode):
        return ["run"]
    from bough.cli.browser import can_browse

    return ["browse"] if can_browse() else ["--help"]


def first_word(args: list[str]) -> int:
    """Index of the first word that is not an option of `bough` itself."""
    index = 0
    while index < len(args) and args[index].partition("=")[0] in (*GLOBAL_OPTIONS, PLAIN):
        index += 1 if "=" in args[index] or args[index] == PLAIN else 2
    return min(index, len(args))


def similar_command(word: str, commands: Collection[str]) -> str | None:
    """The command of which this word is probably a misspelling or another program's name."""
    low = word.lower()
    if low.startswith("-") or not low.isalpha():
        return None
    if low in commands:
        return low
    if low in FOREIGN_COMMANDS:
        return FOREIGN_COMMANDS[low]
    from difflib import get_close_matches

    return next(iter(get_close_matches(low, commands, 1, 0.75)), None)


def _confirm(word: str, near: str, rest: list[str]) -> list[str]:
    question = f"{word!r} is not a command; did you mean `bough {near}`?"
    prompt = "To ask a model, write: bough run " + " ".join([word, *rest])
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise click.UsageError(f"{question} {prompt}")
    if click.confirm(question, default=True, err=True):
        return [*near.split(), *rest]
    click.echo(prompt, err=True)
    raise click.exceptions.Exit(2)
