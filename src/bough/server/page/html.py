"""Pieces of HTML that several screens use. Everything that is stored passes `text`."""

from __future__ import annotations

import time
from collections.abc import Iterable
from urllib.parse import quote

from bough.exporters.headings import usage_text
from bough.exporters.html.blocks import text
from bough.model import Headline, Usage
from bough.model.markup import without_markup
from bough.model.previews import SessionPreview
from bough.model.times import iso

SPEAKERS = {"user": "You", "assistant": "Assistant", "tool_result": "Tool", "system": "Note"}
STATUS_WORDS = {"running": "running", "stopped": "stopped", "interrupted": "interrupted", "failed": "failed"}
"""Statuses that are shown; `complete` is not."""
PROGRAMS = {"cli": "bough", "claude-code": "Claude Code", "codex": "Codex", "chatgpt": "ChatGPT", "openai": "OpenAI API",
            "claude-ai": "Claude", "gemini-cli": "Gemini CLI", "amazon-q": "Amazon Q", "page": "bough"}  # fmt: skip


def session_link(key: str) -> str:
    """The address of a session."""
    return f"/c/{quote(key, safe=':@')}"


def message_link(id: str, **query: str) -> str:
    """The address of a message."""
    more = "&".join(f"{name}={quote(words)}" for name, words in query.items() if words)
    return f"/m/{quote(id)}{'?' + more if more else ''}#m-{quote(id)}"


def moment(microseconds: int, *, with_date: bool = True) -> str:
    """A time as people write it, in the time zone of the server."""
    local = time.localtime(microseconds // 1_000_000)
    clock = time.strftime("%H:%M", local)
    day = f"{local.tm_mday} {time.strftime('%b', local)}"
    year = "" if local.tm_year == time.localtime().tm_year else f" {local.tm_year}"
    shown = f"{day}{year}, {clock}" if with_date else clock
    return f'<time datetime="{iso(microseconds)}">{shown}</time>'


def day_of(microseconds: int) -> str:
    """The heading under which a list has a time."""
    today = time.localtime()
    local = time.localtime(microseconds // 1_000_000)
    noon = [time.mktime((at.tm_year, at.tm_mon, at.tm_mday, 12, 0, 0, 0, 0, -1)) for at in (today, local)]
    days = round((noon[0] - noon[1]) / 86_400)
    if days < 2:
        return "Today" if days <= 0 else "Yesterday"
    if days < 7:
        return "This week"
    return time.strftime("%B" if local.tm_year == today.tm_year else "%B %Y", local)


def tokens(usage: Usage) -> str:
    """Tokens and cost in few characters: `12.3k tokens · $0.04`."""
    total = (usage.input_tokens or 0) + (usage.output_tokens or 0)
    parts = [f"{short(total)} tokens"] if total else []
    if usage.cost is not None:
        parts.append(money(usage.cost))
    return " · ".join(parts)


def short(number: float) -> str:
    """A number with at most three digits: 950, 12.3k, 4.1M."""
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= limit:
            return f"{number / limit:.1f}".removesuffix(".0") + unit
    return f"{number:g}"


def money(dollars: float) -> str:
    """A cost; small ones with the digits that they need."""
    return f"${dollars:,.2f}" if dollars >= 0.995 else f"${dollars:.4f}".rstrip("0").rstrip(".") if dollars else "$0"


def plural(count: int, noun: str) -> str:
    """`1 message`, `2 messages`, `3 branches`."""
    ending = "" if count == 1 else "es" if noun.endswith(("ch", "s")) else "s"
    return f"{count:,} {noun}{ending}"


def program(channel: str | None) -> str:
    """The name of the program that a session is from."""
    return PROGRAMS.get(channel or "", channel or "")


def status(word: str | None) -> str:
    """The status of a turn, as a dot and a word; nothing for a complete one."""
    return f'<span class="status {word}">{word}</span>' if word in STATUS_WORDS else ""


def chip(label: str, address: str, count: int | None = None, *, on: bool = False) -> str:
    """A link that switches a filter."""
    number = "" if count is None else f" <small>{short(count)}</small>"
    current = ' aria-current="true"' if on else ""
    return f'<a class="chip" href="{text(address)}"{current}>{text(label)}{number}</a>'


def marked(words: str, wanted: Iterable[str]) -> str:
    """Plain text as HTML, with the wanted words marked."""
    return mark(text(words), wanted)


def mark(html: str, wanted: Iterable[str]) -> str:
    """HTML with the wanted words marked, in the text only."""
    import re

    terms = sorted({text(term) for term in wanted if term.strip()}, key=len, reverse=True)
    if not terms:
        return html
    # Tags and entities are passed over: a word in them is not text.
    pattern = re.compile(rf"<[^>]*>|({'|'.join(map(re.escape, terms))})|&[#\w]+;", re.IGNORECASE)
    return pattern.sub(lambda found: f"<mark>{found[1]}</mark>" if found[1] else found[0], html)


def hidden(**fields: str | None) -> str:
    """Hidden fields of a form."""
    return "".join(f'<input type="hidden" name="{name}" value="{text(words)}">'
                   for name, words in fields.items() if words is not None)  # fmt: skip


def button(verb: str, label: str, kind: str = "", **fields: str | None) -> str:
    """A form with one button, which does something."""
    named = f' class="{kind}"' if kind else ""
    return f'<form method="post" action="/do/{verb}">{hidden(**fields)}<button{named}>{label}</button></form>'


def notice(state: str, title: str, body: str = "", level: int = 2) -> str:
    """What a list says that has nothing to show, or not all."""
    return f'<div class="notice" data-state="{state}"><h{level}>{title}</h{level}>{body}</div>'


def words_of(headline: Headline | None, most: int = 160) -> str:
    """The first words of a message, on one line."""
    line = " ".join(without_markup(headline.words if headline else "").split())
    return text(line if len(line) <= most else line[: most - 1] + "…")


def session_row(preview: SessionPreview, *, selectable: bool = False) -> str:
    """A row of a list of sessions."""
    info = preview.info
    facts = [program(info.channel), (info.directory or "").rstrip("/").rpartition("/")[2], preview.model or ""]
    counts = [plural(preview.messages, "message") if preview.messages else "empty", tokens(preview.usage)]
    last = "" if preview.last is None or preview.last is preview.question else words_of(preview.last)
    last_words = f'<span class="last" dir="auto">{last}</span>' if last else ""
    box = (f'<input type="checkbox" name="key" value="{text(info.key)}" aria-label="Select {text(title_of(preview))}">'
           if selectable else "")  # fmt: skip
    branches = f'<span class="fork">{preview.branches} branches</span>' if preview.branches > 1 else ""
    pin = '<span class="pin">pinned</span>' if info.pinned_at else ""
    return (
        f'<li class="row" id="s-{text(quote(info.key))}">{box}<a href="{session_link(info.key)}">'
        f'<strong dir="auto">{text(title_of(preview))}</strong>'
        f"{last_words}</a>"
        f'<p class="facts">{status(preview.status)}{pin}{facts_line([*facts, *counts])}{branches}'
        f'<span class="when">{moment(info.updated_at)}</span></p></li>'
    )


def title_of(preview: SessionPreview) -> str:
    """The title of a session on one line."""
    line = " ".join(preview.title.split())
    return (line if len(line) <= 120 else line[:119] + "…") or preview.info.key


def facts_line(facts: Iterable[str]) -> str:
    """Short facts, one after another."""
    return "".join(f"<span>{text(fact)}</span>" for fact in facts if fact)


def usage_facts(usage: Usage) -> str:
    """Tokens and cost in full."""
    return text(usage_text(usage))
