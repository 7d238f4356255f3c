"""Costs of replies and context windows of models, by the public price list. An unlisted model is not free."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from bough.locations import is_loopback
from bough.model import Json, Usage

FREE = "free"
"""The flavor of models that run in this process."""


SELLERS = {
    "openai.chat": ("openai", "chat"),
    "openai.responses": ("openai", "responses"),
    "anthropic": ("anthropic", "default"),
    "gemini": ("google", "default"),
    "bedrock": ("aws", "default"),
}
"""By format: the provider on the price list that answers in it, and the name of its API there."""


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


def listed_cost(format: str, reply: Json, provider: str | None, usual: str | None) -> float | None:
    """Cost of a reply of which only the format is known, at the list price of the provider, or of the format's own.

    `usual` is the provider that the format names; another `provider` is looked up by that name.
    """
    seller, flavor = SELLERS.get(format, (None, "default"))
    if provider is not None and provider not in (usual, seller):
        seller = provider
    extract = _price_list()
    if extract is None or seller is None or not isinstance(reply, dict):
        return None
    for name in (flavor, "default"):
        try:
            return float(extract(reply, provider_id=seller, api_flavor=name).calc_price().total_price)
        except (LookupError, ValueError):
            continue
    return None


def listed_price(usage: Usage, model: str, provider: str) -> float | None:
    """List price of counted tokens; None if the price list is not installed or does not list the model."""
    try:
        from genai_prices import Usage as Counts
        from genai_prices import calc_price
    except ImportError:
        return None
    counts = Counts(
        input_tokens=usage.input_tokens, cache_read_tokens=usage.cached_tokens, output_tokens=usage.output_tokens
    )
    try:
        return float(calc_price(counts, model, provider_id=provider).total_price)
    except (LookupError, ValueError):
        return None


@cache
def _price_list() -> Callable[..., Any] | None:
    """`extract_usage` of the price list, imported when the first reply is priced; None if it is not installed."""
    try:
        from genai_prices import extract_usage
    except ImportError:
        return None
    return extract_usage


def listed_model(model: str, provider: str | None) -> tuple[int | None, float | None, float | None]:
    """The context window of a model, and its price in US dollars for a million tokens of input and of output."""
    from datetime import UTC, datetime

    try:
        from genai_prices.data_snapshot import get_snapshot
    except ImportError:
        return None, None, None
    find: Callable[..., Any] = get_snapshot().find_provider_model
    for seller in (provider, None):
        try:
            found = find(model, None, seller, None)[1]
            prices = found.get_prices(datetime.now(UTC))
        except (LookupError, ValueError):
            continue
        return found.context_window, _amount(prices.input_mtok), _amount(prices.output_mtok)
    return None, None, None


def _amount(price: Any) -> float | None:
    """A price in dollars: the base price where it depends on the length of the request."""
    base = getattr(price, "base", price)
    return None if base is None else float(base)


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
