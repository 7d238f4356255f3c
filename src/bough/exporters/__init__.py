"""Exporters: conversations written for people (Markdown, HTML) and for other programs (trajectories).

An exporter receives values and never sees the store; `collect.collect` reads them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from bough.errors import Invalid

if TYPE_CHECKING:
    from bough.exporters.types import Exporter

_MODULES = {"md": "markdown", "html": "html", "atif": "atif"}


def names() -> tuple[str, ...]:
    """The names that `get` accepts."""
    return tuple(_MODULES)


def get(name: str) -> Exporter:
    """The exporter called `name`. Raises `Invalid` for a name that is not in `names()`."""
    if name not in _MODULES:
        raise Invalid(f"There is no exporter {name!r}; there are {', '.join(_MODULES)}.")
    found: Exporter = import_module(f"{__name__}.{_MODULES[name]}").EXPORTER
    return found
