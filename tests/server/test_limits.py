"""A client cannot make the server hold or wait for much."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.server.serving import Serving, serving


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    config = "[server]\nmax_body = 1000\nheader_seconds = 0.5\nread_seconds = 0.5\n"
    with serving(tmp_path_factory.mktemp("small"), config=config) as running:
        yield running


def raw(server: Serving, data: bytes, wait: float = 10) -> bytes:
    """What the server answers to bytes, until it closes the connection."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=wait) as connection:
        connection.sendall(data)
        answer = b""
        with suppress(ConnectionResetError):  # the rest of what was sent was not read
            while chunk := connection.recv(65_536):
                answer += chunk
        return answer


def request(server: Serving, *lines: str) -> bytes:
    head = ["POST /signin HTTP/1.1", "Host: localhost", "Connection: close", *lines]
    return ("\r\n".join(head) + "\r\n\r\n").encode()


def test_a_body_that_says_it_is_too_large_is_refused_unread(small: Serving) -> None:
    assert raw(small, request(small, "Content-Length: 1001")).startswith(b"HTTP/1.1 413")


def test_a_body_that_grows_too_large_is_refused(small: Serving) -> None:
    head = request(small, "Transfer-Encoding: chunked", "Content-Type: application/x-www-form-urlencoded")
    assert raw(small, head + b"400\r\n" + b"a" * 1024 + b"\r\n").startswith(b"HTTP/1.1 413")


def test_a_body_that_stalls_is_given_up(small: Serving) -> None:
    started = time.monotonic()
    head = request(small, "Content-Length: 100", "Content-Type: application/x-www-form-urlencoded")
    assert raw(small, head + b"a=").startswith(b"HTTP/1.1 408")
    assert time.monotonic() - started < 8


def test_headers_that_stall_are_given_up(small: Serving) -> None:
    started = time.monotonic()
    assert raw(small, b"GET / HTTP/1.1\r\nHost: loc") == b""
    assert time.monotonic() - started < 8


def test_endless_headers_are_refused(small: Serving) -> None:
    started = time.monotonic()
    assert raw(small, b"GET / HTTP/1.1\r\nX: " + b"a" * 200_000)[:12] in (b"HTTP/1.1 400", b"")
    assert time.monotonic() - started < 8


def test_the_server_goes_on_after_all_of_that(small: Serving) -> None:
    with small.client() as client:
        assert client.get("/readyz").text == "ready\n"


def test_sigterm_ends_the_server_at_once_when_nothing_runs(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        started = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - started < 5
        assert server.errors() == ""


def test_a_port_that_is_taken_is_an_error_with_a_way_out(tmp_path: Path) -> None:
    with (
        serving(tmp_path) as server,
        pytest.raises(AssertionError, match=r"--port N"),
        serving(tmp_path / "b", "--port", str(server.port)),
    ):
        pass
