"""Markdown as Telegram shows it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bough.channels.telegram.markup import to_html
from tests.channels.fake_telegram import parsed

CASES = [
    (
        "**bold** and *italic* and `code` and ~~gone~~",
        "<b>bold</b> and <i>italic</i> and <code>code</code> and <s>gone</s>",
    ),
    ("# Title\n\ntext", "<b>Title</b>\n\ntext"),
    ("- one\n- two\n  - three", "• one\n• two\n  • three"),
    ("3. three\n4. four", "3. three\n4. four"),
    ("```python\nif a < b:\n    pass\n```", '<pre><code class="language-python">if a &lt; b:\n    pass</code></pre>'),
    ("> said", "<blockquote>said</blockquote>"),
    ("[bough](https://example.org/?a=1&b=2)", '<a href="https://example.org/?a=1&amp;b=2">bough</a>'),
    ("| tree | age |\n|---|---|\n| oak | 200 |", "<pre>tree | age\n-----+----\noak  | 200</pre>"),
    ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
    ("Ask @carol", "Ask @\u2060carol"),
    ("`@carol`", "<code>@carol</code>"),
]


@pytest.mark.parametrize(("markdown", "html"), CASES)
def test_markdown_becomes_the_tags_that_telegram_knows(markdown: str, html: str) -> None:
    assert to_html(markdown) == html


@given(
    st.lists(
        st.sampled_from(["*", "**", "_", "`", "```\n", "<b>", "a ", "\n", "- ", "> ", "| a |\n|---|\n", "[x](", ")"])
    )
)
def test_the_html_of_any_text_is_well_formed(pieces: list[str]) -> None:
    parsed(to_html("".join(pieces)))
