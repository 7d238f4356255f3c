"""`bough search WORDS`: full-text search over all messages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal

import click

from bough.cli.locate import Locator
from bough.cli.options import SESSION, examples, json_option, limit_option, store_options
from bough.cli.output.console import note, print_json, print_lines, progress, styled
from bough.cli.output.text import one_line
from bough.cli.output.times import format_time, parse_time
from bough.cli.refs import session_key
from bough.model import ROLES, Hit
from bough.model.times import iso


@click.command(
    "search",
    epilog=examples(
        "bough search oak girth", "bough search C++ --role user --since 30d", "bough search 'oak OR ash' --syntax"
    ),
)
@click.argument("words", metavar="WORDS...", nargs=-1, required=True)
@limit_option(20)
@click.option("--offset", metavar="N", type=click.IntRange(min=0), default=0, help="Skip the first N.")
@click.option("--session", metavar="NAME", type=SESSION, help="Only messages of this session.")
@click.option("--channel", metavar="NAME", help="Only in this channel: cli, discord, telegram …")
@click.option("--role", type=click.Choice(list(ROLES)), help="Only messages of this role.")
@click.option("--label", metavar="TEXT", help="Only messages with this label.")
@click.option("--since", metavar="WHEN", help="From this time on: 2026-11-16, 2026-11-16T08:30, or an age such as 7d.")
@click.option("--until", metavar="WHEN", help="Before this time.")
@click.option("--best", is_flag=True, help="Order by relevance instead of time.")
@click.option("--syntax", is_flag=True, help='WORDS is a query: AND, OR, NOT, "a phrase", prefix*.')
@json_option
@store_options
@click.pass_obj
def command(
    locator: Locator, words: tuple[str, ...], limit: int, offset: int, session: str | None, channel: str | None,
    role: str | None, label: str | None, since: str | None, until: str | None, best: bool, syntax: bool, as_json: bool,
) -> None:  # fmt: skip
    """Find messages that contain all of WORDS, the newest first. Punctuation is literal: C++, foo-bar, "quotes"."""
    order: Literal["newest", "best"] = "best" if best else "newest"
    with locator.existing() as store:
        with progress("Indexing") as update:
            is_indexed = store.index(update)
        hits = store.search(
            " ".join(words), session=session_key(store, session), channel=channel, role=role, label=label,
            since=parse_time(since) if since else None, until=parse_time(until) if until else None,
            order=order, limit=limit, offset=offset, syntax=syntax,
        )  # fmt: skip
    if not is_indexed:
        note("This store is read-only: messages since the last search in it are not indexed, and not found.")
    if as_json:
        print_json([hit_json(hit) for hit in hits])
    elif not hits:
        note("Nothing found.")
    else:
        print_lines(hit_lines(hits, words))
        if len(hits) == limit:
            note(f"There may be more: --offset {offset + limit}.")


def hit_lines(hits: list[Hit], words: tuple[str, ...]) -> Iterator[str]:
    """Two lines per hit: the message, and the snippet with its matches highlighted."""
    for hit in hits:
        node = hit.node
        session = f" {one_line(hit.session)}" if hit.session else ""
        label = f" #{one_line(node.label)}" if node.label else ""
        details = styled(f"({format_time(node.created_at)}) [{node.role.upper()}]{label}{session}", "dim")
        yield f"{styled(node.id, 'bold')} {details}"
        yield "    " + highlighted(one_line(hit.snippet), words)


def highlighted(text: str, words: tuple[str, ...]) -> str:
    """The text with `words` in it highlighted if stdout has colours."""
    terms = [re.escape(word.strip("\"'.,;:!?()*")) for phrase in words for word in phrase.split()]
    pattern = "|".join(term for term in terms if term)
    return re.sub(pattern, lambda match: styled(match[0], "match"), text, flags=re.IGNORECASE) if pattern else text


def hit_json(hit: Hit) -> dict[str, Any]:
    return {
        "id": hit.node.id,
        "time": iso(hit.node.created_at),
        "role": hit.node.role,
        "session": hit.session,
        "label": hit.node.label,
        "snippet": hit.snippet,
    }
