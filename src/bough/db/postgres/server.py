"""A server: its address, its pool of connections, and retries when it goes away."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from random import uniform
from typing import Any, TypeVar
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.types.numeric import Int8BinaryDumper

from bough.db.postgres.errors import is_lost, is_transient, translate
from bough.db.postgres.naming import SCHEMA, check_schema, statements
from bough.db.postgres.pool import Connection, Pool
from bough.errors import Invalid

T = TypeVar("T")

DEFAULTS = {"application_name": "bough", "connect_timeout": 10, "keepalives_idle": 30, "client_encoding": "utf8"}
OURS = ("namespace", "schema", "prepared_statements")
"""The options of a URL that are not the driver's."""
SWITCH = {"on": True, "yes": True, "true": True, "1": True, "off": False, "no": False, "false": False, "0": False}
SLOWEST = 0.25

logging.getLogger("psycopg").addHandler(logging.NullHandler())  # our errors have the same text


class PostgresServer:
    """A PostgreSQL server and a pool of connections to it."""

    def __init__(self, url: str, connections: int, patience: float) -> None:
        self.patience = patience
        self._options = read_url(url)
        own = own_options(url)
        self.schema = check_schema(own.get("schema", SCHEMA))
        self.statements = statements(self.schema)
        self._prepares = prepares(own.get("prepared_statements", "on"))
        self.name = "{host}:{port}/{dbname}".format_map(
            {"host": "localhost", "port": 5432, "dbname": "", **{k: v for k, v in self._options.items() if v}}
        )
        self.pool = Pool(self.open, connections, patience)
        self.is_distributed = False
        """Whether the server is a node of a Citus cluster."""
        self.durability = "on"
        """The `synchronous_commit` of the server, or `on` where that is off."""
        self.read_only = False
        """Whether the connection that was opened last takes no writes, as a standby does not."""

    def reconnecting(self) -> PostgresServer:
        """A copy with a pool of its own, for the child of a process fork."""
        other = copy(self)
        other.pool = Pool(self.open, self.pool.size, self.patience)
        return other

    def open(self) -> Connection:
        """Opens a connection. Integers are sent as bigint, so that the server never guesses types."""
        connection: Connection = Connection.connect(**self._options, autocommit=True, cursor_factory=psycopg.RawCursor)
        connection.adapters.register_dumper(int, Int8BinaryDumper)
        connection.schema = self.schema
        if not self._prepares:
            connection.prepare_threshold = None
        self.read_only = takes_no_writes(connection)
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


def takes_no_writes(connection: Connection) -> bool:
    """Whether a server says that it is a standby, or reads only."""
    told = [connection.info.parameter_status(name) for name in ("in_hot_standby", "default_transaction_read_only")]
    if None not in told:
        return "on" in told
    row = connection.execute("SHOW transaction_read_only").fetchone()  # a pooler does not pass it on
    return row == ("on",)


def own_options(url: str) -> dict[str, str]:
    """The options of a URL that are bough's own. Raises `Invalid` for what is not a URL."""
    try:
        return {name: value for name, value in parse_qsl(urlsplit(url).query) if name in OURS}
    except ValueError as error:
        raise not_a_url(error) from None


def prepares(switch: str) -> bool:
    """Whether `prepared_statements=…` wants them. Raises `Invalid`."""
    if switch.lower() not in SWITCH:
        raise Invalid(f"prepared_statements is on or off, not {switch!r:.40}.")
    return SWITCH[switch.lower()]


def read_url(url: str) -> dict[str, Any]:
    """The driver's options in a URL, with defaults. Raises `Invalid`."""
    try:
        parts = urlsplit(url)
        rest = urlencode([(name, value) for name, value in parse_qsl(parts.query) if name not in OURS], quote_via=quote)
        return {**DEFAULTS, **conninfo_to_dict(urlunsplit(parts._replace(query=rest)))}
    except (psycopg.ProgrammingError, ValueError) as error:
        raise not_a_url(error) from None


def not_a_url(error: Exception) -> Invalid:
    return Invalid(f"That is not the URL of a PostgreSQL database: {str(error).strip()}.")
