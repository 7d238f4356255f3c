"""Markdown that people want to read."""

from __future__ import annotations

from markdown_it import MarkdownIt

from bough import Store, assistant, tool_call, tool_result, user
from bough.exporters import get
from bough.exporters.collect import collect, conversation_heads


def markdown(store: Store, name: str, branches: bool = True) -> str:
    return "".join(get("md").write(collect(store, name, branches=branches)))


def test_the_dialog_comes_first_and_the_other_branches_after_it(garden: Store) -> None:
    text = markdown(garden, "cli:garden")
    assert text.startswith("# The oak & the <ash>\n")
    places = [
        text.index(words)
        for words in ("How old is the oak?", "About **210**", "Younger.", "Another branch", "In feet?", "In French?")
    ]
    assert places == sorted(places)
    assert text.count("How old is the oak?") == 1
    assert text.count("## Another branch") == 2


def test_one_dialog_alone_has_no_branches(garden: Store) -> None:
    text = markdown(garden, "cli:branch-0", branches=False)
    assert "In feet?" in text
    assert "In French?" not in text
    assert "Another branch" not in text


def test_a_tool_call_is_folded_with_its_arguments_and_result(garden: Store) -> None:
    text = markdown(garden, "cli:garden")
    assert "<details><summary>Call of measure</summary>" in text
    assert '"tree": "oak"' in text
    assert "<details><summary>Result of measure</summary>" in text
    assert "<sub>m-1 · 1,200 in, 34 out · $0.0042</sub>" in text


def test_what_a_tool_said_cannot_leave_its_fence(store: Store) -> None:
    hostile = "```\n# not a heading\n`````\n<script>"
    store.session("s").save_turn([
        user("go"), assistant(tool_call("c", "</summary><script>", {})), tool_result("c", hostile), assistant("done")
    ])  # fmt: skip
    tokens = MarkdownIt().parse(markdown(store, "s"))
    assert hostile + "\n" in [token.content for token in tokens if token.type == "fence"]
    assert "Call of &lt;/summary>&lt;script>" in markdown(store, "s")


def test_a_reply_that_was_cut_short_says_so(store: Store) -> None:
    session = store.session("s")
    turn = session.turn("question")
    turn.sketch("The oak is")
    turn.interrupt()
    assert "*error* · *interrupted*" in markdown(store, turn.info.last_id)


def test_text_that_utf_8_cannot_hold_is_written_all_the_same(store: Store) -> None:
    (id,) = [store.session("s").save_turn([user("\ud800\0"), assistant("ok")])[0]]
    assert "?\ufffd" in markdown(store, id).encode("utf-8").decode()


def test_every_tree_is_collected_once(garden: Store) -> None:
    garden.session("cli:other").save_turn([user("Another tree"), assistant("yes")])
    collected = [collect(garden, id) for id in conversation_heads(garden)]
    assert [one.title for one in collected] == ["How old is the oak?", "Another tree"]
    assert sum(len(one.nodes) for one in collected) == len(list(garden.list_messages()))
