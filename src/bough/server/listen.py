"""Run the application with uvicorn: where it listens, how long it waits for a client, how it stops."""

from __future__ import annotations

import asyncio
import os
import socket
import stat
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING, Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from bough.errors import Refused
from bough.model.values import replace
from bough.server.app import build

if TYPE_CHECKING:
    from bough.server.context import ServerContext
    from bough.server.settings import ServerSettings

KEEP_ALIVE = 30
MAX_HEADERS = 65_536
BACKLOG = 512


def serve(context: ServerContext, listening: socket.socket, ready: Callable[[], None]) -> None:
    """Serve until a signal to stop, or Ctrl+C; `ready` is called when requests are accepted.

    After the signal no connection is accepted, and streams have `grace_seconds` to end.
    """
    settings = context.settings
    config = uvicorn.Config(
        build(context), http=header_timeout(settings.header_seconds), loop="asyncio", ws="none", lifespan="on",
        log_config=None, log_level="critical", access_log=False, server_header=False,
        proxy_headers=settings.behind_proxy, forwarded_allow_ips="*" if settings.behind_proxy else None,
        ssl_certfile=settings.certificate, ssl_keyfile=settings.key,
        timeout_keep_alive=KEEP_ALIVE, timeout_graceful_shutdown=max(1, round(settings.grace_seconds)),
        limit_concurrency=settings.max_connections, h11_max_incomplete_event_size=MAX_HEADERS,
    )  # fmt: skip
    with listening:
        HttpServer(config, context, ready).run(sockets=[listening])


class HttpServer(uvicorn.Server):
    """A server that says when it is ready and when it stops."""

    def __init__(self, config: uvicorn.Config, context: ServerContext, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._context = context
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await self._context.stores.home()  # a store that cannot be opened is an error before anybody connects
        await super().startup(sockets)
        if self.started:
            self._ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._context.stopping.set()
        super().handle_exit(sig, frame)
        self._captured_signals.clear()  # else uvicorn would raise it again at the end: this stop was asked for


def header_timeout(seconds: float) -> type[asyncio.Protocol]:
    """uvicorn's protocol with a limit on the time that a request's headers may take, which it has not."""

    class TimedProtocol(H11Protocol):
        _timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._timer = self.loop.call_later(seconds, self._give_up)

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_timer()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.cycle is not None:  # the headers are complete; uvicorn limits the wait for the next request
                self._stop_timer()

        def _give_up(self) -> None:
            if not self.transport.is_closing():
                self.transport.close()

        def _stop_timer(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

    return TimedProtocol


def bind(settings: ServerSettings) -> tuple[socket.socket, ServerSettings]:
    """A listening socket, and the settings with the port that was chosen for port 0. Raises `Refused`."""
    if settings.socket_path is not None:
        return bind_unix(settings.socket_path), settings
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # Only where the protocol is named does asyncio send small pieces at once; else a client waits 40 ms for the second.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.host, settings.port))
    except OSError as error:
        listening.close()
        hint = "is another bough serving there? --port N uses another one" if error.errno == 98 else "choose another"
        raise Refused(f"{settings.host}:{settings.port} cannot be used: {error.strerror}; {hint}.") from None
    listening.listen(BACKLOG)
    return listening, replace(settings, port=listening.getsockname()[1])


def bind_unix(path: str) -> socket.socket:
    """A Unix socket that only this user can connect to. A socket that nobody listens on is replaced."""
    with suppress(FileNotFoundError):
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            raise Refused(f"{path} exists and is no socket; nothing was changed. Name another path.")
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            if probe.connect_ex(path) == 0:
                raise Refused(f"Another program listens on {path}.")
        os.unlink(path)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    former = os.umask(0o177)
    try:
        listening.bind(path)
    except OSError as error:
        listening.close()
        raise Refused(f"{path} cannot be used: {error.strerror}.") from None
    finally:
        os.umask(former)
    listening.listen(BACKLOG)
    return listening
