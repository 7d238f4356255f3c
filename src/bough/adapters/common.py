"""What the adapters share: the store, keys of sessions, classes made on use, calls from an event loop, prices."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any, ParamSpec, TypeVar

from bough.engines import connect
from bough.errors import Invalid
from bough.model import Document, Json, ToolCall, Usage
from bough.model.keys import parse_key
from bough.model.values import replace
from bough.prices import listed_price
from bough.store import Store

P = ParamSpec("P")
T = TypeVar("T")


def on_use(package: str, names: Mapping[str, str], install: str) -> Callable[[str], Any]:
    """The `__getattr__` of a package whose classes are subclasses of an SDK's: it imports their modules on first use.

    `names` gives the module of each class, and `install` what to install when the SDK is missing.
    """

    def load(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        try:
            module = import_module(f"{package}.{names[name]}")
        except ModuleNotFoundError as missing:
            if (missing.name or "").startswith("bough"):
                raise
            raise ModuleNotFoundError(
                f"{package}.{name} needs `pip install {install}` ({missing}).", name=missing.name
            ) from None
        return getattr(module, name)

    return load


def open_store(where: Any, store: Store | None) -> tuple[Store, bool]:
    """The store that was given, or one that is opened; and whether the adapter has to close it."""
    return (store, False) if store is not None else (connect(where), True)


def key_of(name: Any) -> str:
    """The key of the session for a name of the application: the name, or a digest of one that cannot be a key.

    It has no prefix, so that another adapter, and the command line, find the conversation under the same name.
    """
    try:
        parse_key(name)
    except Invalid:
        digest = hashlib.sha256(str(name).encode("utf-8", "surrogatepass")).hexdigest()
        return f"named:{digest[:32]}"
    return str(name)


def json_of(document: Document) -> Json:
    """The value of a document that is JSON."""
    return document.value


def json_call(call: ToolCall) -> Json:
    """The arguments of a call as an object; text that is none is put into one."""
    try:
        parsed = call.input
    except ValueError:
        parsed = call.arguments
    return parsed if isinstance(parsed, dict) else {"input": parsed}


async def settled(verb: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Calls a method of the store in a thread. A cancelled call has ended before the cancellation is passed on.

    Otherwise the next call could overtake a write whose caller was cancelled. Event loops that are not asyncio's are
    served by anyio, which the SDKs that allow them bring along.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        from anyio.to_thread import run_sync

        return await run_sync(partial(verb, *args, **kwargs))
    task = asyncio.ensure_future(asyncio.to_thread(verb, *args, **kwargs))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            try:
                await asyncio.wait({task})
            except asyncio.CancelledError:
                continue
        if not task.cancelled():
            task.exception()  # retrieved: the caller learns of the cancellation instead
        raise


async def at_once(verb: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Like `settled`, in the thread of the event loop: for a store in memory, which never waits for a disk."""
    return verb(*args, **kwargs)


def priced(usage: Usage, model: str | None, provider: str | None = None) -> Usage:
    """With its cost at list price, if the model is listed. `provider` is a name of that list: anthropic, google."""
    if model is None or usage.input_tokens is None:
        return usage
    cost = listed_price(usage, model, provider or "openai")
    return replace(usage, cost=cost)
