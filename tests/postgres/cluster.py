"""A distributed database on the Citus cluster whose coordinator `$BOUGH_TEST_POSTGRES` names."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql

from bough.db.postgres.tenancy import distribute


def is_cluster(url: str) -> bool:
    """Whether the server is a node of a cluster."""
    with psycopg.connect(url) as admin:
        return admin.execute("SELECT FROM pg_extension WHERE extname = 'citus'").fetchone() is not None


def workers_of(url: str) -> list[str]:
    """The URLs of the workers."""
    with psycopg.connect(url) as admin:
        rows = admin.execute("SELECT nodename, nodeport FROM pg_dist_node WHERE groupid > 0 ORDER BY nodeid").fetchall()
    parts = urlsplit(url)
    who = parts.netloc.rpartition("@")[0]
    return [parts._replace(netloc=f"{who}@{name}:{port}").geturl() for name, port in rows]


@contextmanager
def distributed(coordinator: str) -> Iterator[str]:
    """The URL of a new database whose tables are distributed over all workers; skips the test without a cluster."""
    if not is_cluster(coordinator):
        pytest.skip("not tested: BOUGH_TEST_POSTGRES names no coordinator of a Citus cluster")
    with new_database(coordinator) as url:
        distribute(url)
        yield url


@contextmanager
def new_database(coordinator: str) -> Iterator[str]:
    """The URL of a new database of the cluster, with no tables."""
    nodes = [coordinator, *workers_of(coordinator)]
    name = f"cluster_{uuid4().hex}"
    urls = [urlsplit(node)._replace(path=f"/{name}").geturl() for node in nodes]
    for node, url in zip(nodes, urls, strict=True):
        with psycopg.connect(node, autocommit=True) as admin:
            admin.execute("SET citus.enable_create_database_propagation TO off")
            admin.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        with psycopg.connect(url, autocommit=True) as admin:
            admin.execute("CREATE EXTENSION citus")
    with psycopg.connect(urls[0], autocommit=True) as admin:
        places = [urlsplit(url) for url in urls]
        admin.execute("SELECT citus_set_coordinator_host(%s, %s)", [places[0].hostname, places[0].port])
        for place in places[1:]:
            admin.execute("SELECT citus_add_node(%s, %s)", [place.hostname, place.port])
    try:
        yield urls[0]
    finally:
        for node in nodes:
            threading.Thread(target=drop, args=(node, name)).start()


def drop(node: str, name: str) -> None:
    with psycopg.connect(node, autocommit=True) as admin:
        admin.execute("SET citus.enable_create_database_propagation TO off")
        admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
