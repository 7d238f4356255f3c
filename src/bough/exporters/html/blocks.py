"""One message as HTML: heading, blocks, and the usage of its turn."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Mapping
from html import escape

from bough.exporters.headings import displayable, heading_of, turn_usage
from bough.exporters.html.prose import LINKS, code, prose
from bough.exporters.html.tool_calls import call_details, call_summary
from bough.exporters.types import ExportedConversation, MessageHeading, describe
from bough.model import Block, Media, Node, Text, Thinking, ToolCall, ToolResult
from bough.model.times import iso
from bough.model.values import value

IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/avif")
MAX_OPEN = 2_000
"""A tool result with an image is open if it has at most this many characters of text."""
PREVIEW = 80
"""Characters of folded content that are shown beside its name."""


@value
class Parts:
    """How the parts of a message are shown."""

    tools: Mapping[str, str]
    """Names of tools by the ids of their calls."""
    media: Callable[[Media], str]
    """Media as HTML: the export embeds them, the server links to them."""


def article(node: Node, conversation: ExportedConversation, hidden: bool) -> str:
    """The whole message. Without the script only messages on the path are visible."""
    parts = Parts(conversation.tools, media_block)
    body = "".join(part(block, parts) for block in node.message.blocks)
    turn = conversation.turn_ending_at(node)
    total = f'<p class="total">{text(words)}</p>' if turn is not None and (words := turn_usage(turn)) else ""
    kind = f"{node.role}{' error' if node.message.error else ''}"
    parent = node.parent_id if node.parent_id in conversation.by_id else ""
    heading = heading_of(node, conversation)
    return (
        f'<article id="m-{text(node.id)}" class="{kind}" data-id="{text(node.id)}" data-parent="{text(parent or "")}"'
        f' aria-label="{heading.speaker}, {heading.time}" tabindex="-1"'
        f"{' hidden' if hidden else ''}>{head(node, heading, conversation)}{body}{total}</article>\n"
    )


def head(node: Node, heading: MessageHeading, conversation: ExportedConversation) -> str:
    notes = "".join(f'<span class="note {text(note)}">{text(note)}</span>' for note in heading.notes)
    return (
        f'<header><span class="who">{heading.speaker}</span>'
        f'<time datetime="{iso(node.created_at)}">{heading.time}</time>'
        f'<a class="id" href="#m-{text(node.id)}">{text(node.id)}</a>{notes}{siblings(node, conversation)}</header>'
    )


def siblings(node: Node, conversation: ExportedConversation) -> str:
    """Buttons to the siblings of this message."""
    beside = conversation.children[node.parent_id if node.parent_id in conversation.by_id else None]
    if len(beside) < 2:
        return ""
    place = conversation.places[node.id]

    def button(by: int, sign: str, name: str) -> str:
        off = " disabled" if not 1 <= place + by <= len(beside) else ""
        return f'<button data-by="{by}" aria-label="{name} branch"{off}>{sign}</button>'

    return (
        f'<nav class="siblings" aria-label="Branches">{button(-1, "‹", "Previous")}'
        f"<span>{place} / {len(beside)}</span>{button(1, '›', 'Next')}</nav>"
    )


def part(block: Block, parts: Parts) -> str:
    """One block as HTML."""
    match block:
        case Text(text=words):
            return prose(words) if words.strip() else ""
        case Thinking(text=words):
            return folded("Thinking", prose(words)) if words else ""
        case ToolCall(name=name, arguments=arguments):
            return folded(name, call_details(arguments), preview=call_summary(arguments), kind="call")
        case ToolResult() as result:
            return tool_result(result, parts)
        case Media() as media:
            return parts.media(media)
    return folded(block.type, code(json.dumps(block.raw, ensure_ascii=False, indent=2, default=str), "json"))


def tool_result(result: ToolResult, parts: Parts) -> str:
    name = result.name or parts.tools.get(result.call_id, result.call_id)
    body = "".join(code(piece.text) if isinstance(piece, Text) else part(piece, parts) for piece in result.content)
    is_open = (
        not result.error and len(result.text) <= MAX_OPEN and any(isinstance(piece, Media) for piece in result.content)
    )
    word = "Error" if result.error else "Result"
    kind = "result failed" if result.error else "result"
    return folded(f"{word} of {name}", body, preview=result.text, open=is_open, kind=kind)


def media_block(media: Media) -> str:
    """An embedded image is shown; other media are described, with a link to download or open them."""
    words = text(describe(media))
    if media.data is not None and media.mime in IMAGES:
        source = f"data:{media.mime};base64,{b64encode(media.data).decode()}"
        return f'<figure><img src="{source}" alt="{words}"></figure>'
    if media.data is not None:
        source = f"data:application/octet-stream;base64,{b64encode(media.data).decode()}"
        return f'<p class="media"><a href="{source}" download="{text(media.name or media.kind)}">{words}</a></p>'
    if media.url is not None and media.url.lower().startswith(LINKS):
        return f'<p class="media"><a rel="noopener noreferrer nofollow" href="{text(media.url)}">{words}</a></p>'
    return f'<p class="media">{words}</p>'


def folded(summary: str, body: str, *, preview: str = "", open: bool = False, kind: str = "") -> str:
    """Folded content; a preview of it is shown after its name."""
    named = f' class="{kind}"' if kind else ""
    words = f" <small>{text(truncate(preview))}</small>" if preview.strip() else ""
    return f"<details{named}{' open' if open else ''}><summary>{text(summary)}{words}</summary>{body}</details>"


def truncate(words: str) -> str:
    line = " ".join(words[: 4 * PREVIEW].split())
    return line if len(line) <= PREVIEW else line[: PREVIEW - 1] + "…"


def text(words: str) -> str:
    return escape(displayable(words))
