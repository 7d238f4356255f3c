"""`/new`: a conversation that begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bough.model import Json
from bough.server.page.composer import composer
from bough.server.page.html import notice
from bough.server.page.screen import ScreenRequest, Section, State

if TYPE_CHECKING:
    from bough.store import Store


class NewScreen:
    """The composer, and nothing before it."""

    title = "New conversation"
    section: Section = "other"
    state: State = "ready"

    def __init__(self, store: Store, asked: ScreenRequest) -> None:  # noqa: ARG002
        self.asked = asked

    def main(self) -> str:
        form = composer(self.asked, None, None, ())
        return f'<header class="title"><h1>New conversation</h1></header>{form or NOT_ALLOWED}'

    def aside(self) -> str:
        return ""

    def data(self) -> Json:
        return {"models": list(self.asked.models)}

    def markdown(self) -> str:
        return f"# {self.title}\n"


NOT_ALLOWED = notice("degraded", "This token may only read", "<p>Sign in with one that has the scope run.</p>")
