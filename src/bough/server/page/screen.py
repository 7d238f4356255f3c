"""What a screen is, and what was asked of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from bough.model import Json
from bough.model.times import parse_time
from bough.model.values import value
from bough.server.context import context_of

if TYPE_CHECKING:
    from starlette.requests import Request

    from bough.store import Store

State: TypeAlias = Literal["ready", "empty", "no-results", "degraded"]
"""What a screen or a list has to show; `loading` is the fifth state, which the script sets while it waits."""
Section: TypeAlias = Literal["list", "search", "live", "stats", "import", "trash", "settings", "other"]


@value
class ScreenRequest:
    """A request for a screen."""

    path: str
    """The part of the address after the screen's own prefix, decoded."""
    query: Mapping[str, str] = {}
    """The parameters of the address, the last one of each name."""
    models: tuple[str, ...] = ()
    """Names of models that the server offers."""
    can_write: bool = False
    can_run: bool = False
    tenant: str | None = None
    """The namespace; None is the one that the server was started with."""

    @staticmethod
    def of(request: Request, path: str = "", query: Mapping[str, str] = {}) -> ScreenRequest:
        """What a request asks for, and what its token allows."""
        access, models = request.state.access, tuple(context_of(request).models.names)
        return ScreenRequest(path, query, models, access.allows("write"), access.allows("run"), access.tenant)

    def get(self, name: str) -> str | None:
        """A parameter; None for one that is missing or blank."""
        return self.query.get(name, "").strip() or None

    @property
    def as_of(self) -> int | None:
        """The time of `?at=`. Raises `Invalid` for what is no time."""
        at = self.get("at")
        return None if at is None else parse_time(at)

    def with_query(self, **changes: str | None) -> str:
        """The parameters with changes, as the end of an address; None removes one."""
        from urllib.parse import urlencode

        merged = {**self.query, **changes}
        kept = {name: words for name, words in merged.items() if words}
        return f"?{urlencode(kept)}" if kept else ""


class Screen(Protocol):
    """A screen that was loaded. Its methods need no store."""

    title: str
    section: Section
    state: State

    def main(self) -> str:
        """The HTML of the main part."""

    def aside(self) -> str:
        """The HTML of the side panel; empty without one."""

    def data(self) -> Json:
        """The same as JSON."""

    def markdown(self) -> str:
        """The same as Markdown."""


class Loader(Protocol):
    """Loads a screen."""

    def __call__(self, store: Store, asked: ScreenRequest, /) -> Screen: ...


class Redirected(Exception):
    """Ends a request with another address: the beginning of an id, or an action that is done."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.address = address
