"""The outline of a store: everything in its place, with its first words only."""

from __future__ import annotations

import pytest

from bough import (
    Headline,
    Invalid,
    Media,
    NotFound,
    Save,
    Store,
    Thinking,
    Tree,
    assistant,
    tool_call,
    tool_result,
    user,
)
from tests.contract.test_messages import chain


def headlines(trees: list[Tree[Headline]]) -> list[Headline]:
    return [tree.node for root in trees for _, tree in root.walk()]


def words(trees: list[Tree[Headline]]) -> list[str]:
    return [headline.words for headline in headlines(trees)]


def test_an_outline_has_the_shape_of_the_forest(store: Store) -> None:
    ids = chain(store, 6)
    store.save_messages([Save(user("other"), ids[1]), Save(user("another tree"))])

    def shape(trees: list[Tree[Headline]] | list[Tree]) -> list[tuple[int, str, str | None, int, str]]:  # type: ignore[type-arg]
        return [
            (depth, tree.node.id, tree.node.parent_id, tree.node.created_at, tree.node.role)
            for root in trees
            for depth, tree in root.walk()
        ]

    assert shape(store.outline()) == shape(store.forest())
    assert shape(store.outline(ids[2])) == shape(store.forest(ids[2]))


def test_an_outline_tells_what_is_said_before_what_is_done(store: Store) -> None:
    call = tool_call("c1", "read", {"path": "a.txt"})
    store.save_messages(
        [
            Save(user("short")),
            Save(assistant(Thinking("hm"), call, "I look at it.")),
            Save(assistant(call)),
            Save(tool_result("c1", "the content")),
            Save(user(Media("image", "image/png", b"\x89PNG", name="tree.png"))),
            Save(user()),
        ]
    )
    assert words(store.outline()) == [
        "short", "I look at it.", 'read({"path": "a.txt"})', "the content", "[tree.png]", "",
    ]  # fmt: skip


@pytest.mark.parametrize("length", [100, 600, 3000, 200_000])
def test_an_outline_has_the_beginning_of_a_long_text(store: Store, length: int) -> None:
    text = ("naïve 木 " * length)[:length]
    store.save_messages([Save(user(text))])
    (said,) = words(store.outline())
    assert said == text[:240]


def test_the_most_recently_active_trees_are_chosen_whatever_their_age(store: Store) -> None:
    roots = store.save_messages([Save(user(str(place))) for place in range(20)])
    store.save_messages([Save(assistant("again"), roots[3])])
    assert words(store.outline(limit=3)) == ["18", "19", "3", "again"]
    assert len(store.outline(limit=100)) == 20
    with pytest.raises(Invalid):
        store.outline(limit=0)


def test_many_branches_of_one_tree_do_not_hide_the_others(store: Store) -> None:
    old, busy = store.save_messages([Save(user("old")), Save(user("busy"))])
    store.save_messages([Save(assistant(str(place)), busy) for place in range(30)])
    assert [tree.node.id for tree in store.outline(limit=2)] == [old, busy]


def test_the_runs_of_subagents_can_be_left_out_and_are_counted(store: Store) -> None:
    session = store.session("cli:default")
    session.save_turn([user("question"), assistant("answer")])
    session.delegate("reviewer", "run1").save_turn([user("review"), assistant("fine")])
    assert words(store.outline(subagents=False)) == ["question", "answer"]
    assert words(store.outline(subagents=False, limit=5)) == ["question", "answer"]
    marked = [headline for headline in headlines(store.outline()) if headline.is_subagents]
    assert [headline.words for headline in marked] == ["review", "fine"]
    size = store.size()
    assert (size.messages, size.trees, size.subagent_runs, size.sessions, size.turns) == (4, 2, 1, 2, 2)


def test_an_outline_knows_who_stands_where_and_how_turns_ended(store: Store) -> None:
    session = store.session("cli:default")
    session.save_turn([user("question"), assistant("answer")])
    session.fork(key="fork:a")
    with pytest.raises(KeyError), session.turn("never answered"):
        raise KeyError
    first, answer, lost = headlines(store.outline())
    assert (first.status, answer.sessions, answer.turn_id) == ("complete", ("fork:a", "cli:default"), first.id)
    assert (lost.status, lost.words) == ("failed", "never answered")


def test_the_outline_of_what_is_not_there_is_an_error(store: Store) -> None:
    assert store.outline() == []
    assert store.outline(limit=5) == []
    with pytest.raises(NotFound):
        store.outline("zzzzzz")


def test_headlines_come_in_the_order_asked_for(store: Store) -> None:
    ids = chain(store, 4)
    assert [one.id for one in store.headlines([ids[2], ids[0][:5], ids[2]])] == [ids[2], ids[0], ids[2]]
    assert store.headlines([]) == []
    with pytest.raises(NotFound, match="zzzzzz"):
        store.headlines([ids[0], "zzzzzz"])


def test_the_whole_tree_of_a_message_begins_at_its_root(store: Store) -> None:
    ids = chain(store, 5)
    store.save_messages([Save(user("side"), ids[1]), Save(user("another tree"))])
    (tree,) = store.outline(ids[4], whole=True)
    assert tree.node.id == ids[0]
    assert len(headlines([tree])) == 6


def test_indexing_tells_how_far_it_has_come(store: Store) -> None:
    chain(store, 3)
    seen: list[tuple[int, int]] = []
    store.index(lambda done, all_: seen.append((done, all_)))
    assert seen[-1] == (3, 3)
    store.index(lambda done, all_: seen.append((done, all_)))
    assert len(seen) == 1


def test_verifying_tells_how_far_it_has_come(store: Store) -> None:
    chain(store, 3)
    seen: list[tuple[int, int]] = []
    assert store.verify(progress=lambda done, all_: seen.append((done, all_))) == []
    assert seen == [(3, 3)]


def test_the_newest_ids_that_begin_alike_are_found(store: Store) -> None:
    ids = chain(store, 40)
    first = ids[0][0]
    assert store.find_ids(first) == [id for id in reversed(ids) if id.startswith(first)]
    assert store.find_ids("", limit=3) == ids[:-4:-1]
    assert store.find_ids(ids[5]) == [ids[5]]
    assert store.find_ids("~") == []


def test_a_tree_knows_what_came_last_in_it(store: Store) -> None:
    ids = chain(store, 3)
    (side,) = store.save_messages([Save(user("side"), ids[0])])
    (tree,) = store.outline()
    assert tree.newest.id == side
    assert store.forest()[0].newest.id == side
    assert [child.newest.id for child in tree.children] == [ids[2], side]


def test_trees_are_listed_one_by_one_in_the_order_of_the_outline(store: Store) -> None:
    first = store.session("cli:a").save_turn([user("one"), assistant("two")])
    for n in range(45):
        store.session(f"cli:{n}").save_turn([user(f"q {n}"), assistant("a")])
    store.save_messages([Save(user("a run"), label="subagent:x:1")])
    store.session("cli:a").save_turn([user("three"), assistant("four")])
    store.fork(first[0], "cli:fork")
    store.session("cli:fork").save_turn([user("other"), assistant("branch")])
    store.delete_messages(first[1:], recursive=True)
    for subagents in (True, False):
        listed = list(store.list_trees(subagents=subagents))
        whole = store.outline(subagents=subagents)
        assert [[line.node for _, line in tree.walk()] for tree in listed] == [
            [line.node for _, line in tree.walk()] for tree in whole
        ]
    assert store.has_subagent_runs()
