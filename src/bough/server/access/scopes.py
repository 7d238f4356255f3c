"""What a caller may do, and in which namespace."""

from __future__ import annotations

from collections.abc import Iterable

from bough.errors import Invalid
from bough.model.values import value

SCOPES = ("read", "write", "run", "admin")
"""`read` the store, `write` to it, `run` models, and `admin`: tokens and the settings of the server."""


@value
class Access:
    """A caller that was let in."""

    name: str
    """The name of the token, for logs and limits."""
    scopes: frozenset[str]
    tenant: str | None = None
    """The namespace; None is the one that the server was started with."""

    def allows(self, scope: str) -> bool:
        """Whether the caller may do this."""
        return scope in self.scopes


def check_scopes(names: Iterable[str]) -> frozenset[str]:
    """Raises `Invalid` for an unknown scope, and for none."""
    chosen = frozenset(names)
    if not chosen or not chosen <= set(SCOPES):
        raise Invalid(f"A token has one or more of the scopes {', '.join(SCOPES)}; not {', '.join(sorted(chosen))!r}.")
    return chosen
