"""What a provider's refusal means: statuses and error bodies, as one clear line and a kind."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from bough.errors import ProviderError
from bough.model import Json

if TYPE_CHECKING:
    from bough.errors import ProviderTrouble

_KINDS: dict[str, ProviderTrouble] = {
    "context_length_exceeded": "context_too_long",
    "exceed_context_size_error": "context_too_long",
    "request_too_large": "context_too_long",
    "authentication_error": "key",
    "invalid_api_key": "key",
    "permission_error": "key",
    "insufficient_quota": "rate_limit",
    "billing_error": "rate_limit",
    "rate_limit_error": "rate_limit",
    "rate_limit_exceeded": "rate_limit",
    "model_not_found": "not_found",
    "not_found_error": "not_found",
    "overloaded_error": "down",
    "api_error": "down",
    "server_error": "down",
    "timeout_error": "down",
}
"""What providers call their errors, in `code` or in `type`."""
_STATUSES: dict[int, ProviderTrouble] = {
    401: "key", 402: "rate_limit", 403: "key", 404: "not_found", 408: "down", 409: "down",
    413: "context_too_long", 429: "rate_limit",
}  # fmt: skip
_TOO_LONG = re.compile(
    r"prompt is too long|(context|maximum)[ _](length|window|size)|available context|too many (input )?tokens", re.I
)
_LASTING = {"insufficient_quota", "billing_error", "402"}
"""Waiting does not bring the money."""
_WHAT: dict[ProviderTrouble, str] = {
    "key": "does not accept the key",
    "rate_limit": "wants fewer requests",
    "down": "is in trouble",
    "refused": "refused the request",
    "not_found": "does not know that model or address",
    "context_too_long": "cannot read that much",
    "cut": "stopped in the middle of its answer",
    "other": "failed",
}
_KEY = re.compile(r"\W*sk-[\w-]{6,}")
_READ, _SHOWN = 4000, 400
"""Of what a server says. First secrets are hidden, then it is shortened: no half of one is left at the end."""


def from_response(name: str, status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
    """The error that an HTTP response other than a success stands for."""
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        told = None if b"<" in body[:100] else body.decode("utf-8", "replace")
    error = from_body(name, told, status, seconds(headers))
    error.passing = error.passing and headers.get("x-should-retry") != "false"
    return error


def from_body(name: str, told: Json, status: int | None = None, retry_after: float | None = None) -> ProviderError:
    """The error that a provider tells in its own words, in a response or in the middle of a stream."""
    said, names = _said(told)
    kind = _kind(said, names, status)
    where = f" ({status})" if status else ""
    message = f"{name} {_WHAT[kind]}{where}{': ' + one_line(said) if said else '.'}"
    passing = kind in ("rate_limit", "down") and not _LASTING & {*names, str(status)}
    return ProviderError(message, kind=kind, status=status, retry_after=retry_after, passing=passing)


def _said(told: Json) -> tuple[str, list[str]]:
    """The words of an error, and what the provider calls it."""
    if isinstance(told, list):
        told = told[0] if told else None
    if not isinstance(told, dict):
        return str(told or ""), []
    inner = told.get("error")
    if isinstance(inner, (dict, list)):
        return _said(inner)
    said = next((told[key] for key in ("message", "error", "detail") if told.get(key)), "")
    names = [str(told[key]) for key in ("code", "type") if told.get(key)]
    return said if isinstance(said, str) else json.dumps(said), names


def _kind(said: str, names: list[str], status: int | None) -> ProviderTrouble:
    if _TOO_LONG.search(said) and status in (None, 400, 413, 422, 500):
        return "context_too_long"
    for name in names:
        if name in _KINDS:
            return _KINDS[name]
    code = status or next((int(name) for name in names if name.isdecimal()), 0)
    return _STATUSES.get(code) or ("down" if code >= 500 else "refused" if code >= 400 else "other")


def one_line(text: str) -> str:
    """Foreign words as one line that can be printed: nothing that looks like a key, nothing a terminal obeys."""
    clean = "".join(char if char.isprintable() else " " for char in text[:_READ])
    return " ".join("…" if "***" in word or _KEY.match(word) else word for word in clean.split())


def hide(error: ProviderError, secrets: Iterable[str]) -> ProviderError:
    """The same error without the secrets that a server may have echoed, and not longer than one reads."""
    message = str(error)
    for secret in secrets:
        message = message.replace(secret, "…")
    error.args = (message if len(message) <= _SHOWN else message[:_SHOWN] + "…",)
    return error


def seconds(headers: Mapping[str, str]) -> float | None:
    """How long to wait, by `Retry-After` in seconds or as a date."""
    told = headers.get("retry-after", "")
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        return max(0.0, float(told))
    except ValueError:
        return _until(told)


def _until(date: str) -> float | None:
    from email.utils import parsedate_to_datetime
    from time import time

    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - time())
    except ValueError:
        return None
