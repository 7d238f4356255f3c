"""Cursors of lists: a place in a list, with the filters that it belongs to, signed."""

from __future__ import annotations

import base64
import hmac
import json
import secrets
from binascii import Error
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from bough.server.api.repeats import fingerprint
from bough.server.problems import HttpProblem

if TYPE_CHECKING:
    from bough.model import Json
    from bough.server.api.operations import ApiCall

SIGNATURE = 12
NO_FILTERS = {"cursor", "limit", "fields"}


class Cursors:
    """Makes and reads the cursors of one server."""

    def __init__(self, token: str | None) -> None:
        self._secret = hmac.digest((token or secrets.token_hex()).encode(), b"bough cursor", sha256)

    def make(self, call: ApiCall, at: Json) -> str:
        """The cursor after a place of the list that a call asks for."""
        content = json.dumps([filters_of(call), at]).encode("ascii")
        return base64.urlsafe_b64encode(self._sign(call, content) + content).decode().rstrip("=")

    def read(self, call: ApiCall) -> Any:
        """The place that the cursor of a call names; None without one. Raises `HttpProblem` for one of another list."""
        given = call["cursor"]
        if given is None:
            return None
        try:
            raw = base64.urlsafe_b64decode(given + "=" * (-len(given) % 4))
        except (ValueError, Error):
            raw = b""
        signature, content = raw[:SIGNATURE], raw[SIGNATURE:]
        if not content or not hmac.compare_digest(signature, self._sign(call, content)):
            raise HttpProblem(400, "invalid-cursor", "That is no cursor of this list; begin without one.", "cursor")
        filters, at = json.loads(content)
        if filters != filters_of(call):
            raise HttpProblem(400, "cursor-mismatch", "That cursor belongs to other filters; begin without one, or "
                              "give the filters that it came from.", "cursor")  # fmt: skip
        return at

    def _sign(self, call: ApiCall, content: bytes) -> bytes:
        about = f"{call.operation.id}/{call.access.tenant}/".encode()
        return hmac.digest(self._secret, about + content, sha256)[:SIGNATURE]


def filters_of(call: ApiCall) -> str:
    """What all pages of a list have in common."""
    filters = {name: given for name, given in call.given.items() if name not in NO_FILTERS}
    return fingerprint(filters).hex()[:16]
