"""Costs of replies and context windows of models, by the public price list. An unlisted model is not free."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bough.locations import is_loopback
from bough.model import Json

FREE = "free"
"""The flavor of models that run in this process."""


def cost(reply: dict[str, Json], base_url: str, flavor: str) -> float | None:
    """Cost of a reply in US dollars; None if the price list is not installed or does not list the model."""
    if flavor == FREE:
        return 0.0
    if is_loopback(base_url):
        return None  # a local server is free, a local proxy to a paid API is not
    try:
        from genai_prices import extract_usage
    except ImportError:
        return None
    for name in (flavor, "default"):
        try:
            return float(extract_usage(reply, provider_api_url=base_url, api_flavor=name).calc_price().total_price)
        except (LookupError, ValueError):
            continue
    return None


def window_of(model: str) -> int | None:
    """The context window of a model in tokens; None if the price list is not installed or does not list the model."""
    try:
        from genai_prices.data_snapshot import get_snapshot
    except ImportError:
        return None
    find: Callable[..., Any] = get_snapshot().find_provider_model
    try:
        return find(model, None, None, None)[1].context_window  # type: ignore[no-any-return]
    except LookupError:
        return None
