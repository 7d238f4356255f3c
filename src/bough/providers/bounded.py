"""Responses of bounded size and time: a server may send without end, compressed a thousandfold, or a byte at a time."""

from __future__ import annotations

import time
from collections.abc import Iterator

import httpx2

from bough.errors import ProviderError

LARGEST_ERROR = 1024 * 1024
"""Bytes of an error body that are read; the rest says nothing that a line of text could show."""
LARGEST_REPLY = 256 * 1024 * 1024
"""Bytes of a reply or of a stream, as received and as decompressed. A reply may contain images."""
LONGEST_REPLY = 3600.0
"""Seconds until the end of a reply. Signs of life without content do not prolong it."""
LONGEST_ERROR = 30.0


class Bounded(httpx2.SyncByteStream):
    """The body of a response until it is too long or takes too long; then `ProviderError`."""

    def __init__(self, name: str, stream: httpx2.SyncByteStream, seconds: float) -> None:
        self._name = name
        self._stream = stream
        self._ends_at = time.monotonic() + seconds
        self._seconds = seconds

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for chunk in self._stream:
            size += len(chunk)
            check_size(self._name, size)
            if time.monotonic() > self._ends_at:
                raise ProviderError(
                    f"{self._name} went on sending for more than {self._seconds:g} seconds; stopped.", kind="down"
                )
            yield chunk

    def close(self) -> None:
        self._stream.close()


def bound(name: str, response: httpx2.Response, seconds: float | None = None) -> None:
    """Limits the body of a response, which has not been read, to `LARGEST_REPLY` and `LONGEST_REPLY`."""
    assert isinstance(response.stream, httpx2.SyncByteStream)
    response.stream = Bounded(name, response.stream, LONGEST_REPLY if seconds is None else seconds)


def read_error(name: str, response: httpx2.Response) -> bytes:
    """The beginning of the body of an error."""
    bound(name, response, LONGEST_ERROR)
    body = b""
    try:
        for chunk in response.iter_bytes():
            body += chunk[: LARGEST_ERROR - len(body)]
            if len(body) >= LARGEST_ERROR:
                break
    except ProviderError:
        pass  # the status says enough
    return body


def read_whole(name: str, response: httpx2.Response) -> bytes:
    """The body of a reply. Raises `ProviderError` for one that is too large."""
    pieces, size = [], 0
    for chunk in response.iter_bytes():
        size += len(chunk)
        check_size(name, size)
        pieces.append(chunk)
    return b"".join(pieces)


def check_size(name: str, size: int) -> None:
    if size > LARGEST_REPLY:
        raise ProviderError(f"{name} sent more than {LARGEST_REPLY:,} bytes; stopped.", kind="other")
