"""One message as HTML: its head, its blocks, and what its turn has cost."""

from __future__ import annotations

import json
from base64 import b64encode
from html import escape

from bough.exporters.headings import indented, iso, legible, mark, sum_of
from bough.exporters.html.prose import LINKS, code, prose
from bough.exporters.types import Exported, Mark, described
from bough.model import Block, Media, Node, Text, Thinking, ToolCall, ToolResult

PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/avif")
LONG = 2_000
"""A tool's answer of more characters than this is folded."""
GLANCE = 80
"""Characters of what is folded that stand beside its name."""


def article(node: Node, told: Exported, hidden: bool) -> str:
    """The whole message. Only what is on the dialog that is told first is visible without a script."""
    body = "".join(part(block, told) for block in node.message.blocks)
    turn = told.closing(node)
    total = f'<p class="total">{text(words)}</p>' if turn is not None and (words := sum_of(turn)) else ""
    kind = f"{node.role}{' error' if node.message.error else ''}"
    parent = node.parent_id if node.parent_id in told.by_id else ""
    said = mark(node, told)
    return (
        f'<article id="m-{text(node.id)}" class="{kind}" data-id="{text(node.id)}" data-parent="{text(parent or "")}"'
        f' aria-label="{said.who}, {said.when}" tabindex="-1"'
        f"{' hidden' if hidden else ''}>{head(node, said, told)}{body}{total}</article>\n"
    )


def head(node: Node, said: Mark, told: Exported) -> str:
    notes = "".join(f'<span class="note {text(note)}">{text(note)}</span>' for note in said.notes)
    return (
        f'<header><span class="who">{said.who}</span>'
        f'<time datetime="{iso(node.created_at)}">{said.when}</time>'
        f'<a class="id" href="#m-{text(node.id)}">{text(node.id)}</a>{notes}{siblings(node, told)}</header>'
    )


def siblings(node: Node, told: Exported) -> str:
    """The way to the branches that begin beside this message."""
    beside = told.children[node.parent_id if node.parent_id in told.by_id else None]
    if len(beside) < 2:
        return ""
    place = beside.index(node) + 1

    def button(by: int, sign: str, name: str) -> str:
        off = " disabled" if not 1 <= place + by <= len(beside) else ""
        return f'<button data-by="{by}" aria-label="{name} branch"{off}>{sign}</button>'

    return (
        f'<nav class="siblings" aria-label="Branches">{button(-1, "‹", "Previous")}'
        f"<span>{place} / {len(beside)}</span>{button(1, '›', 'Next')}</nav>"
    )


def part(block: Block, told: Exported) -> str:
    match block:
        case Text(text=words):
            return prose(words) if words.strip() else ""
        case Thinking(text=words):
            return folded("Thinking", prose(words)) if words else ""
        case ToolCall(name=name, arguments=arguments):
            return folded(f"Call of {name}", code(indented(arguments), "json"), glance=arguments)
        case ToolResult() as result:
            return answer(result, told)
        case Media() as media:
            return picture(media)
    return folded(block.type, code(json.dumps(block.raw, ensure_ascii=False, indent=2, default=str), "json"))


def answer(result: ToolResult, told: Exported) -> str:
    name = result.name or told.tools.get(result.call_id, result.call_id)
    body = "".join(code(piece.text) if isinstance(piece, Text) else part(piece, told) for piece in result.content)
    brief = not result.error and len(result.text) <= LONG and any(isinstance(piece, Media) for piece in result.content)
    return folded(f"{'Error' if result.error else 'Answer'} of {name}", body, open=brief, failed=result.error)


def picture(media: Media) -> str:
    """A picture that the page carries is shown; anything else is described, and can be saved or followed."""
    words = text(described(media))
    if media.data is not None and media.mime in PICTURES:
        source = f"data:{media.mime};base64,{b64encode(media.data).decode()}"
        return f'<figure><img src="{source}" alt="{words}"></figure>'
    if media.data is not None:
        source = f"data:application/octet-stream;base64,{b64encode(media.data).decode()}"
        return f'<p class="media"><a href="{source}" download="{text(media.name or media.kind)}">{words}</a></p>'
    if media.url is not None and media.url.lower().startswith(LINKS):
        return f'<p class="media"><a rel="noopener noreferrer nofollow" href="{text(media.url)}">{words}</a></p>'
    return f'<p class="media">{words}</p>'


def folded(summary: str, body: str, *, glance: str = "", open: bool = False, failed: bool = False) -> str:
    """What opens at a click; a glance of what is inside stands beside its name."""
    kind = ' class="failed"' if failed else ""
    words = f" <small>{text(cut(glance))}</small>" if glance else ""
    return f"<details{kind}{' open' if open else ''}><summary>{text(summary)}{words}</summary>{body}</details>"


def cut(words: str) -> str:
    line = " ".join(words[: 4 * GLANCE].split())
    return line if len(line) <= GLANCE else line[: GLANCE - 1] + "…"


def text(words: str) -> str:
    return escape(legible(words))
