"""A limit of the time until a response begins: headers may come a byte at a time, each within the limit of silence."""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import httpcore2
import httpx2

from bough.errors import ProviderError

LONGEST_HEADERS = 60.0
"""Seconds that the headers of a response may take, beyond the silence before them."""


class ReadDeadline(threading.local):
    """Until when the request of this thread may be waited for."""

    name = ""
    seconds = 0.0
    ends_at: float | None = None

    @contextmanager
    def of(self, name: str, seconds: float) -> Iterator[None]:
        """Reads of this thread raise `ProviderError` after so many seconds."""
        self.name, self.seconds, self.ends_at = name, seconds, time.monotonic() + seconds
        try:
            yield
        finally:
            self.ends_at = None

    def read(self, stream: httpcore2.NetworkStream, size: int, timeout: float | None) -> bytes:
        """Reads from a stream. Raises `ProviderError` when the time is up."""
        if self.ends_at is None:
            return stream.read(size, timeout)
        left = max(self.ends_at - time.monotonic(), 0.001)
        try:
            return stream.read(size, left if timeout is None else min(timeout, left))
        finally:
            if time.monotonic() > self.ends_at:
                raise ProviderError(
                    f"{self.name} did not begin to answer within {self.seconds:g} seconds; stopped.", kind="down"
                )


class LimitedStream(httpcore2.NetworkStream):
    """A connection whose reads end at the deadline."""

    def __init__(self, stream: httpcore2.NetworkStream, deadline: ReadDeadline) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._deadline.read(self._stream, max_bytes, timeout)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, timeout)

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        return LimitedStream(self._stream.start_tls(ssl_context, server_hostname, timeout), self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class LimitedNetwork(httpcore2.NetworkBackend):
    """The network of an HTTP client, with deadlines."""

    def __init__(self, network: httpcore2.NetworkBackend, deadline: ReadDeadline) -> None:
        self._network = network
        self._deadline = deadline

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        stream = self._network.connect_tcp(host, port, timeout, local_address, socket_options)
        return LimitedStream(stream, self._deadline)

    def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[Any] | None = None
    ) -> httpcore2.NetworkStream:
        return LimitedStream(self._network.connect_unix_socket(path, timeout, socket_options), self._deadline)

    def sleep(self, seconds: float) -> None:
        self._network.sleep(seconds)


def limited(client: httpx2.Client) -> ReadDeadline:
    """Gives a client, also through its proxies, deadlines; returns the one of each thread.

    The pool of connections takes its network as an argument that the client does not pass on.
    """
    deadline = ReadDeadline()
    for transport in (client._transport, *client._mounts.values()):
        if isinstance(transport, httpx2.HTTPTransport):
            transport._pool._network_backend = LimitedNetwork(transport._pool._network_backend, deadline)
    return deadline
