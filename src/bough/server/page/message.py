"""One message of a conversation as HTML, with the same parts as in exported pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING
from zlib import crc32

from bough.exporters.headings import encodable
from bough.exporters.html.blocks import IMAGES, Parts, part, text
from bough.exporters.html.prose import LINKS
from bough.exporters.types import describe
from bough.formats.jsonl import encode_node
from bough.model import Json, Media, Node, TurnInfo
from bough.model.values import value
from bough.server.page.html import SPEAKERS, mark, message_link, moment, session_link, status, title_of, tokens

if TYPE_CHECKING:
    from bough.model.previews import SessionPreview

KEPT = 3_000
"""Bodies of messages that are kept rendered: a message never changes."""
LARGEST = 60_000
"""Characters of a body that is kept."""


@value
class Surroundings:
    """What is shown beside the messages of a path."""

    turns: Mapping[str, TurnInfo]
    siblings: Mapping[str, tuple[int, Sequence[str]]] = {}
    """Of a message that has siblings: its place among them, from 0, and the ids of all."""
    sessions: Mapping[str, Sequence[str]] = {}
    """Keys of the sessions that have their head at a message."""
    delegates: Mapping[str, Sequence[SessionPreview]] = {}
    """Sessions that work for a message, by its id."""
    tools: Mapping[str, str] = {}
    marked: tuple[str, ...] = ()
    target: str | None = None
    as_of: str | None = None


def article(node: Node, around: Surroundings, before: Node | None = None) -> str:
    """A message. One that goes on with the reply before it has a quieter heading."""
    goes_on = before is not None and "user" not in (node.role, before.role) and node.kind == before.kind
    kinds = [node.role, *(["goes-on"] if goes_on else []), *(["error"] if node.message.error else []),
             *(["summary"] if node.kind == "summary" else [])]  # fmt: skip
    turn = around.turns.get(node.turn_id or "")
    ends = turn is not None and turn.last_id == node.id
    total = tokens(turn.usage) if turn is not None and ends else ""
    wrong = f'<p class="why">{text(turn.error)}</p>' if turn is not None and ends and turn.error else ""
    current = ' aria-current="true"' if around.target == node.id else ""
    inner = (
        f'{heading(node, turn, around)}<div class="body">{mark(body(node, around.tools), around.marked)}</div>{wrong}'
        f"{delegates(around.delegates.get(node.id, ()))}{f'<p class=total>{total}</p>' if total else ''}"
    )
    version = f"{crc32(encodable(inner).encode()):x}"
    return (
        f'<article id="m-{text(node.id)}" class="{" ".join(kinds)}" data-id="{text(node.id)}" data-v="{version}" '
        f'tabindex="-1"{current} aria-label="{who(node)}, {text(plain_time(node))}">{inner}</article>'
    )


def heading(node: Node, turn: TurnInfo | None, around: Surroundings) -> str:
    """Speaker, model, time, id, notes, the way to siblings, and to what can be done."""
    notes = [note for note in (node.label, "summary" if node.kind == "summary" else None) if note]
    notes += [f"{key} is here" for key in around.sessions.get(node.id, ())]
    model = turn.model if turn is not None and node.role == "assistant" else None
    ended = status(turn.status) if turn is not None and turn.last_id == node.id else ""
    return (
        f'<header><span class="who">{who(node)}</span>{f"<span class=model>{text(model)}</span>" if model else ""}'
        f'{moment(node.created_at)}<a class="id" href="{message_link(node.id)}">{text(node.id)}</a>{ended}'
        + "".join(f'<span class="note">{text(note)}</span>' for note in notes)
        + siblings(node, around)
        + f'<a class="more" href="/m/{text(node.id)}/actions" data-dialog aria-label="Actions of message '
        f'{text(node.id)}">···</a></header>'
    )


def who(node: Node) -> str:
    """The speaker of a message."""
    return "Summary" if node.kind == "summary" else SPEAKERS[node.role]


def plain_time(node: Node) -> str:
    """The time of a message as words."""
    return moment(node.created_at).partition(">")[2].partition("<")[0]


def siblings(node: Node, around: Surroundings) -> str:
    """Links to the messages beside this one."""
    if node.id not in around.siblings:
        return ""
    place, ids = around.siblings[node.id]

    def link(by: int, sign: str, name: str) -> str:
        if not 0 <= place + by < len(ids):
            return f'<span class="off" aria-hidden="true">{sign}</span>'
        return f'<a href="{message_link(ids[place + by])}" data-sibling="{by}" aria-label="{name} branch">{sign}</a>'

    return (
        f'<nav class="siblings" aria-label="Branches at {text(node.id)}">{link(-1, "‹", "Previous")}'
        f"<span>{place + 1}/{len(ids)}</span>{link(1, '›', 'Next')}</nav>"
    )


def delegates(found: Iterable[SessionPreview]) -> str:
    """The sessions of subagents that a message started."""
    return "".join(
        f'<details class="delegate" data-src="{session_link(one.info.key)}"><summary><b>Subagent</b> '
        f"{text(title_of(one))} <small>{one.messages} messages{' · ' if tokens(one.usage) else ''}"
        f'{tokens(one.usage)}</small></summary><p><a href="{session_link(one.info.key)}">Open its conversation</a></p>'
        "</details>"
        for one in found
    )


def body(node: Node, tools: Mapping[str, str]) -> str:
    """The blocks of a message; kept for the next time, under its id and the digest of what is in it."""
    names = tuple((result.call_id, tools.get(result.call_id, "")) for result in node.message.results)
    key = (node.id, node.digest, names)
    if (known := _kept.get(key)) is not None:
        return known
    count = iter(range(10**6))
    parts = Parts(dict(names), lambda media: media_html(media, node.id, next(count)))
    made = "".join(part(block, parts) for block in node.message.blocks)
    if len(made) <= LARGEST:
        while len(_kept) >= KEPT:
            _kept.pop(next(iter(_kept)), None)
        _kept[key] = made
    return made


_kept: dict[tuple[str, bytes, tuple[tuple[str, str], ...]], str] = {}
"""The oldest is first. Threads share it: each operation on it is atomic."""


def media_of(node: Node) -> list[Media]:
    """The media of a message, those in results of tools included, in the order in which they are shown."""
    found: list[Media] = []
    for block in node.message.blocks:
        if isinstance(block, Media):
            found.append(block)
        found += [piece for piece in getattr(block, "content", ()) if isinstance(piece, Media)]
    return found


def media_html(media: Media, id: str, place: int) -> str:
    """A picture, or a link to what is no picture."""
    words = text(describe(media))
    address = f"/m/{text(id)}/files/{place}"
    if media.data is not None and media.mime in IMAGES:
        return f'<figure><a href="{address}"><img src="{address}" alt="{words}" loading="lazy"></a></figure>'
    if media.data is not None:
        return f'<p class="media"><a href="{address}" download>{words}</a></p>'
    if media.url is not None and media.url.lower().startswith(LINKS):
        return f'<p class="media"><a rel="noopener noreferrer nofollow" href="{text(media.url)}">{words}</a></p>'
    return f'<p class="media">{words}</p>'


def data(node: Node, turn: TurnInfo | None) -> dict[str, Json]:
    """A message as JSON: its place, its text, its blocks, and how its turn ended."""
    return {
        **encode_node(node), "text": node.message.text, "turn": node.turn_id,
        "status": turn.status if turn else None, "model": turn.model if turn else None,
    }  # fmt: skip
