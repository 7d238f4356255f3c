"""A self-contained HTML page of a conversation with all branches, in a light and a dark theme.

Stored content cannot run: Markdown is rendered without HTML, everything else is escaped, and the page's
Content-Security-Policy allows only its own script and style sheet, by their hashes, and no network access.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path

from bough.exporters.headings import overview
from bough.exporters.html.blocks import article, text
from bough.exporters.types import ExportedConversation
from bough.model import Node

HERE = Path(__file__).parent
BRANCH_WORDS = 80
"""Characters of a message that name a branch."""


class HtmlExporter:
    extension = "html"

    def write(self, conversation: ExportedConversation) -> Iterator[str]:
        yield page_start(conversation)
        on_path = {node.id for node in conversation.path}
        for node in conversation.nodes:
            yield article(node, conversation, hidden=node.id not in on_path)
        yield f"{continuation(conversation)}</main></div><script>{asset('page.js')}</script></body></html>\n"


def page_start(conversation: ExportedConversation) -> str:
    title, details = text(conversation.title), "".join(f"<span>{text(fact)}</span>" for fact in overview(conversation))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy()}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>{title}</title><style>{style()}</style></head><body>"
        '<button id="theme" aria-label="Light or dark"></button><div class="page"><header>'
        f'<h1 dir="auto">{title}</h1><p class="facts">{details}</p>{branch_list(conversation)}</header><main>\n'
    )


def branch_list(conversation: ExportedConversation) -> str:
    """The list of all branches, as buttons."""
    if len(conversation.leaves) < 2:
        return ""
    items = "".join(f"<li>{branch_button(leaf, conversation)}</li>" for leaf in reversed(conversation.leaves))
    return f'<details class="branches"><summary>{len(conversation.leaves)} branches</summary><ol>{items}</ol></details>'


def branch_button(leaf: Node, conversation: ExportedConversation) -> str:
    """The button of a branch, named by its first words."""
    words = " ".join(conversation.branch_start(leaf).message.text.split())[:BRANCH_WORDS] or leaf.role
    return (
        f'<button data-to="{text(leaf.id)}" aria-current="{str(leaf.id == conversation.head).lower()}">'
        f"<small>{text(leaf.id)}</small> <bdi>{text(words)}</bdi></button>"
    )


def continuation(conversation: ExportedConversation) -> str:
    """The button to the messages after the head, if there are any: after a rewind, or at a fork."""
    following = conversation.children.get(conversation.head)
    if not following:
        return ""
    words = "Continue from here" + (f", in {len(following)} branches" if len(following) > 1 else "")
    button = f'<button data-to="{text(following[-1].id)}">{words} ↓</button>'
    return f'<p class="continuation" data-from="{text(conversation.head)}" hidden>{button}</p>'


def policy() -> str:
    """The Content-Security-Policy of the page."""

    def hashed(content: str) -> str:
        return f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"

    return (
        f"default-src 'none'; script-src {hashed(asset('page.js'))}; style-src {hashed(style())}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def style() -> str:
    """The style sheet: that of messages, which the server has as well, and that of this page."""
    return asset("message.css") + asset("page.css")


@cache
def asset(name: str) -> str:
    return (HERE / name).read_text("utf-8")


EXPORTER = HtmlExporter()
