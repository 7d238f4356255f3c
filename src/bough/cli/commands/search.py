"""`bough search WORDS`: full-text search over all messages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import click

from bough.cli.locate import Locator, working_directory
from bough.cli.options import SESSION, examples, json_option, limit_option, store_options, time_options
from bough.cli.output.console import note, print_json, print_lines, progress, styled
from bough.cli.output.text import one_line
from bough.cli.output.times import format_time
from bough.cli.refs import session_key
from bough.model import ROLES, Hit
from bough.model.search import Hits, Query
from bough.model.search_query import parse_query
from bough.model.times import iso
from bough.model.values import replace
from bough.store import Store


@click.command(
    "search",
    epilog=examples(
        "bough search oak girth",
        "bough search 'C++ -boost role:user after:30d'",
        "bough search model:claude* has:error",
        "bough search 'oak OR ash' --syntax",
    ),
)
@click.argument("words", metavar="WORDS...", nargs=-1)
@limit_option(20)
@click.option("--offset", metavar="N", type=click.IntRange(min=0), default=0, help="Skip the first N.")
@click.option("--session", metavar="NAME", type=SESSION, help="Only messages of this session.")
@click.option("--channel", metavar="NAME", help="Only in this channel: cli, discord, telegram …")
@click.option("--here", is_flag=True, help="Only in conversations of this directory and below it.")
@click.option("--role", type=click.Choice(list(ROLES)), help="Only messages of this role.")
@click.option("--label", metavar="TEXT", help="Only messages with this label.")
@time_options
@click.option("--best", is_flag=True, help="Order by relevance instead of time.")
@click.option("--syntax", is_flag=True, help='WORDS is a query: AND, OR, NOT, "a phrase", prefix*.')
@json_option
@store_options
@click.pass_obj
def command(
    locator: Locator, words: tuple[str, ...], limit: int, offset: int, session: str | None, channel: str | None,
    here: bool, role: str | None, label: str | None, since: int | None, until: int | None, best: bool, syntax: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Find messages that contain all of WORDS, those stored last first. Punctuation is literal: C++, foo-bar.

    A "phrase" is found in this order, word* by its beginning, and -word is excluded. Operators: role: model: source:
    in:SESSION project: tool: label: before: after: cost:>1, has:image|file|tool|error|branch, and
    is:open|complete|stopped|interrupted|failed. With operators and no words, the messages are listed.
    """
    typed = " ".join(words)
    with locator.existing() as store:
        query = Query(fts=typed) if syntax else parse_query(typed)
        filters = {
            "session": session_key(store, session or query.session), "channel": channel, "role": role, "label": label,
            "since": since, "until": until, "directory": working_directory() if here else None,
        }  # fmt: skip
        query = replace(query, **{name: given for name, given in filters.items() if given is not None})
        if query == Query():
            raise click.UsageError("Give words to search for, or a filter such as --label or role:user.")
        if query.needs_index:
            with progress("Indexing") as update:
                store.index(update)
        hits = find(store, query, "best" if best else "newest", limit, offset)
    note_differences(hits)
    if as_json:
        print_json([hit_json(hit) for hit in hits])
    elif not hits:
        note("Nothing found.")
    else:
        print_lines(hit_lines(hits, query.wanted.split()))
        if hits.next:
            note(f"There may be more: --offset {offset + limit}.")


def find(store: Store, query: Query, order: Literal["newest", "best"], limit: int, offset: int) -> Hits:
    """The hits of a query; pages that are short because the store is large are continued."""
    hits = store.search(query, order=order, limit=limit + offset)
    while hits.next and len(hits) < limit + offset:
        more = store.search(query, order=order, limit=limit + offset - len(hits), cursor=hits.next)
        hits = Hits([*hits, *more], more.next, hits.by_beginning, hits.waiting, hits.notes)
    return Hits(hits[offset:], hits.next, hits.by_beginning, hits.waiting, hits.notes)


def note_differences(hits: Hits) -> None:
    """Says on stderr what differs from what was asked."""
    for sentence in hits.notes:
        note(one_line(sentence))
    if hits.by_beginning:
        note("No message has all these words; these have words that begin with them.")
    if hits.waiting:
        note("This store is read-only: messages since the last search in it are not indexed, and not found.")


def hit_lines(hits: list[Hit], words: Sequence[str]) -> Iterator[str]:
    """Two lines per hit: the message, and the snippet with its matches highlighted."""
    for hit in hits:
        node = hit.node
        session = f" {one_line(hit.session)}" if hit.session else ""
        label = f" #{one_line(node.label)}" if node.label else ""
        details = styled(f"({format_time(node.created_at)}) [{node.role.upper()}]{label}{session}", "dim")
        yield f"{styled(node.id, 'bold')} {details}"
        yield "    " + highlighted(one_line(hit.snippet), words)


def highlighted(text: str, words: Sequence[str]) -> str:
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
