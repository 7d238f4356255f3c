"""From Markdown to the HTML that Telegram shows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from bough.channels.table import aligned

if TYPE_CHECKING:
    from markdown_it.token import Token

INLINE = {"strong": "b", "em": "i", "s": "s"}
MENTION = re.compile(r"@(?=\w)")
WORD_JOINER = "\u2060"
"""After an @ it keeps a name from being a mention, and is not seen."""


def to_html(markdown: str) -> str:
    """The text as Telegram's HTML: always well-formed. Mentions are defused."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    return Renderer().render(parser.parse(markdown))


class Renderer:
    """Renders the tokens of one text."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._lists: list[int | None] = []
        """The next number of each open list; None for one with bullets."""
        self._row: list[str] | None = None
        self._rows: list[list[str]] = []

    def render(self, tokens: Sequence[Token]) -> str:
        for token in tokens:
            self._block(token)
        return re.sub(r"\n{3,}", "\n\n", "".join(self._pieces)).strip()

    def _block(self, token: Token) -> None:
        match token.type:
            case "inline":
                self._inline(token)
            case "heading_open":
                self._pieces.append("<b>")
            case "heading_close":
                self._pieces.append("</b>\n\n")
            case "paragraph_close":
                self._pieces.append("\n" if self._lists else "\n\n")
            case "bullet_list_open":
                self._lists.append(None)
            case "ordered_list_open":
                self._lists.append(int(token.attrs.get("start", 1)))
            case "bullet_list_close" | "ordered_list_close":
                self._lists.pop()
                self._pieces.append("" if self._lists else "\n")
            case "list_item_open":
                self._pieces.append(self._marker())
            case "fence" | "code_block":
                self._code(token)
            case "blockquote_open":
                self._pieces.append("<blockquote>")
            case "blockquote_close":
                self._close_quote()
            case "hr":
                self._pieces.append("———\n\n")
            case "html_block":
                self._pieces.append(f"{plain(token.content)}\n")
            case "tr_open":
                self._row = []
            case "tr_close":
                self._rows.append(self._row or [])
                self._row = None
            case "table_close":
                self._pieces.append(f"<pre>{escape(aligned(self._rows), quote=False)}</pre>\n\n")
                self._rows = []

    def _marker(self) -> str:
        indent = "  " * (len(self._lists) - 1)
        number = self._lists[-1]
        if number is None:
            return f"{indent}• "
        self._lists[-1] = number + 1
        return f"{indent}{number}. "

    def _code(self, token: Token) -> None:
        language = token.info.split()[0] if token.info.split() else ""
        code = escape(token.content.rstrip("\n"), quote=False)
        if language:
            code = f'<code class="language-{escape(language)}">{code}</code>'
        self._pieces.append(f"<pre>{code}</pre>\n\n")

    def _close_quote(self) -> None:
        self._pieces[-1] = self._pieces[-1].rstrip("\n")
        self._pieces.append("</blockquote>\n")

    def _inline(self, token: Token) -> None:
        children = token.children or []
        if self._row is not None:
            self._row.append("".join(child.content for child in children))
            return
        for child in children:
            self._pieces.append(self._span(child))

    def _span(self, token: Token) -> str:
        match token.type:
            case "text" | "html_inline":
                return plain(token.content)
            case "softbreak" | "hardbreak":
                return "\n"
            case "code_inline":
                return f"<code>{escape(token.content, quote=False)}</code>"
            case "link_open":
                return f'<a href="{escape(str(token.attrs.get("href", "")))}">'
            case "link_close":
                return "</a>"
            case "image":
                return plain(token.content or str(token.attrs.get("src", "")))
        kind, _, end = token.type.rpartition("_")
        tag = INLINE.get(kind)
        return "" if tag is None else f"</{tag}>" if end == "close" else f"<{tag}>"


def plain(text: str) -> str:
    return escape(MENTION.sub(f"@{WORD_JOINER}", text), quote=False)
