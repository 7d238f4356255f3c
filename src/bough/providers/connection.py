"""HTTP connection to a provider: one client, retries, and the events of a stream."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from threading import Event
from typing import TYPE_CHECKING
from weakref import finalize

from bough.errors import ProviderError, ProviderErrorKind
from bough.locations import is_loopback
from bough.model import Json
from bough.providers import errors

if TYPE_CHECKING:
    import httpx2

MAX_TRIES = 4
BACKOFF = 0.5
"""Seconds before the second try; doubled for each further try."""
MAX_WAIT = 60.0
"""Seconds. A longer `Retry-After` is raised as an error instead."""
CONNECT_TIMEOUT = 10.0
READ_TIMEOUT = 300.0
"""Seconds that a model may think without sending anything."""
LARGEST_EVENT = 256 * 1024 * 1024
"""Bytes; an event may contain an image, but an endless line must not fill the memory."""


class Retries:
    """Remaining tries of one request, and the pauses between them."""

    def __init__(self, stopped: Event) -> None:
        self._tries = MAX_TRIES
        self._stopped = stopped

    def wait(self, error: ProviderError) -> None:
        """Wait before the next try. Raises the error if no retry is left, useful or wanted."""
        self._tries -= 1
        requested = error.retry_after
        if not self._tries or not error.passing or (requested or 0) > MAX_WAIT:
            raise error
        # Random, so that clients that failed together do not retry together.
        backoff = BACKOFF * 2 ** (MAX_TRIES - self._tries - 1) * random.uniform(0.5, 1)
        if self._stopped.wait(backoff if requested is None else requested):
            raise error


class HttpConnection:
    """The HTTP client of one provider. The key is sent to this address only, and masked in errors."""

    def __init__(self, name: str, base_url: str, headers: Mapping[str, str], silence: float = READ_TIMEOUT) -> None:
        import httpx2

        from bough.providers.deadline import limited

        self.name = name
        self._silence = silence
        # Only the token is secret, not the prefix. A shorter value is no key, and masking it would garble errors.
        self._secrets = [value.removeprefix("Bearer ") for value in headers.values() if len(value) >= 8]
        with self._translate_errors():
            url = httpx2.URL(base_url)
            self._secrets += [url.password] if url.password else []
            self._url = url.copy_with(userinfo=b"")  # the HTTP library logs the address
            self._is_local = is_loopback(base_url)
            self._client = httpx2.Client(
                auth=(url.username, url.password) if url.username else None,
                headers={"User-Agent": "bough", **headers},
                timeout=httpx2.Timeout(silence, connect=CONNECT_TIMEOUT),
                trust_env=not self._is_local,  # a proxy cannot reach this machine
                verify=not self._is_local or url.scheme == "https",  # loading certificates is slow
                follow_redirects=False,  # the key must not be sent to another address
            )
            self._deadline = limited(self._client)
        self.close = finalize(self, self._client.close)
        """Close all connections. Also called at garbage collection and at the end of the program."""

    @property
    def base_url(self) -> str:
        """The address, without user and password."""
        return str(self._url)

    def __repr__(self) -> str:
        return f"HttpConnection({self.name!r})"

    def post(self, path: str, body: Json, retries: Retries) -> httpx2.Response:
        """Send a request; return the response before its body is read. Retries, then raises `ProviderError`."""
        while True:
            try:
                return self._post_once(path, body)
            except ProviderError as error:
                retries.wait(error)

    def _post_once(self, path: str, body: Json) -> httpx2.Response:
        from bough.providers.bounded import bound, read_error

        content = json.dumps(body).encode()
        headers = {"Content-Type": "application/json", "Accept": "text/event-stream, application/json"}
        with self._translate_errors():
            url = self._url.copy_with(path=f"{self._url.path.rstrip('/')}/{path}")
            request = self._client.build_request("POST", url, content=content, headers=headers)
            response = self._begin(request)
            if response.is_success:
                bound(self.name, response)
                return response
            try:
                error_body = read_error(self.name, response)
            finally:
                response.close()
        error = errors.from_response(self.name, response.status_code, response.headers, error_body)
        raise errors.hide(error, self._secrets)

    def _begin(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; return the response when its headers are complete."""
        from bough.providers import deadline

        with self._deadline.of(self.name, self._silence + deadline.LONGEST_HEADERS):
            return self._client.send(request, stream=True)

    def get(self, path: str, query: Mapping[str, str]) -> Json:
        """The JSON at a path; asked once. Raises `ProviderError`."""
        from bough.providers.bounded import LONGEST_ERROR, bound, read_error, read_whole

        with self._translate_errors():
            url = self._url.copy_with(path=f"{self._url.path.rstrip('/')}/{path}")
            request = self._client.build_request("GET", url, params=query or None)
            response = self._begin(request)
            try:
                if not response.is_success:
                    body = read_error(self.name, response)
                else:
                    bound(self.name, response, LONGEST_ERROR)
                    body = read_whole(self.name, response)
            finally:
                response.close()
        if not response.is_success:
            raise errors.hide(
                errors.from_response(self.name, response.status_code, response.headers, body), self._secrets
            )
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            raise ProviderError(f"{self.name} answered {path} with something else than JSON.") from None

    def events(self, response: httpx2.Response) -> Iterator[dict[str, Json] | None]:
        """The events of a stream; None for `[DONE]`. Raises `ProviderError`."""
        import httpx2

        from bough.providers.bounded import check_size

        # Some servers send another content type, or no encoding; the stream is UTF-8 nevertheless.
        response.headers["content-type"] = "text/event-stream; charset=utf-8"
        size = 0
        with self._translate_errors():
            for event in httpx2.EventSource(response, max_event_size=LARGEST_EVENT):
                size += len(event.data)  # decompressed
                check_size(self.name, size)
                if event.data.strip() == "[DONE]":
                    yield None
                    return
                if event.data.strip():
                    yield self._read(event.data)

    def lines(self, response: httpx2.Response) -> Iterator[dict[str, Json]]:
        """The objects of a stream with one per line. Raises `ProviderError`."""
        from bough.providers.bounded import check_size

        size, rest = 0, b""
        with self._translate_errors():
            for piece in response.iter_bytes():
                size += len(piece)
                check_size(self.name, size)
                *whole, rest = (rest + piece).split(b"\n")
                yield from (self._read(line.decode("utf-8", "replace")) for line in whole if line.strip())
            if rest.strip():
                yield self._read(rest.decode("utf-8", "replace"))

    def whole(self, response: httpx2.Response) -> dict[str, Json]:
        """The body of a response that is not a stream. Raises `ProviderError`."""
        from bough.providers.bounded import read_whole

        with self._translate_errors():
            return self._read(read_whole(self.name, response).decode("utf-8", "replace"))

    def _read(self, data: str) -> dict[str, Json]:
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise self.error(f"sent something that is not JSON: {errors.one_line(data)}")
        return value

    def error(self, what: str, *, reported: Json = None) -> ProviderError:
        """An error that the provider reports (`reported`), or an error of its stream."""
        made = errors.from_body(self.name, reported) if reported is not None else ProviderError(f"{self.name} {what}")
        return errors.hide(made, self._secrets)

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Convert errors of the HTTP library to `ProviderError`."""
        import httpx2

        def made(what: str, kind: ProviderErrorKind = "down", passing: bool = False) -> ProviderError:
            error = ProviderError(f"{self.name} {what}", kind=kind, passing=passing)
            return errors.hide(error, self._secrets)

        try:
            yield
        except (httpx2.UnsupportedProtocol, httpx2.InvalidURL) as error:
            raise made(f"has an invalid address ({error}); correct its base_url.", "other") from None
        except httpx2.ConnectError as error:
            # A local server that does not listen will not start within a second, so there is no retry.
            hint = "; is it running?" if self._is_local else f" ({error})."
            raise made(f"cannot be reached at {self._url}{hint}", passing=not self._is_local) from None
        except httpx2.ReadTimeout:
            raise made("has been silent for too long.") from None
        except httpx2.TransportError as error:
            raise made(f"lost the connection ({error or type(error).__name__}).", passing=True) from None
        except httpx2.HTTPError as error:
            raise made(f"cannot be asked ({error}).", "other") from None


def interrupt(response: httpx2.Response) -> None:
    """Shut down the socket of a response, which wakes up a thread that is reading from it."""
    import socket

    stream = response.extensions.get("network_stream")
    held = stream.get_extra_info("socket") if stream is not None and not response.is_closed else None
    if held is not None:
        with suppress(OSError):  # the server has closed it already
            held.shutdown(socket.SHUT_RDWR)
