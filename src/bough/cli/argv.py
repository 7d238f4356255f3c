"""What the first words of a command line mean: a command, or a prompt."""

from __future__ import annotations

import sys
from collections.abc import Collection

import click

WITH_VALUE = ("--db", "--config")
WITHOUT = ("-h", "--help", "--version")
OTHERS_SAY = {
    "list": "conversations list",
    "history": "conversations list",
    "print": "show",
    "view": "show",
    "rm": "delete",
    "log": "tree",
    "find": "search",
    "undelete": "restore",
    "continue": "run -c",
    "resume": "run --resume",
    "version": "--version",
}
"""What other programs call our commands."""


def meant(args: list[str], commands: Collection[str], *, asks: bool = True) -> list[str]:
    """The words, with `run` before a prompt or its flags. `asks` about what is nearly a command, or raises."""
    place = after_globals(args)
    if place == len(args) or args[place] in WITHOUT or args[place] in commands:
        return args
    word = args[place]
    if word == "help":
        return [*args[:place], *args[place + 1 :], "--help"]
    if asks and (near := near_miss(word, commands)):
        return [*args[:place], *_asked(word, near, args[place + 1 :])]
    return [*args[:place], "run", *args[place:]]


def after_globals(args: list[str]) -> int:
    """The place of the first word that is not an option of `bough` itself."""
    place = 0
    while place < len(args) and args[place].partition("=")[0] in WITH_VALUE:
        place += 1 if "=" in args[place] else 2
    return min(place, len(args))


def near_miss(word: str, commands: Collection[str]) -> str | None:
    """The command that somebody who typed this single word probably meant."""
    low = word.lower()
    if low.startswith("-") or not low.isalpha():
        return None
    if low in commands:
        return low
    if low in OTHERS_SAY:
        return OTHERS_SAY[low]
    from difflib import get_close_matches

    return next(iter(get_close_matches(low, commands, 1, 0.75)), None)


def _asked(word: str, near: str, rest: list[str]) -> list[str]:
    asked = f"{word!r} is no command; did you mean `bough {near}`?"
    prompt = "To ask a model, write: bough run " + " ".join([word, *rest])
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise click.UsageError(f"{asked} {prompt}")
    if click.confirm(asked, default=True, err=True):
        return [*near.split(), *rest]
    click.echo(prompt, err=True)
    raise click.exceptions.Exit(2)
