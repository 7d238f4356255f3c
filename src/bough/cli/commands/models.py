"""`bough models`: the models of the providers that can be asked."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from bough.cli.locate import Locator
from bough.cli.options import examples, json_option, store_options
from bough.cli.output.console import note, print_json, print_lines
from bough.cli.output.table import table
from bough.errors import BoughError

if TYPE_CHECKING:
    from bough.providers.model_list import ModelEntry


@click.command("models", epilog=examples("bough models", "bough models gpt mini", "bough models --refresh --json"))
@click.argument("words", nargs=-1, metavar="[WORDS]...")
@click.option("--refresh", is_flag=True, help="Ask the providers again; their lists are kept for a day.")
@json_option
@store_options
@click.pass_obj
def command(locator: Locator, words: tuple[str, ...], refresh: bool, as_json: bool) -> int:
    """List the models of the configured providers, with context window and price; with WORDS, those with all of them.

    The one that `bough run` would use is marked with *. Prices are US dollars for a million tokens.
    """
    found, problems = collect(locator, refresh)
    shown = [one for one in found if all(word.lower() in one.spec.lower() for word in words)]
    used = default_model(locator)
    if as_json:
        print_json([model_json(one, used) for one in shown])
    elif shown:
        print_lines(model_table(shown, used))
    for problem in problems:
        note(problem)
    if not shown and words:
        note(f"None of {len(found)} models is called {' '.join(words)!r}.")
    return 0 if shown or not problems else 1


def collect(locator: Locator, refresh: bool) -> tuple[list[ModelEntry], list[str]]:
    """The models of all configured providers, and a line about each provider that gave none."""
    from bough.providers.model_list import ModelEntry, configured, models

    tables = locator.settings().tables("providers")
    found, problems = [ModelEntry("local", "local", *local_window())], []
    for name in configured(tables):
        if name == "local":
            continue
        try:
            found += models(name, tables, refresh=refresh)
        except BoughError as error:
            problems.append(f"{name}: {error}")
    return found, problems


def local_window() -> tuple[int | None, float, float]:
    """Window and price of the embedded model."""
    from bough.providers.local import WINDOW

    return WINDOW, 0.0, 0.0


def default_model(locator: Locator) -> str:
    """The model of a new conversation."""
    from bough.providers import default

    config = locator.settings()
    return config.get("run.model") or default(os.environ, config.tables("providers"))


def model_table(found: list[ModelEntry], used: str) -> Iterator[str]:
    rows = [
        ("*" if one.spec == used else "", one.spec, f"{one.window:,}" if one.window else "", *map(price, prices(one)))
        for one in found
    ]
    return table(("", "MODEL", "WINDOW", "INPUT", "OUTPUT"), rows, right=("WINDOW", "INPUT", "OUTPUT"))


def prices(one: ModelEntry) -> tuple[float | None, float | None]:
    return one.input_price, one.output_price


def price(amount: float | None) -> str:
    return "" if amount is None else "free" if amount == 0 else f"${amount:,.2f}"


def model_json(one: ModelEntry, used: str) -> dict[str, Any]:
    return {
        "model": one.spec,
        "provider": one.provider,
        "window": one.window,
        "input_price": one.input_price,
        "output_price": one.output_price,
        "default": one.spec == used,
    }
