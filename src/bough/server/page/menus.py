"""`/m/<message>/actions` and `/c/<session>/actions`: what can be done with a message or a session, as plain forms.

With JavaScript they are shown in a dialog.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bough.errors import NotFound
from bough.exporters.html.blocks import text
from bough.model import Json
from bough.model.times import iso
from bough.server.page.composer import models
from bough.server.page.html import button, hidden, message_link, session_link
from bough.server.page.message import data
from bough.server.page.screen import ScreenRequest, Section, State

if TYPE_CHECKING:
    from bough.store import Store

SEVERAL = 4
"""Models that can answer at once."""


class MessageActions:
    """Everything that can be done with a message."""

    section: Section = "list"
    state: State = "ready"

    def __init__(self, store: Store, asked: ScreenRequest) -> None:
        (self.node,) = store.get_messages([asked.path])
        self.asked = asked
        self.info = next(iter(store.sessions_through(self.node.id)), None)
        self.is_pinned = any(pin.message_id == self.node.id for pin in store.pins())
        self.title = f"Message {self.node.id}"

    def main(self) -> str:
        return f'<div class="panel" id="panel"><h1>{text(self.title)}</h1>{"".join(self._forms())}</div>'

    def _forms(self) -> list[str]:
        id, node, asked = self.node.id, self.node, self.asked
        words = " ".join(node.message.text[:300].split())[:160]
        key = self.info.key if self.info is not None else None
        parts = [f'<p class="quote" dir="auto">{text(words)}</p>' if words else ""]
        links = [f'<a href="{message_link(id)}" data-copy-link>Link to it</a>', f'<a href="/t/{id}">Tree</a>',
                 f'<a href="/m/{id}.json">JSON</a>', f'<a href="/m/{id}.md">Markdown</a>']  # fmt: skip
        if asked.can_run and node.role == "user":
            links.insert(0, f'<a href="/m/{id}?edit={id}#compose">Edit and ask again</a>')
        parts.append(f'<p class="links">{"".join(links)}</p>')
        if asked.can_run:
            parts.append(
                f'<form method="post" action="/do/again"><h2>Answer again</h2>{hidden(id=id, key=key)}'
                f'<p class="hint">One to four models at once; each answer is a branch.</p>'
                f'<div class="models">{models(asked, self.info, SEVERAL)}</div><button>Answer again</button></form>'
            )
        if asked.can_write:
            parts.append(
                f'<form method="post" action="/do/label"><h2>Label</h2>{hidden(id=id)}<input name="label" '
                f'aria-label="Label" value="{text(node.label or "")}"><button>Save</button></form>'
            )
            verb = "Take the pin off" if self.is_pinned else "Pin"
            parts.append('<div class="buttons">' + button("fork", "New conversation from here", id=id)
                         + button("pin", verb, id=id)
                         + button("trash", "Move it and what follows to the trash", "danger", id=id) + "</div>")  # fmt: skip
        return parts

    def aside(self) -> str:
        return ""

    def data(self) -> Json:
        return data(self.node, None)

    def markdown(self) -> str:
        return f"# {self.title}\n\n{self.node.message.text}\n"


class SessionActions:
    """Everything that can be done with a session."""

    section: Section = "list"
    state: State = "ready"

    def __init__(self, store: Store, asked: ScreenRequest) -> None:
        info = store.find_session(asked.path)
        if info is None:
            raise NotFound(f"There is no session {asked.path!r}.")
        self.info, self.asked = info, asked
        self.title = info.title or info.key

    def main(self) -> str:
        info, key = self.info, self.info.key
        link = session_link(key)
        forms = (
            f'<p class="links"><a href="{link}.md">Markdown</a><a href="{link}.json">JSON</a>'
            f'<a href="/export?{"key=" + text(key)}">One HTML file</a></p>'
            f'<form method="get" action="{link}"><h2>As it was</h2><input type="datetime-local" name="at" '
            f'aria-label="A time" value="{(iso(info.updated_at) or "")[:16]}"><button>Show</button></form>'
        )
        if self.asked.can_write:
            verb = "Take the pin off" if info.pinned_at else "Pin"
            forms += (
                f'<form method="post" action="/do/title"><h2>Title</h2>{hidden(key=key)}<input name="title" '
                f'aria-label="Title" value="{text(info.title or "")}"><button>Save</button></form>'
                '<div class="buttons">' + button("pin", verb, key=key)
                + button("trash", "Move it to the trash", "danger", key=key) + "</div>"
            )  # fmt: skip
        return f'<div class="panel" id="panel"><h1 dir="auto">{text(self.title)}</h1>{forms}</div>'

    def aside(self) -> str:
        return ""

    def data(self) -> Json:
        return {"key": self.info.key, "title": self.info.title}

    def markdown(self) -> str:
        return f"# {self.title}\n"
