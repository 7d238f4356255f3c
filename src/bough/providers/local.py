"""The embedded model: llama.cpp in this process, without key and network.

llama.cpp runs its own HTTP server on the loopback interface, so that closing the connection stops a reply at any time.
The server has a key that only this process knows, so that no other user of the machine and no web page can use it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any
from weakref import WeakValueDictionary

from bough import prices
from bough.errors import ProviderError
from bough.model import Json
from bough.providers import model_file
from bough.providers.connection import READ_TIMEOUT, HttpConnection
from bough.providers.http_provider import HttpAnswer, HttpProvider
from bough.providers.openai import ChatApi
from bough.providers.types import Tool

_PACKAGES = ("xllamacpp", "httpx2")
WINDOW = 4096
MAX_TOKENS = 1024
"""Default token limit of a reply, because a small model does not always stop."""
BATCH = 256
"""Prompt tokens per batch. A stop during prompt processing takes effect after the current batch."""
_SAMPLING: dict[str, Json] = {"temperature": 0.2, "top_p": 0.9}
"""Sampling options that the authors of the embedded model recommend."""


class LocalServer:
    """A loaded model and its HTTP server, which has OpenAI's and Anthropic's APIs."""

    def __init__(self, path: Path, window: int = WINDOW, threads: int = 1) -> None:
        import xllamacpp  # type: ignore[import-untyped]

        params = xllamacpp.CommonParams()
        params.model.path, params.model_alias = str(path), {path.stem}
        params.n_ctx, params.n_parallel, params.n_batch = window, 1, BATCH
        # With more threads than idle cores, threads wait for one another: ten times slower on a busy machine.
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
        params.verbosity, params.warmup, params.ui, params.cache_ram_mib = -1, False, False, 0
        self.key = os.urandom(16).hex()
        params.api_keys, params.cors_origins = [self.key], ""
        try:
            self._server: Any = xllamacpp.Server(params)
        except RuntimeError:
            raise ProviderError(f"{str(path)!r} cannot be loaded; is it a model in GGUF?", kind="refused") from None
        self.base_url = f"{self._server.listening_address}/v1"


_loaded: WeakValueDictionary[tuple[Path, int, int], LocalServer] = WeakValueDictionary()
_loading = Lock()


def load(path: Path, window: int = WINDOW, threads: int = 1) -> LocalServer:
    """The server of a model; shared while the same model is in use. Raises `ProviderError`."""
    with _loading:
        server = _loaded.get((path, window, threads))
        if server is None:
            server = _loaded[path, window, threads] = LocalServer(path, window, threads)
        return server


class LocalApi(ChatApi):
    """The API of a local model. It holds the server, so that an open answer keeps the model loaded."""

    flavor = prices.FREE

    def __init__(self, server: LocalServer) -> None:
        super().__init__()
        self._server = server


class LocalProvider:
    """The embedded model, or any other GGUF file. Loaded at the first request."""

    name = "local"
    format = "openai.chat"

    def __init__(self, model: str, table: Mapping[str, Any]) -> None:
        own = model in ("", model_file.NAME)
        self.model = model_file.NAME if own else model
        self._path = _embedded_file() if own else _file(model)
        self._window: int = table.get("window") or WINDOW
        self._threads: int = table.get("threads") or 1
        self._timeout: float = table.get("timeout") or READ_TIMEOUT
        self._options = {**(_SAMPLING if own else {}), **table.get("options", {})}
        self._provider: HttpProvider | None = None

    @property
    def window(self) -> int:
        """Context window for which memory is allocated."""
        return self._window

    def ask(
        self,
        messages: Json,
        *,
        instructions: str | None = None,
        tools: Sequence[Tool] = (),
        max_tokens: int | None = None,
        options: dict[str, Json] | None = None,
    ) -> HttpAnswer:
        """Load the model if needed, and send the request. Raises `ProviderError`."""
        provider, limit = self._loaded(), max_tokens or MAX_TOKENS
        return provider.ask(messages, instructions=instructions, tools=tools, max_tokens=limit, options=options)

    def _loaded(self) -> HttpProvider:
        if self._provider is None:
            server = load(self._path, self._window, self._threads)
            api = LocalApi(server)
            connection = HttpConnection(self.name, server.base_url, api.headers(server.key), self._timeout)
            self._provider = HttpProvider(self.name, self._path.stem, api, connection, self._options, self._window)
        return self._provider

    def close(self) -> None:
        """Unload the model."""
        if self._provider is not None:
            self._provider.close()
        self._provider = None


def _embedded_file() -> Path:
    _require_packages()
    if not model_file.is_installed():
        raise ProviderError(
            "The embedded model is not here yet; fetch it once (93 MB): bough local install", kind="not_found"
        )
    return model_file.place()


def _file(name: str) -> Path:
    _require_packages()
    path = Path(name).expanduser()
    if not path.is_file():
        raise ProviderError(f"There is no file {name!r}; local:PATH is a model in GGUF.", kind="not_found")
    return path.resolve()


def _require_packages() -> None:
    if any(find_spec(name) is None for name in _PACKAGES):
        raise ProviderError("The embedded model needs more: pip install 'bough[local]'", kind="not_found")
