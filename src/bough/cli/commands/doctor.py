"""`bough doctor`: check the installation, and say how to fix what is wrong."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Literal, TypeAlias

import click

from bough.cli.locate import Locator, StoreLocation
from bough.cli.options import examples, json_option, store_options
from bough.cli.output.console import print_json, styled
from bough.cli.output.text import one_line, pluralize
from bough.errors import BoughError
from bough.model.values import value

if TYPE_CHECKING:
    from bough.channels.settings import ChannelSettings

Verdict: TypeAlias = Literal["ok", "hint", "bad"]
SIGNS: dict[Verdict, tuple[str, str]] = {"ok": ("✓", "green"), "hint": ("•", "yellow"), "bad": ("✗", "red")}
MIN_FREE = 200_000_000
"""Bytes that should be free on the disk."""
EXTRAS = {
    "httpx2": "run",
    "xllamacpp": "local",
    "mcp": "mcp",
    "psycopg": "postgres",
    "starlette": "server",
    "discord": "discord",
}


@value
class Check:
    """Result of one check."""

    name: str
    verdict: Verdict
    detail: str


@click.command("doctor", epilog=examples("bough doctor", "bough doctor --json"))
@json_option
@store_options
@click.pass_obj
def command(locator: Locator, as_json: bool) -> int:
    """Check the store, the disk, the configuration, keys and models. Changes nothing, and shows no key."""
    functions = (versions, store, settings, keys, model, channels, extras)
    checks = [check for function in functions for check in run(function, locator)]
    unique = {(one.verdict, one.detail): one for one in reversed(checks)}  # one cause may fail several checks
    found = list(reversed(unique.values()))
    if as_json:
        print_json([{"name": one.name, "verdict": one.verdict, "detail": one.detail} for one in found])
    for one in found if not as_json else ():
        sign, colour = SIGNS[one.verdict]
        click.echo(f"{styled(sign, colour)} {one.name:<14} {one_line(one.detail)}")
    return 1 if any(one.verdict == "bad" for one in found) else 0


def run(function: Callable[[Locator], Iterator[Check]], locator: Locator) -> Iterator[Check]:
    """The results of a check; an error that it raises is a failed check."""
    try:
        yield from function(locator)
    except (BoughError, OSError) as error:
        yield Check(function.__name__, "bad", str(error))


def versions(_: Locator) -> Iterator[Check]:
    import apsw

    import bough
    from bough.db.sqlite.opening import wal_is_safe

    yield Check("bough", "ok", f"{bough.__version__}, Python {sys.version.split()[0]}")
    version = apsw.sqlite_lib_version()
    if wal_is_safe(version):
        yield Check("SQLite", "ok", f"{version}: safe in WAL mode")
    else:
        yield Check("SQLite", "hint", f"{version} can lose transactions in WAL mode; bough avoids it. Upgrade apsw.")


def store(locator: Locator) -> Iterator[Check]:
    found = locator.find()
    for pointer in locator.passed_over:
        yield Check(
            "pointer", "hint", f"{pointer} was passed over: `bough db allow {quote(str(pointer))}` if it is yours"
        )
    if found.path is None:
        yield from server(locator)
        return
    yield Check("store", "ok", f"{found.where} (from {found.source})")
    if found.path.is_dir():
        yield Check("file", "bad", "it is a directory; name a file in it")
    elif not found.path.exists():
        yield missing(found.path)
    else:
        yield from file(locator, found)
    yield from disk(found)


def missing(path: Path) -> Check:
    """The check of a file that does not exist: whether it can be created."""
    above = next(one for one in path.absolute().parents if one.exists())
    if above.is_dir() and os.access(above, os.W_OK):
        return Check("file", "hint", "does not exist yet; the first conversation creates it")
    return Check("file", "bad", f"it cannot be created: {above} is not writable. Choose another path with --db")


def server(locator: Locator) -> Iterator[Check]:
    with locator.store() as opened:
        size = opened.size()
    yield Check(
        "store", "ok", f"a server, with {pluralize(size.messages, 'message')} in {pluralize(size.sessions, 'session')}"
    )


def file(locator: Locator, found: StoreLocation) -> Iterator[Check]:
    path = str(found.path)
    mode = stat.S_IMODE(os.stat(path).st_mode)
    if mode & 0o077 and os.name == "posix":
        yield Check("permissions", "bad", f"readable by other users ({mode:o}): chmod 600 {path}")
    if not (os.access(path, os.W_OK) and os.access(os.path.dirname(path) or ".", os.W_OK)):
        yield Check("permissions", "hint", "the file or its directory is not writable: the store is read-only")
    with locator.store() as opened:
        size, problems = opened.size(), opened.db.check()
    content = (
        f"{pluralize(size.messages, 'message')}, {pluralize(size.sessions, 'session')}, {os.path.getsize(path):,} bytes"
    )
    yield Check("file", "bad" if problems else "ok", f"{problems[0]} (bough db verify)" if problems else content)


def disk(found: StoreLocation) -> Iterator[Check]:
    from bough.db.sqlite.files import is_network

    directory = os.path.dirname(os.path.abspath(str(found.path)))
    while not os.path.isdir(directory):
        directory = os.path.dirname(directory)
    if is_network(os.path.join(directory, "x")):
        yield Check(
            "file system", "bad", "a network file system: SQLite is not safe on it. Use a local disk or a server."
        )
    free = shutil.disk_usage(directory).free
    yield Check("disk", "ok" if free > MIN_FREE else "bad", f"{free // 1_000_000:,} MB free")


def settings(locator: Locator) -> Iterator[Check]:
    config = locator.settings()
    if config.path.is_file():
        yield Check("configuration", "ok", str(config.path))
    else:
        yield Check("configuration", "hint", f"none ({config.path}); none is required. `bough config edit` creates it.")


def keys(locator: Locator) -> Iterator[Check]:
    """The API keys that are set, by the names of their variables."""
    from bough.providers.catalog import SERVICES

    tables = locator.settings().tables("providers")
    usual = {service.key_env for service in SERVICES.values() if service.key_env}
    named = {table["api_key_env"] for table in tables.values() if "api_key_env" in table}
    present = sorted(name for name in usual | named if os.environ.get(name))
    missing = sorted(name for name in named if not os.environ.get(name))
    if present:
        yield Check("keys", "ok", ", ".join(present))
    if missing:
        yield Check("keys", "hint", f"in the configuration but not set: {', '.join(missing)}")
    if not present and not missing:
        yield Check("keys", "hint", "none is set; the local model needs none")


def model(locator: Locator) -> Iterator[Check]:
    """The model that `bough run` would use, and whether it is usable."""
    from bough.errors import ProviderError
    from bough.providers import default, find

    config = locator.settings()
    tables = config.tables("providers")
    spec = config.get("run.model") or default(os.environ, tables)
    try:
        find(spec, tables).close()
    except ProviderError as error:
        yield Check("model", "hint", f"{spec}: {error}")
    else:
        yield Check("model", "ok", spec)


def channels(locator: Locator) -> Iterator[Check]:
    """The channels of the configuration: whether they can run, do run, and have something left to answer."""
    from bough.channels.services import token_of
    from bough.channels.settings import ChannelSettings

    config, found = locator.settings(), locator.find()
    for name in config.names("channels"):
        settings = ChannelSettings.of(config, name)
        try:
            token_of(settings)
        except BoughError as error:
            yield Check(name, "bad", str(error))
            continue
        if found.path is None or found.path.is_file():
            yield from channel(locator, settings)


def channel(locator: Locator, settings: ChannelSettings) -> Iterator[Check]:
    from bough.channels.inbox import Inbox
    from bough.channels.leadership import Leadership
    from bough.channels.members import Members

    name, allowed = settings.name, len(settings.allow)
    with locator.store() as opened:
        waiting, admitted = len(Inbox(opened, name).open()), len(Members(opened, name).admitted())
        state = "running" if Leadership(opened, name).is_taken() else "not running"
    if not allowed and not admitted:
        yield Check(name, "hint", f"nobody may talk to it: set allow, or bough bot {name} --pair")
    let_in = f"{allowed} on the list, {admitted} let in with codes"
    yield Check(name, "ok", f"{state}; {pluralize(waiting, 'event')} are open, {let_in}")


def extras(_: Locator) -> Iterator[Check]:
    missing = sorted({extra for module, extra in EXTRAS.items() if find_spec(module) is None})
    if missing:
        yield Check("extras", "hint", f"not installed: {', '.join(missing)} (pip install 'bough[NAME]')")
    else:
        yield Check("extras", "ok", "all are installed")
