"""What the routes of a server share."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from starlette.requests import Request

from bough.server.api.state import ApiState
from bough.server.running import Running

if TYPE_CHECKING:
    import httpx2

    from bough.config import Config
    from bough.runtime.agents import Runtime
    from bough.server.access.cookies import Cookies
    from bough.server.models import Models
    from bough.server.observe import Metrics
    from bough.server.settings import ServerSettings
    from bough.server.stores import ServedStore, Stores


class ServerContext:
    """The settings, stores and models of one server."""

    def __init__(
        self, settings: ServerSettings, config: Config, stores: Stores, models: Models, runtime: Runtime,
        metrics: Metrics, cookies: Cookies | None,
    ) -> None:  # fmt: skip
        self.settings = settings
        self.config = config
        self.stores = stores
        self.models = models
        self.runtime = runtime
        self.metrics = metrics
        self.cookies = cookies
        self.responses = Running()
        self.api = ApiState()
        self._forwarding: httpx2.AsyncClient | None = None
        self.stopping = asyncio.Event()
        """Set when the server was asked to stop: endless streams end then."""

    @property
    def forwarding(self) -> httpx2.AsyncClient:
        """The HTTP client of the recording proxy, made when it is first used."""
        if self._forwarding is None:
            import httpx2

            self._forwarding = httpx2.AsyncClient(timeout=httpx2.Timeout(600.0, connect=10.0), follow_redirects=False)
        return self._forwarding

    async def close(self) -> None:
        """End what is running, and close all connections and stores."""
        await self.responses.stop(self.settings.grace_seconds)
        await self.api.close()
        if self._forwarding is not None:
            await self._forwarding.aclose()
        self.models.close()
        await self.stores.close()


def context_of(request: Request) -> ServerContext:
    """The context of the server that got a request."""
    context: ServerContext = request.app.state.context
    return context


def store_of(request: Request) -> ServedStore:
    """The store that the caller's token opens."""
    store: ServedStore = request.state.store
    return store
