"""What a reply cost, by the public price list; what is not on it is unknown, not free."""

from __future__ import annotations

from bough.model import Json
from bough.providers.http import is_loopback

FREE = "free"
"""The flavor of what runs on one's own machine."""


def cost(reply: dict[str, Json], base_url: str, flavor: str) -> float | None:
    """US dollars for a reply from that address; None when the list is not installed or does not know the model."""
    if flavor == FREE:
        return 0.0
    if is_loopback(base_url):
        return None  # someone's server, or someone's way to a paid one
    try:
        from genai_prices import extract_usage
    except ImportError:
        return None
    for one in (flavor, "default"):
        try:
            return float(extract_usage(reply, provider_api_url=base_url, api_flavor=one).calc_price().total_price)
        except (LookupError, ValueError):
            continue
    return None
