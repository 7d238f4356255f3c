"""What an exported page costs: wide trees, and code that is slow to highlight."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bough import Save, Store, user
from bough.exporters.collect import collect
from bough.exporters.html import EXPORTER, prose


def test_the_places_of_siblings_are_counted_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    (root,) = store.save_messages([Save(user("root"))])
    store.save_messages([Save(user(f"child {number}"), parent_id=root) for number in range(300)])
    conversation = collect(store, root)
    compared = 0
    node = type(conversation.nodes[0])
    real = node.__eq__

    def counted(self: object, other: object) -> bool:
        nonlocal compared
        compared += 1
        return real(self, other)

    monkeypatch.setattr(node, "__eq__", counted)
    page = "".join(EXPORTER.write(conversation))
    assert "<span>300 / 300</span>" in page
    assert compared <= 300


def test_a_block_that_is_slow_to_highlight_is_shown_plain_and_so_are_others_of_its_language(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import pygments.lexers

    class Endless:
        read = 0

        def get_tokens(self, text: str) -> Iterator[tuple[None, str]]:
            while True:
                Endless.read += 1
                yield None, text

    monkeypatch.setattr(pygments.lexers, "get_lexer_by_name", lambda *_, **__: Endless())
    monkeypatch.setattr(prose, "LONGEST", 0.01)
    monkeypatch.setattr(prose, "_slow", set())
    shown = prose.code("1 < 2", "slow")
    assert "1 &lt; 2" in shown
    read = Endless.read
    assert prose.code("1 < 2", "slow") == shown
    assert Endless.read == read


def test_a_very_long_line_is_shown_plain() -> None:
    """Of this one a lexer would not be done after a minute, in a single pattern."""
    assert (
        prose.code("(" * 30_000, "html+ng2")
        == f'<pre class="code" dir="ltr" tabindex="0"><code>{"(" * 30_000}</code></pre>'
    )
