"""What is on the price list is priced; what is not is unknown."""

from __future__ import annotations

import sys

import pytest

from bough.model import Usage
from bough.prices import cost, listed_price

ANTHROPIC = "https://api.anthropic.com/v1"


def reply(model: str, **counts: int) -> dict[str, object]:
    return {"model": model, "usage": counts}


def test_a_known_model_has_a_price_and_what_the_cache_gave_is_cheaper() -> None:
    whole = cost(reply("claude-sonnet-4-5", input_tokens=1000, output_tokens=0), ANTHROPIC, "default")
    cached = cost(
        reply("claude-sonnet-4-5", input_tokens=0, cache_read_input_tokens=1000, output_tokens=0), ANTHROPIC, "default"
    )
    assert whole == pytest.approx(0.003)
    assert cached == pytest.approx(0.0003)


@pytest.mark.parametrize(
    ("base_url", "flavor", "counts"),
    [
        ("https://api.openai.com/v1", "chat", {"prompt_tokens": 1000, "completion_tokens": 1000}),
        ("https://api.openai.com/v1", "responses", {"input_tokens": 1000, "output_tokens": 1000}),
    ],
)
def test_both_of_openais_apis_are_priced_alike(base_url: str, flavor: str, counts: dict[str, int]) -> None:
    assert cost(reply("gpt-4o", **counts), base_url, flavor) == pytest.approx(0.0125)


@pytest.mark.parametrize(
    ("model", "base_url"),
    [
        ("claude-of-the-future", ANTHROPIC),
        ("gpt-4o", "http://127.0.0.1:11434/v1"),
        ("gpt-4o", "https://model.test/v1"),
    ],
)
def test_what_is_not_on_the_list_is_unknown_and_not_free(model: str, base_url: str) -> None:
    assert cost(reply(model, input_tokens=1000, output_tokens=1), base_url, "default") is None


def test_a_reply_without_counts_has_no_price() -> None:
    assert cost({"model": "gpt-4o"}, "https://api.openai.com/v1", "chat") is None


def test_without_the_price_list_everything_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    assert cost(reply("gpt-4o", prompt_tokens=1), "https://api.openai.com/v1", "chat") is None


def test_counted_tokens_have_the_list_price_of_any_provider() -> None:
    counted = Usage(1000, 1000, cached_tokens=0)
    assert listed_price(counted, "gpt-4o", "openai") == pytest.approx(0.0125)
    assert listed_price(Usage(1000, 0, 1000), "claude-sonnet-4-5", "anthropic") == pytest.approx(0.0003)
    assert listed_price(counted, "gemini-2.5-flash", "google")
    assert listed_price(counted, "gpt-4o", "google") is None
    assert listed_price(counted, "gpt-4o", "nobody") is None
