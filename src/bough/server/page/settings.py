"""`/settings`: how the page looks, and how the server was started."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bough.exporters.html.blocks import text
from bough.model import Json
from bough.server.page.html import plural
from bough.server.page.look import CHOICES, Look
from bough.server.page.screen import ScreenRequest, Section, State

if TYPE_CHECKING:
    from bough.store import Store

NAMES = {
    "theme": "Theme", "density": "Density", "size": "Text size", "keys": "Keyboard shortcuts", "auto": "as the system",
    "100": "normal", "90": "smaller", "110": "larger", "120": "large", "130": "very large",
}  # fmt: skip

ELSEWHERE = (
    '<nav class="chips narrow" aria-label="More"><a class="chip" href="/live">Live</a><a class="chip" href="/stats">Stats'
    '</a><a class="chip" href="/import">Import</a><a class="chip" href="/trash">Trash</a></nav>'
)
"""The sections that the bar of a narrow window has no room for."""


class SettingsScreen:
    """Choices of the reader, and facts about the server."""

    title = "Settings"
    section: Section = "settings"
    state: State = "ready"

    def __init__(self, store: Store, asked: ScreenRequest) -> None:
        self.look = Look.of(asked.query.get("look", ""))
        self.size = store.size()
        self.status = store.index_status()
        self.idle = sum(1 for _ in store.idle_sessions())
        self.models = asked.models

    def main(self) -> str:
        choices = "".join(self._choice(name, allowed) for name, allowed in CHOICES.items())
        facts = [
            ("Messages", f"{self.size.messages:,}"), ("Sessions", f"{self.size.sessions:,}"),
            ("Trees", f"{self.size.trees:,}"), ("In the trash", plural(self.size.trashed, "deletion")),
            ("Search index", "up to date" if not self.status.waiting else f"{self.status.share:.0%}"),
            ("Expired", f"{plural(self.idle, 'session')} that clean would take"),
            ("Models", ", ".join(self.models) or "none"),
        ]  # fmt: skip
        rows = "".join(f"<dt>{name}</dt><dd>{text(fact)}</dd>" for name, fact in facts)
        return (
            f'<header class="title"><h1>Settings</h1></header>{ELSEWHERE}<form class="settings" method="post" action="/do/look">'
            f'{choices}<p><button class="primary">Save</button></p></form><h2 class="day">This store</h2><dl class="plain">'
            f'{rows}</dl><form method="post" action="/signout"><button>Sign out</button></form>'
        )

    def _choice(self, name: str, allowed: tuple[str, ...]) -> str:
        inputs = "".join(
            f'<label><input type="radio" name="{name}" value="{one}"{" checked" if getattr(self.look, name) == one else ""}>'
            f" {NAMES.get(one, one)}</label>"
            for one in sorted(allowed, key=lambda one: (name == "size") * int(one) if one.isdecimal() else 0)
        )
        return f"<fieldset><legend>{NAMES[name]}</legend>{inputs}</fieldset>"

    def aside(self) -> str:
        return ""

    def data(self) -> Json:
        return {
            "messages": self.size.messages,
            "sessions": self.size.sessions,
            "trees": self.size.trees,
            "trashed": self.size.trashed,
            "waiting": self.status.waiting,
            "models": list(self.models),
        }

    def markdown(self) -> str:
        return f"# Settings\n\n- Messages: {self.size.messages}\n- Sessions: {self.size.sessions}\n"
