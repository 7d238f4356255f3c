"""What was written in Markdown, as HTML in which nothing stored can run, load or lead astray."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

from bough.exporters.headings import legible

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

TOO_LONG_TO_COLOUR = 100_000
LINKS = ("http://", "https://", "mailto:")


def prose(text: str) -> str:
    """Markdown as HTML. HTML in it is shown as text, pictures become links, other links than to the web are cut off."""
    return f'<div class="prose" dir="auto">{_reader().render(legible(text))}</div>'


def code(text: str, language: str = "") -> str:
    """Code in its colours, where the language is known."""
    return f'<pre class="code" dir="ltr"><code>{_coloured(legible(text), language)}</code></pre>'


@cache
def _reader() -> MarkdownIt:
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(["table", "strikethrough"])
    reader.validateLink = lambda url: url.strip().lower().startswith(LINKS)  # type: ignore[method-assign]
    reader.add_render_rule("fence", _fence)
    reader.add_render_rule("code_block", _fence)
    reader.add_render_rule("image", _picture)
    reader.add_render_rule("link_open", _link)
    reader.add_render_rule("th_open", _cell)
    reader.add_render_rule("td_open", _cell)
    return reader


def _fence(_: object, tokens: Sequence[Any], at: int, *__: object) -> str:
    return code(
        tokens[at].content.removesuffix("\n"), tokens[at].info.split(maxsplit=1)[0] if tokens[at].info.strip() else ""
    )


def _picture(_: object, tokens: Sequence[Any], at: int, *__: object) -> str:
    # A picture from the web would tell its server who reads this, and when.
    address, words = str(tokens[at].attrs.get("src", "")), tokens[at].content or "picture"
    return f'<a rel="noopener noreferrer nofollow" href="{escape(address)}">{escape(words)}</a>'


def _link(self: Any, tokens: Sequence[Any], at: int, options: Any, env: MutableMapping[str, Any]) -> str:
    tokens[at].attrSet("rel", "noopener noreferrer nofollow")
    made: str = self.renderToken(tokens, at, options, env)
    return made


def _cell(self: Any, tokens: Sequence[Any], at: int, options: Any, env: MutableMapping[str, Any]) -> str:
    # The policy of the page allows no styles but its own.
    if style := str(tokens[at].attrs.pop("style", "")):
        tokens[at].attrSet("class", style.removeprefix("text-align:"))
    made: str = self.renderToken(tokens, at, options, env)
    return made


def _coloured(text: str, language: str) -> str:
    if not language or len(text) > TOO_LONG_TO_COLOUR:
        return escape(text)
    from pygments import format
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_by_name(language, stripnl=False)
    except ClassNotFound:
        return escape(text)
    tokens = list(lexer.get_tokens(f"{text}\n"))  # some lexers lose a last line that does not end
    if "".join(words for _, words in tokens).splitlines() != text.splitlines():
        return escape(text)
    return str(format(tokens, HtmlFormatter(nowrap=True))).removesuffix("\n")
