"""Arbitrary text, and the characters that no terminal may receive."""

from __future__ import annotations

from hypothesis import strategies as st

FORBIDDEN = {
    *map(chr, range(32)),
    *map(chr, range(0x7F, 0xA0)),
    *"\u061c\u200e\u200f\u2028\u2029\u202a\u202d\u202e\u2066\u2069",
}

ANY_TEXT = st.text(st.characters(exclude_categories=()))
