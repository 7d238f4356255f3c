"""A server: its address, its pool of connections, and retries when it goes away."""

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

from bough.db.postgres.errors import is_lost, is_transient, translate
from bough.db.postgres.pool import Connection, Pool
from bough.errors import Invalid

T = TypeVar("T")

DEFAULTS = {"application_name": "bough", "connect_timeout": 10, "keepalives_idle": 30, "client_encoding": "utf8"}
SLOWEST = 0.25

logging.getLogger("psycopg").addHandler(logging.NullHandler())  # our errors have the same text


class PostgresServer:
    """A PostgreSQL server and a pool of connections to it."""

    def __init__(self, url: str, connections: int, patience: float) -> None:
        self.patience = patience
        self._options = read_url(url)
        self.name = "{host}:{port}/{dbname}".format_map(
            {"host": "localhost", "port": 5432, "dbname": "", **{k: v for k, v in self._options.items() if v}}
        )
        self.pool = Pool(self.open, connections, patience)
        self.is_distributed = False
        """Whether the server is the coordinator of a Citus cluster."""

    def reconnecting(self) -> PostgresServer:
        """A copy with a pool of its own, for the child of a process fork."""
        other = copy(self)
        other.pool = Pool(self.open, self.pool.size, self.patience)
        return other

    def open(self) -> Connection:
        """Opens a connection. Integers are sent as bigint, so that the server never guesses types."""
        connection: Connection = psycopg.connect(**self._options, autocommit=True, cursor_factory=psycopg.RawCursor)
        connection.adapters.register_dumper(int, Int8BinaryDumper)
        return connection

    @contextmanager
    def translate_errors(self) -> Iterator[None]:
        """Raises the driver's errors as bough's."""
        try:
            yield
        except (psycopg.Error, UnicodeEncodeError) as error:
            if (translated := translate(self.name, error)) is not None:
                raise translated from None
            raise

    def retry(self, work: Callable[[], T]) -> T:
        """Runs work that has no effect when it fails, again while it fails with transient errors."""
        pause, deadline = 0.005, time.monotonic() + self.patience
        while True:
            try:
                return work()
            except psycopg.Error as error:
                if not is_transient(error) or time.monotonic() > deadline:
                    raise
                if is_lost(error):
                    self.pool.close_idle()
            time.sleep(uniform(0, pause))
            pause = min(pause * 2, SLOWEST)


def namespace_in(url: str) -> str | None:
    """The namespace that a URL names, as `?namespace=…`."""
    return dict(parse_qsl(urlsplit(url).query)).get("namespace")


def read_url(url: str) -> dict[str, Any]:
    """The connection options of a URL, without its namespace and with defaults. Raises `Invalid`."""
    try:
        parts = urlsplit(url)
        rest = [(name, value) for name, value in parse_qsl(parts.query) if name != "namespace"]
        return {**DEFAULTS, **conninfo_to_dict(urlunsplit(parts._replace(query=urlencode(rest))))}
    except (psycopg.ProgrammingError, ValueError) as error:
        raise Invalid(f"That is not the URL of a PostgreSQL database: {str(error).strip()}.") from None
