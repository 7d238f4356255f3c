"""Where the proxy sends requests, and which of them are dialogs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bough.providers.catalog import ANTHROPIC, OPENAI

BASES = {"openai": OPENAI, "anthropic": ANTHROPIC.removesuffix("/v1")}
"""Addresses by name. The clients of Anthropic say `/v1` themselves."""
DIALOGS = {"responses": "openai.responses", "chat/completions": "openai.chat", "messages": "anthropic"}
"""Formats by the end of the path."""


def base_of(name: str, configured: Mapping[str, Any]) -> str | None:
    """The address of a provider; None if there is none with this name."""
    given = configured.get(name)
    return str(given).rstrip("/") if given else BASES.get(name)


def target_of(base: str, path: str) -> str:
    """The address of a request: `/v1` is not said twice."""
    path = path.lstrip("/")
    if base.endswith("/v1") and (path == "v1" or path.startswith("v1/")):
        path = path.removeprefix("v1").lstrip("/")
    return f"{base}/{path}"


def format_of(method: str, path: str) -> str | None:
    """The format of the dialog in a request; None for one that has none."""
    if method != "POST":
        return None
    end = path.strip("/").removeprefix("v1/")
    return DIALOGS.get(end)
