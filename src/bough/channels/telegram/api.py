"""Telegram's Bot API over HTTP: one method each call, and its errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bough.errors import ChannelError, ChannelErrorKind

if TYPE_CHECKING:
    pass

PUBLIC = "https://api.telegram.org"
CONNECT_SECONDS = 10.0
ANSWER_SECONDS = 30.0
LARGEST_ANSWER = 64 * 1024 * 1024
GONE = ("message to edit not found", "message can't be edited", "message to be replied not found", "message_id_invalid")


class BotApi:
    """The methods of one bot. The token is part of every address, so it is masked in errors."""

    def __init__(self, token: str, base_url: str | None = None) -> None:
        import httpx2

        self._token = token
        self._base = (base_url or PUBLIC).rstrip("/")
        timeout = httpx2.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS)
        self._client = httpx2.Client(timeout=timeout, follow_redirects=False)

    def call(
        self, method: str, fields: Mapping[str, Any], *, files: Mapping[str, tuple[str, bytes]] | None = None,
        wait: float = 0,
    ) -> Any:  # fmt: skip
        """The result of a method. Raises `ChannelError`; after `unreachable` it may have been carried out."""
        import httpx2

        url, timeout = f"{self._base}/bot{self._token}/{method}", httpx2.Timeout(ANSWER_SECONDS + wait, connect=10.0)
        try:
            if files:
                response = self._client.post(url, data=dict(fields), files=dict(files), timeout=timeout)
            else:
                response = self._client.post(url, json=dict(fields), timeout=timeout)
            answer = response.json()
        except httpx2.HTTPError as error:
            raise self._error(f"{method}: {type(error).__name__}", "unreachable") from None
        except ValueError:
            raise self._error(f"{method} was answered with something else than JSON.", "unreachable") from None
        if isinstance(answer, dict) and answer.get("ok"):
            return answer.get("result")
        raise self._refused(method, answer if isinstance(answer, dict) else {}, response.status_code)

    def download(self, path: str) -> bytes:
        """The content of a file of `getFile`. Raises `ChannelError`."""
        import httpx2

        try:
            with self._client.stream("GET", f"{self._base}/file/bot{self._token}/{path}") as response:
                if not response.is_success:
                    raise self._error(f"The file was not given ({response.status_code}).", "rejected")
                content = bytearray()
                for piece in response.iter_bytes():
                    content += piece
                    if len(content) > LARGEST_ANSWER:
                        raise self._error("The file is larger than announced.", "too_large")
                return bytes(content)
        except httpx2.HTTPError as error:
            raise self._error(f"The file could not be read: {type(error).__name__}", "unreachable") from None

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _refused(self, method: str, answer: Mapping[str, Any], status: int) -> ChannelError:
        code, text = answer.get("error_code", status), str(answer.get("description", ""))
        parameters = answer.get("parameters") or {}
        return self._error(f"{method}: {code} {text}", kind_of(code, text), parameters.get("retry_after"))

    def _error(self, text: str, kind: ChannelErrorKind, retry_after: float | None = None) -> ChannelError:
        return ChannelError(f"Telegram: {text}".replace(self._token, "…"), kind, retry_after)


def kind_of(code: int, text: str) -> ChannelErrorKind:
    """What an error of the Bot API means for its caller."""
    said = text.lower()
    if any(one in said for one in GONE):
        return "message_gone"
    if code == 429:
        return "rate_limit"
    if code in (401, 404):
        return "token"
    if code == 409:
        return "conflict"
    if code == 403 or "chat not found" in said or "group chat was upgraded" in said:
        return "chat_gone"
    if code == 413 or "too big" in said:
        return "too_large"
    return "unreachable" if code >= 500 else "rejected"
