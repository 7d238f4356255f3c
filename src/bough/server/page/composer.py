"""The composer: where a question is written, and where it will be attached."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bough.exporters.html.blocks import text
from bough.server.page.html import hidden

if TYPE_CHECKING:
    from bough.model import Node, SessionInfo
    from bough.server.page.screen import ScreenRequest


def composer(asked: ScreenRequest, info: SessionInfo | None, leaf: str | None, nodes: Sequence[Node]) -> str:
    """A form that goes on from the end of what is shown, or, with `?edit=`, asks a question of it otherwise."""
    if not asked.can_run:
        return ""
    edited = next((node for node in nodes if node.id == asked.get("edit") and node.role == "user"), None)
    if edited is not None:
        place, words = edited.parent_id, edited.message.text
        where = f"Another version of {text(edited.id)}: a new branch beside it"
    else:
        place, words = leaf, ""
        stands_here = info is not None and info.head_id == leaf
        where = f"Reply to {text(leaf)}" if leaf and stands_here else (
            f"Reply to {text(leaf)}: a new branch" if leaf else "The first message")  # fmt: skip
    draft = edited.id if edited is not None else leaf or ""
    return (
        f'<form class="composer" id="compose" method="post" action="/do/send" data-draft="{text(draft)}">'
        f"{hidden(at=place or '', key=info.key if info else None, edit=edited.id if edited else None)}"
        f'<label for="words">{where}</label>'
        f'<textarea id="words" name="words" rows="3" required dir="auto" placeholder="Ask, or say what to do next">'
        f"{text(words)}</textarea>"
        f'<div class="send">{models(asked, info)}<span class="hint">Ctrl+Enter sends</span>'
        f'<button class="primary">Send</button></div></form>'
    )


def models(asked: ScreenRequest, info: SessionInfo | None, most: int = 1) -> str:
    """A choice of the model, or of up to four."""
    names = list(dict.fromkeys([*([info.model] if info is not None and info.model else []), *asked.models]))
    options = "".join(f'<option value="{text(name)}">{text(name)}</option>' for name in names)
    return "".join(
        f'<select name="model" aria-label="Model{f" {place + 1}" if most > 1 else ""}">'
        f"{'<option value=>–</option>' if place else ''}{options}</select>"
        for place in range(most)
    )
