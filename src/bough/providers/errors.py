"""Convert HTTP statuses and error bodies to `ProviderError`s of one line and a kind."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from bough.errors import ProviderError
from bough.model import Json

if TYPE_CHECKING:
    from bough.errors import ProviderErrorKind

_KINDS: dict[str, ProviderErrorKind] = {
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
"""Error names of providers, in `code` or in `type`."""
_STATUSES: dict[int, ProviderErrorKind] = {
    401: "key", 402: "rate_limit", 403: "key", 404: "not_found", 408: "down", 409: "down",
    413: "context_too_long", 429: "rate_limit",
}  # fmt: skip
_TOO_LONG = re.compile(
    r"prompt is too long|(context|maximum)[ _](length|window|size)|available context|too many (input )?tokens", re.I
)
_PERMANENT = {"insufficient_quota", "billing_error", "402"}
"""Errors about payment, which a retry does not fix."""
_PHRASES: dict[ProviderErrorKind, str] = {
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
_MAX_READ, _MAX_SHOWN = 4000, 400
"""Characters of a server's message. Secrets are masked before it is shortened, so that no part of one is left."""


def from_response(name: str, status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
    """The error of an unsuccessful HTTP response."""
    try:
        reported = json.loads(body)
    except (ValueError, RecursionError):
        # The HTML page of a proxy says nothing that the status does not say.
        reported = None if b"<" in body[:100] else body.decode("utf-8", "replace")
    error = from_body(name, reported, status, retry_after(headers))
    # A header of OpenAI and Anthropic, which their own clients obey too.
    error.passing = error.passing and headers.get("x-should-retry") != "false"
    return error


def from_body(name: str, reported: Json, status: int | None = None, retry_after: float | None = None) -> ProviderError:
    """The error of an error object, in a response or in a stream."""
    text, names = _message_and_names(reported)
    kind = _kind(text, names, status)
    where = f" ({status})" if status else ""
    message = f"{name} {_PHRASES[kind]}{where}{': ' + one_line(text) if text else '.'}"
    passing = kind in ("rate_limit", "down") and not _PERMANENT & {*names, str(status)}
    return ProviderError(message, kind=kind, status=status, retry_after=retry_after, passing=passing)


def _message_and_names(reported: Json) -> tuple[str, list[str]]:
    """The message of an error, and its names."""
    if isinstance(reported, list):
        reported = reported[0] if reported else None
    if not isinstance(reported, dict):
        return str(reported or ""), []
    inner = reported.get("error")
    if isinstance(inner, (dict, list)):
        return _message_and_names(inner)
    text = next((reported[key] for key in ("message", "error", "detail") if reported.get(key)), "")
    names = [str(reported[key]) for key in ("code", "type") if reported.get(key)]
    return text if isinstance(text, str) else json.dumps(text), names


def _kind(text: str, names: list[str], status: int | None) -> ProviderErrorKind:
    if _TOO_LONG.search(text) and status in (None, 400, 413, 422, 500):
        return "context_too_long"
    for name in names:
        if name in _KINDS:
            return _KINDS[name]
    code = status or next((int(name) for name in names if name.isdecimal()), 0)
    return _STATUSES.get(code) or ("down" if code >= 500 else "refused" if code >= 400 else "other")


def one_line(text: str) -> str:
    """Foreign text as one printable line, without control characters and anything that looks like a key."""
    clean = "".join(char if char.isprintable() else " " for char in text[:_MAX_READ])
    return " ".join("…" if "***" in word or _KEY.match(word) else word for word in clean.split())


def hide(error: ProviderError, secrets: Iterable[str]) -> ProviderError:
    """Mask secrets that a server may have echoed in an error, and limit its length."""
    message = str(error)
    for secret in secrets:
        message = message.replace(secret, "…")
    error.args = (message if len(message) <= _MAX_SHOWN else message[:_MAX_SHOWN] + "…",)
    return error


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, by `Retry-After` in seconds or as a date."""
    value = headers.get("retry-after", "")
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        return max(0.0, float(value))
    except ValueError:
        return _seconds_until(value)


def _seconds_until(date: str) -> float | None:
    from email.utils import parsedate_to_datetime
    from time import time

    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - time())
    except ValueError:
        return None
