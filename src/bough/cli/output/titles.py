"""What a list calls a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bough.cli.output.text import plain_line

if TYPE_CHECKING:
    from bough.model.previews import SessionPreview


def listed_title(shown: SessionPreview) -> str:
    """The title or first question; of a fork, which has those of its origin, with its last words too."""
    title = plain_line(shown.title)
    if shown.info.forked_from is None or shown.last is None or not (last := plain_line(shown.last.words)):
        return title
    return f"{title} ⑂ {last}"
