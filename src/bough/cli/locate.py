"""Which store: the one that is named, or the nearest."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from bough.errors import Invalid, NotFound
from bough.locations import is_server_url
from bough.model.values import value

if TYPE_CHECKING:
    from bough.config import Config
    from bough.store import Store

POINTER = ".bough"
"""The file that says which store is meant, for the directory it lies in and all below it."""


@value
class StoreLocation:
    """A store, and who says so."""

    where: str
    source: str

    @property
    def path(self) -> Path | None:
        """The file; None for a server."""
        return None if is_server_url(self.where) else Path(self.where).expanduser()


class Locator:
    """What the command line says of where things are: `--db` and `--config`."""

    def __init__(self, db: str | None = None, config: str | None = None) -> None:
        self.db = db
        self.config = config
        self._settings: Config | None = None

    def settings(self) -> Config:
        """The configuration in force. Raises `ConfigError`."""
        if self._settings is None:
            from bough.config import load

            self._settings = load(self.config, flags={"db.path": ("--db", self.db)})
        return self._settings

    def find(self) -> StoreLocation:
        """The store that is meant. Raises `Invalid` for a `.bough` file that names none, and `ConfigError`."""
        if self.db:
            return StoreLocation(self.db, "--db")
        if named := os.environ.get("BOUGH_DB"):
            return StoreLocation(named, "$BOUGH_DB")
        if pointer := nearest_pointer(Path(here())):
            return StoreLocation(read_pointer(pointer), str(pointer))
        if configured := (setting := self.settings().setting("db.path")).value:
            return StoreLocation(configured, setting.origin)
        from bough.engines import default_path

        return StoreLocation(str(default_path()), "the user's data directory")

    def store(self) -> Store:
        """Opens the store, making the file if there is none."""
        return self._open(self.find())

    def existing(self, *, missing_ok: bool = False) -> Store:
        """Opens the store to look at it; where there is none yet, an empty one that leaves no file.

        Raises `NotFound` for a file that was named and is not there, unless it may be missing.
        """
        found = self.find()
        if found.path is None or found.path.exists():
            return self._open(found)
        if self.db and not missing_ok:
            raise NotFound(f"There is no store at {self.db!r}; check the name. `bough run` makes one.")
        return self._open(StoreLocation(":memory:", found.source))

    def _open(self, found: StoreLocation) -> Store:
        from bough.engines import connect

        if found.path is not None:
            return connect(found.where)
        return connect(found.where, namespace=self.settings().get("db.namespace"))


def here() -> str:
    """The directory where the command line stands. Raises `NotFound` when it was deleted under it."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        raise NotFound("This directory was deleted; change to another one.") from None


def nearest_pointer(directory: Path) -> Path | None:
    """The `.bough` file of this directory, or of the nearest above it that has one."""
    return next((file for above in (directory, *directory.parents) if (file := above / POINTER).is_file()), None)


def read_pointer(pointer: Path) -> str:
    """The store that a `.bough` file names: one line with a path or URL, or TOML with `[db] path`."""
    text = pointer.read_text("utf-8").strip()
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if len(lines) == 1 and "=" not in lines[0]:
        named = lines[0].strip()
    else:
        import tomllib

        try:
            named = tomllib.loads(text)["db"]["path"]
        except (ValueError, LookupError, TypeError):
            named = ""
    if not isinstance(named, str) or not named:
        raise Invalid(f'{str(pointer)!r} names no store: write a path on one line, or [db] and path = "…".')
    return named if is_server_url(named) else str(pointer.parent / Path(named).expanduser())
