"""The way to a provider over HTTP: one client, retries with those who are busy, and the events of a stream."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from threading import Event
from typing import TYPE_CHECKING
from weakref import finalize

from bough.errors import ProviderError, ProviderTrouble
from bough.model import Json
from bough.providers import errors

if TYPE_CHECKING:
    import httpx2

MAX_TRIES = 4
BACKOFF = 0.5
"""Seconds before the second try; each further pause is twice as long."""
MAX_WAIT = 60.0
"""Whoever asks us to come back later than that is told to the user instead."""
CONNECT_TIMEOUT = 10.0
READ_TIMEOUT = 300.0
"""How many seconds a model may think without a word."""
LARGEST_EVENT = 256 * 1024 * 1024


class Retries:
    """How often one request is tried again, and how long it waits in between."""

    def __init__(self, stopped: Event) -> None:
        self._tries = MAX_TRIES
        self._stopped = stopped

    def wait(self, error: ProviderError) -> None:
        """Waits before another try. Raises the error when that is of no use."""
        self._tries -= 1
        asked = error.retry_after
        if not self._tries or not error.passing or (asked or 0) > MAX_WAIT:
            raise error
        backoff = BACKOFF * 2 ** (MAX_TRIES - self._tries - 1) * random.uniform(0.5, 1)
        if self._stopped.wait(backoff if asked is None else asked):
            raise error


class HttpConnection:
    """The way to one provider. It knows the key, and shows it to nobody else."""

    def __init__(self, name: str, base_url: str, headers: Mapping[str, str], silence: float = READ_TIMEOUT) -> None:
        import httpx2

        self.name = name
        # A bearer's token is the secret, not the word before it.
        self._secrets = [value.removeprefix("Bearer ") for value in headers.values() if len(value) >= 8]
        with self._translated():
            told = httpx2.URL(base_url)
            self._secrets += [told.password] if told.password else []
            self._url = told.copy_with(userinfo=b"")  # what is in the address is in the library's logs
            self._near = is_loopback(base_url)
            self._client = httpx2.Client(
                auth=(told.username, told.password) if told.username else None,
                headers={"User-Agent": "bough", **headers},
                timeout=httpx2.Timeout(silence, connect=CONNECT_TIMEOUT),
                trust_env=not self._near,
                verify=not self._near or told.scheme == "https",  # certificates take longer to read than a question
                follow_redirects=False,  # the key is for this address, and for no other
            )
        self.close = finalize(self, self._client.close)
        """Lets all connections go; so does the end of the program, whoever forgets it."""

    @property
    def base_url(self) -> str:
        """Where the provider is, without a user and a password."""
        return str(self._url)

    def __repr__(self) -> str:
        return f"HttpConnection({self.name!r})"

    def post(self, path: str, body: Json, retries: Retries) -> httpx2.Response:
        """A response whose body is still to come. Tries again as long as that helps; raises `ProviderError`."""
        while True:
            try:
                return self._post_once(path, body)
            except ProviderError as error:
                retries.wait(error)

    def _post_once(self, path: str, body: Json) -> httpx2.Response:
        content = json.dumps(body).encode()
        headers = {"Content-Type": "application/json", "Accept": "text/event-stream, application/json"}
        with self._translated():
            url = self._url.copy_with(path=f"{self._url.path.rstrip('/')}/{path}")
            request = self._client.build_request("POST", url, content=content, headers=headers)
            response = self._client.send(request, stream=True)
            if response.is_success:
                return response
            try:
                told = response.read()
            finally:
                response.close()
        error = errors.from_response(self.name, response.status_code, response.headers, told)
        raise errors.hide(error, self._secrets)

    def events(self, response: httpx2.Response) -> Iterator[dict[str, Json] | None]:
        """The events of a stream; None for the one that says that it is done. Raises `ProviderError`."""
        import httpx2

        # Some servers call the stream something else, or name no encoding; it is UTF-8 all the same.
        response.headers["content-type"] = "text/event-stream; charset=utf-8"
        with self._translated():
            for event in httpx2.EventSource(response, max_event_size=LARGEST_EVENT):
                if event.data.strip() == "[DONE]":
                    yield None
                    return
                if event.data.strip():
                    yield self._read(event.data)

    def whole(self, response: httpx2.Response) -> dict[str, Json]:
        """The reply of a server that does not stream. Raises `ProviderError`."""
        with self._translated():
            return self._read(response.read().decode("utf-8", "replace"))

    def _read(self, data: str) -> dict[str, Json]:
        try:
            told = json.loads(data)
        except (ValueError, RecursionError):
            told = None
        if not isinstance(told, dict):
            raise self.error(f"sent something that is not JSON: {errors.one_line(data)}")
        return told

    def error(self, what: str, *, told: Json = None) -> ProviderError:
        """Trouble that the provider reports in a stream, or that its stream is in."""
        made = errors.from_body(self.name, told) if told is not None else ProviderError(f"{self.name} {what}")
        return errors.hide(made, self._secrets)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """The errors of the HTTP library as ours."""
        import httpx2

        def made(what: str, kind: ProviderTrouble = "down", passing: bool = False) -> ProviderError:
            error = ProviderError(f"{self.name} {what}", kind=kind, passing=passing)
            return errors.hide(error, self._secrets)

        try:
            yield
        except (httpx2.UnsupportedProtocol, httpx2.InvalidURL) as error:
            raise made(f"has an address that makes no sense ({error}); mend its base_url.", "other") from None
        except httpx2.ConnectError as error:
            # Who is not there on our own machine will not be there in a second.
            hint = "; is it running?" if self._near else f" ({error})."
            raise made(f"cannot be reached at {self._url}{hint}", passing=not self._near) from None
        except httpx2.ReadTimeout:
            raise made("has been silent for too long.") from None
        except httpx2.TransportError as error:
            raise made(f"lost the connection ({error or type(error).__name__}).", passing=True) from None
        except httpx2.HTTPError as error:
            raise made(f"cannot be asked ({error}).", "other") from None


def interrupt(response: httpx2.Response) -> None:
    """Ends a response that another thread may be waiting for: that thread wakes up."""
    import socket

    stream = response.extensions.get("network_stream")
    held = stream.get_extra_info("socket") if stream is not None and not response.is_closed else None
    if held is not None:
        with suppress(OSError):
            held.shutdown(socket.SHUT_RDWR)


def is_loopback(url: str) -> bool:
    """Whether an address is on this machine, where no proxy leads."""
    import httpx2

    host = httpx2.URL(url).host
    return host in ("localhost", "::1") or host.startswith("127.")
