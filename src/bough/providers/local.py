"""The embedded model: llama.cpp inside this process, no key, no network.

llama.cpp answers over its own HTTP server on the loopback interface, and is asked there like everyone else: a reply can
be stopped at any time by hanging up. The server has a key that only this process knows, so that nobody else on the
machine, nor a page in a browser, can use it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any
from weakref import WeakValueDictionary

from bough.errors import ProviderError
from bough.model import Json
from bough.providers import model_file, prices
from bough.providers.connection import READ_TIMEOUT, HttpConnection
from bough.providers.http_provider import HttpAnswer, HttpProvider
from bough.providers.openai import ChatApi
from bough.providers.types import Tool

_NEEDED = ("xllamacpp", "httpx2")
WINDOW = 4096
LONGEST = 1024
"""A small model does not always find an end."""
BATCH = 256
"""How many tokens are read in one go; a reply that is stopped while it is read stops after one of these."""
_CALM: dict[str, Json] = {"temperature": 0.2, "top_p": 0.9}
"""What the makers of the embedded model advise."""


class LocalServer:
    """A model that is loaded, and its HTTP server, which speaks OpenAI's and Anthropic's protocols."""

    def __init__(self, path: Path, window: int = WINDOW, threads: int = 1) -> None:
        import xllamacpp  # type: ignore[import-untyped]

        params = xllamacpp.CommonParams()
        params.model.path, params.model_alias = str(path), {path.stem}
        params.n_ctx, params.n_parallel, params.n_batch = window, 1, BATCH
        # More threads than idle cores wait for one another: on a busy machine that is ten times slower.
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
    """A model's server. Whoever asks for the same model while it is in use gets the same one."""
    with _loading:
        server = _loaded.get((path, window, threads))
        if server is None:
            server = _loaded[path, window, threads] = LocalServer(path, window, threads)
        return server


class LocalApi(ChatApi):
    """The API of the embedded model. An answer that is arriving holds it, and so the model."""

    flavor = prices.FREE

    def __init__(self, server: LocalServer) -> None:
        super().__init__()
        self._server = server


class LocalProvider:
    """The embedded model, or any other in a file. It is loaded when it is first asked."""

    name = "local"
    format = "openai.chat"

    def __init__(self, model: str, table: Mapping[str, Any]) -> None:
        own = model in ("", model_file.NAME)
        self.model = model_file.NAME if own else model
        self._path = _weights() if own else _file(model)
        self._window: int = table.get("window") or WINDOW
        self._threads: int = table.get("threads") or 1
        self._silence: float = table.get("timeout") or READ_TIMEOUT
        self._options = {**(_CALM if own else {}), **table.get("options", {})}
        self._provider: HttpProvider | None = None

    @property
    def window(self) -> int:
        """How many tokens were made room for."""
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
        """Loads the model, if need be, and asks it. Raises `ProviderError`."""
        provider, limit = self._loaded(), max_tokens or LONGEST
        return provider.ask(messages, instructions=instructions, tools=tools, max_tokens=limit, options=options)

    def _loaded(self) -> HttpProvider:
        if self._provider is None:
            server = load(self._path, self._window, self._threads)
            api = LocalApi(server)
            connection = HttpConnection(self.name, server.base_url, api.headers(server.key), self._silence)
            self._provider = HttpProvider(self.name, self._path.stem, api, connection, self._options, self._window)
        return self._provider

    def close(self) -> None:
        """Lets the weights go."""
        if self._provider is not None:
            self._provider.close()
        self._provider = None


def _weights() -> Path:
    _require()
    if not model_file.is_installed():
        raise ProviderError(
            "The embedded model is not here yet; fetch it once (93 MB): bough local install", kind="not_found"
        )
    return model_file.place()


def _file(name: str) -> Path:
    _require()
    path = Path(name).expanduser()
    if not path.is_file():
        raise ProviderError(f"There is no file {name!r}; local:PATH is a model in GGUF.", kind="not_found")
    return path.resolve()


def _require() -> None:
    if any(find_spec(name) is None for name in _NEEDED):
        raise ProviderError("The embedded model needs more: pip install 'bough[local]'", kind="not_found")
