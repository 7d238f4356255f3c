"""Markdown as HTML in which stored content cannot run, load anything or disguise links."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from functools import cache
from html import escape
from time import monotonic
from typing import TYPE_CHECKING, Any

from bough.exporters.headings import displayable

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

MAX_HIGHLIGHTED = 100_000
"""Characters of code that are highlighted at most."""
LONGEST_LINE = 2_000
"""Characters of a line of such code. One pattern that takes long cannot be interrupted, and it rarely passes a line."""
LONGEST = 1.0
"""Seconds that highlighting a block may take. Some lexers need time with the square of their text."""
_slow: set[str] = set()
"""Languages of which a block took longer: the others of a page stay plain, so that a page ends."""
LINKS = ("http://", "https://", "mailto:")


def prose(text: str) -> str:
    """Markdown as HTML. HTML in it is escaped, images become links, and only links to the web and to mail remain."""
    return f'<div class="prose" dir="auto">{_parser().render(displayable(text))}</div>'


def code(text: str, language: str = "") -> str:
    """A code block, highlighted if the language is known."""
    return f'<pre class="code" dir="ltr" tabindex="0"><code>{_highlighted(displayable(text), language)}</code></pre>'


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(["table", "strikethrough"])
    parser.validateLink = lambda url: url.strip().lower().startswith(LINKS)  # type: ignore[method-assign]
    parser.add_render_rule("fence", _fence)
    parser.add_render_rule("code_block", _fence)
    parser.add_render_rule("image", _image)
    parser.add_render_rule("link_open", _link)
    parser.add_render_rule("th_open", _cell)
    parser.add_render_rule("td_open", _cell)
    return parser


def _fence(_: object, tokens: Sequence[Any], at: int, *__: object) -> str:
    return code(
        tokens[at].content.removesuffix("\n"), tokens[at].info.split(maxsplit=1)[0] if tokens[at].info.strip() else ""
    )


def _image(_: object, tokens: Sequence[Any], at: int, *__: object) -> str:
    # Loading an image from the web would reveal the reader to its server.
    address, words = str(tokens[at].attrs.get("src", "")), tokens[at].content or "image"
    return f'<a rel="noopener noreferrer nofollow" href="{escape(address)}">{escape(words)}</a>'


def _link(self: Any, tokens: Sequence[Any], at: int, options: Any, env: MutableMapping[str, Any]) -> str:
    tokens[at].attrSet("rel", "noopener noreferrer nofollow")
    html: str = self.renderToken(tokens, at, options, env)
    return html


def _cell(self: Any, tokens: Sequence[Any], at: int, options: Any, env: MutableMapping[str, Any]) -> str:
    # The policy of the page forbids inline styles.
    if style := str(tokens[at].attrs.pop("style", "")):
        tokens[at].attrSet("class", style.removeprefix("text-align:"))
    html: str = self.renderToken(tokens, at, options, env)
    return html


def _highlighted(text: str, language: str) -> str:
    if not language or language in _slow or len(text) > MAX_HIGHLIGHTED:
        return escape(text)
    if max(map(len, text.splitlines()), default=0) > LONGEST_LINE:
        return escape(text)
    from pygments import format
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_by_name(language, stripnl=False)
    except ClassNotFound:
        return escape(text)
    tokens, ends_at = [], monotonic() + LONGEST
    for token in lexer.get_tokens(f"{text}\n"):  # some lexers drop a last line without a newline
        tokens.append(token)
        if monotonic() > ends_at:
            _slow.add(language)
            return escape(text)
    # A lexer that changes the text is not used.
    if "".join(words for _, words in tokens).splitlines() != text.splitlines():
        return escape(text)
    return str(format(tokens, HtmlFormatter(nowrap=True))).removesuffix("\n")
