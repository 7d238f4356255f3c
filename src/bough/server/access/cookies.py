"""The cookie that signs a browser in: the id of a token and a time, signed.

The token itself is not in it. It needs no memory on the server, and ends when its token does.
"""

from __future__ import annotations

import hmac
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie

from bough.model.values import value

LOCAL = "local"
"""Stands for the token of the token file."""
MAX_AGE = 30 * 86_400


@value
class Cookies:
    """Makes and checks the cookies of one server."""

    secret: str
    name: str
    """Holds the port: browsers send a cookie to every port of a host."""
    is_secure: bool

    @staticmethod
    def of(token: str, port: int, is_secure: bool) -> Cookies:
        """The cookies of a server with this token."""
        return Cookies(hmac.digest(token.encode(), b"bough cookie", sha256).hex(), f"bough_{port}", is_secure)

    def make(self, token_id: str, now: float) -> str:
        """The Set-Cookie header that signs a browser in."""
        until = int(now) + MAX_AGE
        return self._header(f"{token_id}.{until}.{self._sign(token_id, until)}", MAX_AGE)

    def clear(self) -> str:
        """The Set-Cookie header that signs a browser out."""
        return self._header("", 0)

    def token_id(self, header: str, now: float) -> str | None:
        """The id of the token in a Cookie header; None if there is none, or it is not valid any more."""
        try:
            found = SimpleCookie(header).get(self.name)
        except CookieError:
            return None
        parts = found.value.split(".") if found else []
        if len(parts) != 3 or not parts[1].isdecimal() or len(parts[1]) > 12 or int(parts[1]) <= now:
            return None
        signature = self._sign(parts[0], int(parts[1]))
        return parts[0] if hmac.compare_digest(parts[2].encode(), signature.encode()) else None

    def _sign(self, token_id: str, until: int) -> str:
        return hmac.digest(self.secret.encode(), f"{token_id}.{until}".encode(), sha256).hex()

    def _header(self, content: str, age: int) -> str:
        secure = "; Secure" if self.is_secure else ""
        return f"{self.name}={content}; Max-Age={age}; Path=/; HttpOnly; SameSite=Strict{secure}"
