"""Which words two texts do not have in common."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import TypeAlias

Words: TypeAlias = list[tuple[str, bool]]
"""Words and spaces of a text, and whether the other text lacks them."""
LARGEST = 20_000
"""Words of a text that are compared one by one; longer texts are compared by lines."""


def words(text: str) -> list[str]:
    """The words, spaces and line breaks of a text."""
    return re.findall(r"\n|[^\S\n]+|\S+", text)


def differences(one: str, other: str) -> tuple[Words, Words]:
    """The words of two texts, marked where they differ."""
    texts: list[Sequence[str]] = [words(one), words(other)]
    if max(map(len, texts)) > LARGEST:
        texts = [text.splitlines(keepends=True) for text in (one, other)]
    flags = [[True] * len(text) for text in texts]
    for block in SequenceMatcher(None, texts[0], texts[1], autojunk=False).get_matching_blocks():
        flags[0][block.a : block.a + block.size] = [False] * block.size
        flags[1][block.b : block.b + block.size] = [False] * block.size
    first, second = (list(zip(text, flag, strict=True)) for text, flag in zip(texts, flags, strict=True))
    return first, second
