"""Markdown as plain words, for lists."""

from __future__ import annotations

import re

_MARKUP = (
    (re.compile(r"^ *(```|~~~).*$", re.MULTILINE), ""),
    (re.compile(r"^ {0,3}(#{1,6}|[-*+]|>|\d{1,3}[.)]) +", re.MULTILINE), ""),
    (re.compile(r"!?\[([^\]\n]*)\]\([^)\s]*\)"), r"\1"),
    (re.compile(r"(?<![\w*`])(\*\*|__|\*|_|``?)(?=\S)([^*_`\n]+?)(?<=\S)\1(?![\w*`])"), r"\2"),
)


def without_markup(text: str) -> str:
    """The text without the marks of headings, lists, links, code and emphasis."""
    for pattern, plain in _MARKUP:
        text = pattern.sub(plain, text)
    return text
