"""Code in Markdown: the contents of its fenced blocks."""

from __future__ import annotations

import re

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})([^`\n]*)\n(.*?)(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)


def code_blocks(text: str) -> list[str]:
    """The contents of the fenced code blocks of a text, in order."""
    return [found[3] for found in _FENCE.finditer(text)]
