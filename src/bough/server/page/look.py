"""How the page looks for one reader: kept in a cookie, so that it needs no script and does not flash."""

from __future__ import annotations

from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie

from bough.model.values import value

COOKIE = "bough_look"
CHOICES = {
    "theme": ("auto", "light", "dark"),
    "density": ("comfortable", "compact"),
    "size": ("100", "90", "110", "120", "130"),
    "keys": ("on", "off"),
}
"""What can be chosen, the default first."""


@value
class Look:
    """The choices of a reader."""

    theme: str = "auto"
    density: str = "comfortable"
    size: str = "100"
    keys: str = "on"

    @staticmethod
    def of(header: str) -> Look:
        """The choices in a Cookie header; the defaults for what is not valid."""
        try:
            found = SimpleCookie(header).get(COOKIE)
        except CookieError:
            found = None
        pairs = (pair.partition("-") for pair in (found.value if found else "").split("."))
        return Look.chosen({name: given for name, _, given in pairs})

    @staticmethod
    def chosen(given: Mapping[str, str]) -> Look:
        """The valid ones of these choices, and the defaults."""
        return Look(**{name: given[name] for name, allowed in CHOICES.items() if given.get(name) in allowed})

    def cookie(self) -> str:
        """The Set-Cookie header that keeps them."""
        content = ".".join(f"{name}-{getattr(self, name)}" for name in CHOICES)
        return f"{COOKIE}={content}; Max-Age=31536000; Path=/; SameSite=Strict"

    def attributes(self) -> str:
        """The attributes of the root element."""
        return (
            f'data-theme="{self.theme}" data-density="{self.density}" data-size="{self.size}" data-keys="{self.keys}"'
        )
