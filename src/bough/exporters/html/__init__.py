"""A single page that holds a whole conversation: every branch, in light and dark, without a network.

Nothing stored can run: Markdown is rendered without HTML, everything else is escaped, and the page's own policy allows
its one script and its one style sheet, by their hashes, and nothing from outside.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path

from bough.exporters.headings import facts
from bough.exporters.html.blocks import article, text
from bough.exporters.types import Exported
from bough.model import Node

HERE = Path(__file__).parent
WORDS = 80


class Html:
    extension = "html"

    def write(self, told: Exported) -> Iterator[str]:
        yield beginning(told)
        on_path = {node.id for node in told.path}
        for node in told.nodes:
            yield article(node, told, hidden=node.id not in on_path)
        yield f"{onward(told)}</main></div><script>{asset('page.js')}</script></body></html>\n"


def beginning(told: Exported) -> str:
    title, known = text(told.title), "".join(f"<span>{text(fact)}</span>" for fact in facts(told))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy()}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>{title}</title><style>{asset('page.css')}</style></head><body>"
        '<button id="theme" aria-label="Light or dark"></button><div class="page"><header>'
        f'<h1 dir="auto">{title}</h1><p class="facts">{known}</p>{branches(told)}</header><main>\n'
    )


def branches(told: Exported) -> str:
    """The ends of all branches, to go to."""
    if len(told.leaves) < 2:
        return ""
    items = "".join(f"<li>{to(leaf, told)}</li>" for leaf in reversed(told.leaves))
    return f'<details class="branches"><summary>{len(told.leaves)} branches</summary><ol>{items}</ol></details>'


def to(leaf: Node, told: Exported) -> str:
    """A branch is known by the words with which it begins."""
    words = " ".join(told.beginning(leaf).message.text.split())[:WORDS] or leaf.role
    return (
        f'<button data-to="{text(leaf.id)}" aria-current="{str(leaf.id == told.head).lower()}">'
        f"<small>{text(leaf.id)}</small> <bdi>{text(words)}</bdi></button>"
    )


def onward(told: Exported) -> str:
    """The way on, where the dialog stops before the conversation does: after a rewind, or at a fork."""
    following = told.children.get(told.head)
    if not following:
        return ""
    words = "It goes on from here" + (f", in {len(following)} branches" if len(following) > 1 else "")
    button = f'<button data-to="{text(following[-1].id)}">{words} ↓</button>'
    return f'<p class="onward" data-from="{text(told.head)}" hidden>{button}</p>'


def policy() -> str:
    def hashed(name: str) -> str:
        return f"'sha256-{b64encode(sha256(asset(name).encode()).digest()).decode()}'"

    return (
        f"default-src 'none'; script-src {hashed('page.js')}; style-src {hashed('page.css')}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


@cache
def asset(name: str) -> str:
    return (HERE / name).read_text("utf-8")


EXPORTER = Html()
