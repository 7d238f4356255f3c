"""A server and the connections to it: where it is, how it is reached, and what to do when it goes away."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from random import uniform
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.types.numeric import Int8BinaryDumper

from bough.db.postgres.errors import is_lost, is_passing, translation
from bough.db.postgres.pool import Connection, Pool
from bough.errors import Invalid

T = TypeVar("T")

DEFAULTS = {"application_name": "bough", "connect_timeout": 10, "keepalives_idle": 30, "client_encoding": "utf8"}
SLOWEST = 0.25

logging.getLogger("psycopg").addHandler(logging.NullHandler())  # our errors say what it would print


class Server:
    """Where the rows are. What it is asked is asked again while the answer fails for a reason that passes."""

    def __init__(self, url: str, connections: int, patience: float) -> None:
        self.patience = patience
        self._options = read_url(url)
        self.name = "{host}:{port}/{dbname}".format_map(
            {"host": "localhost", "port": 5432, "dbname": "", **{k: v for k, v in self._options.items() if v}}
        )
        self.pool = Pool(self.open, connections, patience)
        self.is_distributed = False
        """Whether rows may live on other machines than the one that is asked."""

    def anew(self) -> Server:
        """The same server with connections of its own, for a process that was forked."""
        other = copy(self)
        other.pool = Pool(self.open, self.pool.size, self.patience)
        return other

    def open(self) -> Connection:
        """A connection; whole numbers go out as what the columns are, so that types are never guessed."""
        connection: Connection = psycopg.connect(**self._options, autocommit=True, cursor_factory=psycopg.RawCursor)
        connection.adapters.register_dumper(int, Int8BinaryDumper)
        return connection

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Turns the driver's errors into bough's."""
        try:
            yield
        except (psycopg.Error, UnicodeEncodeError) as error:
            if (ours := translation(self.name, error)) is not None:
                raise ours from None
            raise

    def persist(self, work: Callable[[], T]) -> T:
        """Does what leaves no trace when it fails, again and again while it fails for a reason that passes."""
        pause, deadline = 0.005, time.monotonic() + self.patience
        while True:
            try:
                return work()
            except psycopg.Error as error:
                if not is_passing(error) or time.monotonic() > deadline:
                    raise
                if is_lost(error):
                    self.pool.forget()
            time.sleep(uniform(0, pause))
            pause = min(pause * 2, SLOWEST)


def namespace_in(url: str) -> str | None:
    """The namespace that a URL names, as `?namespace=…`."""
    return dict(parse_qsl(urlsplit(url).query)).get("namespace")


def read_url(url: str) -> dict[str, Any]:
    """What libpq makes of a URL without the namespace, and what it does not say itself. Raises `Invalid`."""
    try:
        parts = urlsplit(url)
        rest = [(name, value) for name, value in parse_qsl(parts.query) if name != "namespace"]
        return {**DEFAULTS, **conninfo_to_dict(urlunsplit(parts._replace(query=urlencode(rest))))}
    except (psycopg.ProgrammingError, ValueError) as error:
        raise Invalid(f"That is not the URL of a PostgreSQL database: {str(error).strip()}.") from None
