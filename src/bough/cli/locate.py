"""Locate the store and the configuration that a command uses."""

from __future__ import annotations

import os
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import click

from bough.cli import pointers
from bough.cli.output.console import note
from bough.errors import NotFound
from bough.locations import is_server_url, without_password
from bough.model.values import value

if TYPE_CHECKING:
    from bough.config import Config
    from bough.model import Message
    from bough.redact import Redactor
    from bough.store import Store


@value
class StoreLocation:
    """A store's file or URL, and the flag, variable or file that names it."""

    where: str
    source: str

    @property
    def path(self) -> Path | None:
        """The file; None for a server."""
        return None if is_server_url(self.where) else Path(self.where).expanduser()

    @property
    def shown(self) -> str:
        """The file, or the URL without its password."""
        return without_password(self.where)


class Locator:
    """Finds and opens the store and the configuration, from `--db` and `--config`."""

    def __init__(self, db: str | None = None, config: str | None = None) -> None:
        self.db = db
        self.config = config
        self._settings: Config | None = None
        self._redactor: Redactor | None = None
        self.passed_over: list[Path] = []
        """The `.bough` files that `find` did not use, because the user has not allowed them."""

    def settings(self) -> Config:
        """The configuration, loaded once. Raises `ConfigError`."""
        if self._settings is None:
            from bough.config import load

            self._settings = load(self.config, flags={"db.path": ("--db", self.db)})
        return self._settings

    def find(self) -> StoreLocation:
        """The store to use. Raises `ConfigError`, and `Invalid` for a damaged list of allowed `.bough` files."""
        if self.db:
            return StoreLocation(self.db, "--db")
        if named := os.environ.get("BOUGH_DB"):
            return StoreLocation(named, "$BOUGH_DB")
        if pointed := self._pointed_to():
            return pointed
        if configured := (setting := self.settings().setting("db.path")).value:
            return StoreLocation(configured, setting.origin)
        from bough.engines import default_path

        return StoreLocation(str(default_path()), "the user's data directory")

    def _pointed_to(self) -> StoreLocation | None:
        """The store of the nearest `.bough` file that may be used; others are reported once."""
        for pointer in pointers.nearest_pointers(Path(working_directory())):
            try:
                content = pointers.read(pointer)
            except NotFound:  # of another user: it cannot be this user's
                content = b""
            if pointers.is_allowed(pointer, content):
                return StoreLocation(pointers.store_named_by(pointer, content), str(pointer))
            self._pass_over(pointer)
        return None

    def _pass_over(self, pointer: Path) -> None:
        if pointer in self.passed_over:
            return
        self.passed_over.append(pointer)
        if len(self.passed_over) == 1 and "_BOUGH_COMPLETE" not in os.environ:
            allow = f"bough db allow {quote(str(pointer))}"
            note(f"{pointer} was passed over: it is new here, or has changed. `{allow}` if it is yours.")

    def store(self) -> Store:
        """Open the store; create its file if there is none. Raises what `bough.connect` raises."""
        return self._open(self.find())

    def open_namespace(self, namespace: str | None) -> Store:
        """Open a namespace of the store, for a server; None is the one that this command line names."""
        found = self.find()
        if namespace is not None and found.path is None:  # the namespace in the URL is this command line's own
            found = StoreLocation(without_namespace(found.where), found.source)
        return self._open(found, namespace)

    def existing(self, *, missing_ok: bool = False) -> Store:
        """Open the store without creating a file: where there is none, an empty store in memory.

        Raises `NotFound` for a missing file that `--db` names, unless `missing_ok`, and what `bough.connect` raises.
        """
        found = self.find()
        if found.path is None or found.path.exists():
            return self._open(found)
        if self.db and not missing_ok:
            raise NotFound(f"There is no store at {self.db!r}; check the name. `bough run` creates one.")
        return self._open(StoreLocation(":memory:", found.source))

    def _open(self, found: StoreLocation, namespace: str | None = None) -> Store:
        from bough.engines import connect

        if context := click.get_current_context(silent=True):
            context.call_on_close(self._report_redacted)
        if found.path is not None:
            return connect(found.where, namespace=namespace, before_save=self._redact)
        named = namespace or self.settings().get("db.namespace")
        return connect(found.where, namespace=named, before_save=self._redact)

    def _redact(self, message: Message) -> Message:
        """The message to store. The configuration is read for the first one: commands that only read do without."""
        if not self.settings().get("privacy.redact"):
            return message
        if self._redactor is None:
            from bough.redact import Redactor

            self._redactor = Redactor()
        return self._redactor(message)

    def _report_redacted(self) -> None:
        """Write the kinds of secrets that were replaced; not how many, because a message may be seen several times."""
        if self._redactor is not None and self._redactor.found:
            note(f"Secrets were replaced before saving: {', '.join(sorted(self._redactor.found))}.")
            self._redactor.found.clear()


def working_directory() -> str:
    """The working directory. Raises `NotFound` when it was deleted."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        raise NotFound("The working directory was deleted; change to another one.") from None


def without_namespace(url: str) -> str:
    """The URL of a server without the namespace in it."""
    from urllib.parse import parse_qsl, urlencode, urlsplit
    from urllib.parse import quote as percent

    parts = urlsplit(url)
    options = [(name, one) for name, one in parse_qsl(parts.query, keep_blank_values=True) if name != "namespace"]
    return parts._replace(query=urlencode(options, quote_via=percent)).geturl()
