"""Import of conversations: complete, without duplicates, and with later growth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from bough import Store, Text, Usage, assistant, tool_call, tool_result, user
from bough.model import Message
from bough.model.imported import Conversation, Head, ImportedMessage, Item, Skipped

T0 = 1_700_000_000_000_250


def imported(id: str, message: Message, parent: str | None = None, **more: Any) -> ImportedMessage:
    return ImportedMessage(id, message, parent, **{"created_at": T0 + int(id[1:] or 0) * 1_000_000, **more})


def chain(*messages: Message, start: int = 1, **more: Any) -> list[Item]:
    """Messages one after another: m1, m2, …"""
    return [
        imported(f"m{number}", message, f"m{number - 1}" if number > 1 else None, **more)
        for number, message in enumerate(messages, start)
    ]


def conversation(items: Sequence[Item], id: str = "c1", **more: Any) -> Conversation:
    return Conversation("elsewhere-app", id, items, **more)


FOUR = (user("one"), assistant("two"), user("three"), assistant("four"))


def texts(store: Store, key: str) -> list[str]:
    return [node.message.text for node in store.session(key).path()]


def test_a_conversation_becomes_a_session_with_its_times_turns_and_title(store: Store) -> None:
    usage = Usage(10, 5, cost=0.5)
    items = [
        *chain(user("one"), assistant("two")),
        imported("m3", user("three"), "m2"),
        imported("m4", assistant(tool_call("k", "ls")), "m3", model="m-1", provider="p", usage=usage, request_id="r1"),
        imported("m5", tool_result("k", "files"), "m4"),
        imported("m6", assistant("done"), "m5", usage=usage),
    ]
    result = store.bring_in(conversation(items, title="Tree talk", directory="/work", model="m-1", agent="a"))
    assert (result.status, result.added, result.known) == ("new", 6, 0)
    info = store.find_session("elsewhere-app:c1")
    assert info
    assert result.session == info.key
    assert (info.title, info.directory, info.model, info.agent) == ("Tree talk", "/work", "m-1", "a")
    path = store.session(info.key).path()
    assert [node.created_at for node in path] == [T0 + second * 1_000_000 for second in range(1, 7)]
    newest, first = store.turns(info.key)
    assert (first.id, first.last_id, first.status) == (path[0].id, path[1].id, "complete")
    assert (newest.id, newest.last_id, newest.model, newest.provider) == (path[2].id, path[5].id, "m-1", "p")
    assert (newest.usage, newest.request_id) == (Usage(20, 10, cost=1.0), "r1")
    assert (newest.started_at, newest.finished_at) == (T0 + 3_000_000, T0 + 6_000_000)
    assert store.find_external("elsewhere-app", "m6") == path[5].id
    assert store.verify() == []


def test_importing_it_again_adds_nothing(store: Store) -> None:
    store.bring_in(conversation(chain(*FOUR)))
    before = list(store.list_messages())
    again = store.bring_in(conversation(chain(*FOUR)))
    assert (again.status, again.added, again.known) == ("known", 0, 4)
    assert list(store.list_messages()) == before
    assert len(store.turns()) == 2


def test_a_grown_conversation_adds_its_growth_and_the_session_follows(store: Store) -> None:
    store.bring_in(conversation(chain(*FOUR[:3])))
    assert texts(store, "elsewhere-app:c1") == ["one", "two"]
    assert store.turns()[0].status == "interrupted"
    grown = store.bring_in(conversation(chain(*FOUR)))
    assert (grown.status, grown.added, grown.known, grown.elsewhere) == ("grown", 1, 3, None)
    assert texts(store, "elsewhere-app:c1") == ["one", "two", "three", "four"]
    assert [turn.status for turn in store.turns()] == ["complete", "complete"]


def test_what_was_continued_here_stays_and_the_growth_gets_a_session_beside_it(store: Store) -> None:
    store.bring_in(conversation(chain(*FOUR[:2]), title="ScriptedShell"))
    store.session("elsewhere-app:c1").save_turn([user("here"), assistant("mine")])
    grown = store.bring_in(conversation(chain(*FOUR), title="ScriptedShell"))
    assert grown.elsewhere == "elsewhere-app:c1:elsewhere"
    assert texts(store, "elsewhere-app:c1") == ["one", "two", "here", "mine"]
    assert texts(store, grown.elsewhere) == ["one", "two", "three", "four"]
    more = store.bring_in(conversation(chain(*FOUR, user("five"), assistant("six")), title="ScriptedShell"))
    assert (more.added, more.elsewhere) == (2, grown.elsewhere)
    assert texts(store, grown.elsewhere)[-1] == "six"
    assert len(store.sessions()) == 2


def test_a_session_in_the_middle_of_a_turn_is_left_where_it_is(store: Store) -> None:
    store.bring_in(conversation(chain(*FOUR[:2])))
    session = store.session("elsewhere-app:c1")
    with session.turn(user("here")) as turn:
        assert store.bring_in(conversation(chain(*FOUR))).elsewhere == "elsewhere-app:c1:elsewhere"
        turn.add(assistant("mine"))
    assert texts(store, session.key)[-1] == "mine"


def test_a_deleted_conversation_stays_deleted_unless_asked_for_again(store: Store) -> None:
    store.bring_in(conversation(chain(*FOUR)))
    store.delete_session("elsewhere-app:c1")
    assert store.bring_in(conversation(chain(*FOUR))).status == "deleted"
    store.purge()
    assert store.bring_in(conversation(chain(*FOUR))).status == "deleted"
    assert list(store.list_messages()) == []
    again = store.bring_in(conversation(chain(*FOUR)), again=True)
    assert (again.status, again.added) == ("new", 4)
    assert texts(store, "elsewhere-app:c1")[-1] == "four"


def test_a_restored_conversation_is_known_again_and_grows(store: Store) -> None:
    store.bring_in(conversation(chain(*FOUR[:2])))
    store.delete_session("elsewhere-app:c1")
    store.restore("elsewhere-app:c1")
    assert store.bring_in(conversation(chain(*FOUR[:2]))).known == 2
    assert store.bring_in(conversation(chain(*FOUR))).added == 2
    assert texts(store, "elsewhere-app:c1")[-1] == "four"


def test_deleted_messages_stay_deleted_and_growth_follows_what_is_left(store: Store) -> None:
    store.bring_in(conversation(chain(*FOUR)))
    doomed = store.find_external("elsewhere-app", "m3")
    assert doomed
    store.delete_messages([doomed], recursive=True)
    known = store.bring_in(conversation(chain(*FOUR)))
    assert (known.added, known.elsewhere, len(store.sessions())) == (0, None, 1)
    grown = store.bring_in(conversation(chain(*FOUR, user("five"), assistant("six"))))
    assert grown.added == 2
    assert texts(store, "elsewhere-app:c1") == ["one", "two", "five", "six"]


def test_every_branch_is_kept_and_further_heads_become_sessions(store: Store) -> None:
    items = [*chain(*FOUR), imported("m5", assistant("four, retried"), "m3"), imported("m6", user("other"), "m2")]
    heads = (Head("elsewhere-app:c1:tangent", "m5", title="Tangent"),)
    result = store.bring_in(conversation(items, head="m4", heads=heads))
    assert result.added == 6
    assert texts(store, "elsewhere-app:c1")[-1] == "four"
    assert texts(store, "elsewhere-app:c1:tangent")[-1] == "four, retried"
    (tree,) = store.forest()
    assert sum(1 for _ in store.list_messages()) == 6
    assert tree.node.message.text == "one"
    assert store.bring_in(conversation(items, head="m4", heads=heads)).added == 0
    assert len(store.sessions()) == 2


def test_a_head_that_was_deleted_here_comes_back_only_when_asked_for(store: Store) -> None:
    items = [*chain(*FOUR), imported("m5", assistant("four, retried"), "m3")]
    heads = (Head("elsewhere-app:c1:tangent", "m5"),)
    store.bring_in(conversation(items, head="m4", heads=heads))
    store.delete_session("elsewhere-app:c1:tangent")
    store.bring_in(conversation(items, head="m4", heads=heads))
    assert store.find_session("elsewhere-app:c1:tangent") is None
    assert store.bring_in(conversation(items, head="m4", heads=heads), again=True).session == "elsewhere-app:c1"
    assert store.find_session("elsewhere-app:c1:tangent")


def test_a_fork_that_replays_its_origin_shares_it_and_counts_nothing_twice(store: Store) -> None:
    usage = Usage(10, 5)
    store.bring_in(conversation(chain(*FOUR, usage=usage)))
    replay = [
        *chain(*FOUR[:2], usage=usage),
        imported("n9", user("fork"), "m2"),
        imported("n10", assistant("ok"), "n9"),
    ]
    result = store.bring_in(conversation(replay, "c2"))
    assert (result.status, result.added, result.known) == ("new", 2, 2)
    assert texts(store, "elsewhere-app:c2") == ["one", "two", "fork", "ok"]
    (total,) = store.usage()
    assert total.usage.input_tokens == 40


def test_a_replay_under_new_names_is_recognised_by_what_was_said_and_when(store: Store) -> None:
    store.bring_in(conversation(chain(*FOUR)))
    renamed: list[Item] = [
        imported(f"n{number}", message, f"n{number - 1}" if number > 1 else None)
        for number, message in enumerate((*FOUR, user("more"), assistant("yes")), 1)
    ]
    result = store.bring_in(conversation(renamed, "c2"))
    assert (result.added, result.known) == (2, 4)
    assert sum(1 for _ in store.list_messages()) == 6


def test_the_same_words_at_another_time_are_another_message(store: Store) -> None:
    store.bring_in(conversation(chain(user("hi"), assistant("hello"))))
    later = [imported("n7", user("hi")), imported("n8", assistant("hello"), "n7")]
    assert store.bring_in(conversation(later, "c2")).added == 2


def test_a_reply_that_was_half_written_at_the_last_import_becomes_whole(store: Store) -> None:
    half, whole = assistant("thinking…"), assistant("thinking…", "said")
    store.bring_in(conversation([*chain(user("one")), imported("m2", half, "m1", usage=Usage(10, 1))]))
    result = store.bring_in(conversation([*chain(user("one")), imported("m2", whole, "m1", usage=Usage(10, 9))]))
    assert (result.status, result.added) == ("grown", 1)
    assert [node.message for node in store.list_messages(ascending=True)] == [user("one"), whole]
    assert texts(store, "elsewhere-app:c1")[-1] == "thinking…\nsaid"
    (turn,) = store.turns()
    assert turn.usage == Usage(10, 9)
    assert store.verify() == []
    assert store.trash() == []


def test_a_subagent_is_linked_to_the_session_message_and_call_that_started_it(store: Store) -> None:
    call = assistant(tool_call("k1", "Task"))
    store.bring_in(conversation([*chain(user("one")), imported("m2", call, "m1")]))
    items = [imported("s1", user("look")), imported("s2", assistant("found"), "s1")]
    child = conversation(items, "c1/agent", agent="scout", parent="c1", parent_message="m2", parent_call="k1")
    store.bring_in(child)
    info = store.find_session("elsewhere-app:c1/agent")
    assert info
    assert (info.parent_key, info.agent) == ("elsewhere-app:c1", "scout")
    assert info.parent_message_id == store.find_external("elsewhere-app", "m2")
    (turn,) = store.turns(info.key)
    assert (turn.caller_id, turn.caller_call) == (info.parent_message_id, "k1")


def test_what_a_subagent_did_is_labelled_and_left_out_of_lists(store: Store) -> None:
    store.bring_in(conversation(chain(user("ask"), assistant("reply"))))
    for name, agent in (("r1", "helper"), ("r2", None)):
        work = [imported(f"{name}1", user(f"task {name}")), imported(f"{name}2", assistant(f"done {name}"), f"{name}1")]
        store.bring_in(conversation(work, f"c1:{name}", parent="c1", agent=agent))
    labels = {node.message.text: node.label for node in store.list_messages()}
    assert labels["task r1"] == labels["done r1"] == "subagent:helper:r1"
    assert (labels["task r2"], labels["ask"]) == ("subagent:unknown:r2", None)
    assert [tree.node.words for tree in store.outline(subagents=False)] == ["ask"]


def test_a_summary_says_what_it_covers(store: Store) -> None:
    items = [*chain(*FOUR), imported("m5", user("in short"), "m4", kind="summary", covers="m4")]
    store.bring_in(conversation(items))
    path = store.session("elsewhere-app:c1").path()
    assert (path[4].kind, path[4].covers, path[4].turn_id) == ("summary", path[3].id, None)


def test_a_reply_that_was_cut_short_is_an_interrupted_turn(store: Store) -> None:
    store.bring_in(conversation([*chain(user("one")), imported("m2", assistant("tw"), "m1", finished=False)]))
    (turn,) = store.turns()
    assert (turn.status, turn.error) == ("interrupted", "The reply was cut short.")


def test_messages_with_the_same_turn_of_the_source_are_one_turn(store: Store) -> None:
    items = [imported("m1", user("a"), turn="t1"), imported("m2", user("b"), "m1", turn="t1"),
             imported("m3", assistant("c"), "m2", turn="t1"),
             imported("m4", assistant("d"), "m3", turn="t2")]  # fmt: skip
    store.bring_in(conversation(items[:2]))
    store.bring_in(conversation(items))
    newest, first = store.turns()
    path = store.session("elsewhere-app:c1").path()
    assert (first.id, first.last_id) == (path[0].id, path[2].id)
    assert (newest.id, newest.last_id) == (path[3].id, path[3].id)


def test_skipped_items_are_reported_and_kept_on_the_session(store: Store) -> None:
    items: list[Item] = [*chain(*FOUR), Skipped("file:7", "no JSON", '{"torn'), imported("m9", assistant("x"), "lost")]
    result = store.bring_in(conversation(items, extra={"branch": "main"}))
    assert [one.place for one in result.skipped] == ["file:7", "m9"]
    info = store.find_session("elsewhere-app:c1")
    assert info
    assert info.extra["branch"] == "main"
    assert info.extra["imported"]["skipped"][0] == {"place": "file:7", "reason": "no JSON", "raw": '{"torn'}


def test_of_two_messages_with_one_id_both_are_kept_and_the_second_is_named(store: Store) -> None:
    items = [*chain(*FOUR), imported("m1", user("one, but not the same"), "m4"), *chain(*FOUR)]
    result = store.bring_in(conversation(items))
    assert (result.added, result.known, result.skipped, len(result.notes)) == (5, 4, (), 1)
    assert store.verify() == []


def test_a_key_in_use_is_left_alone(store: Store) -> None:
    store.session("telegram:7").save_turn([user("mine"), assistant("yes")])
    result = store.bring_in(conversation(chain(*FOUR), key="telegram:7"))
    assert result.session == "telegram:7~2"
    assert texts(store, "telegram:7") == ["mine", "yes"]
    assert store.bring_in(conversation(chain(*FOUR), key="telegram:7")).session == "telegram:7~2"


def test_a_title_that_was_changed_here_stays(store: Store) -> None:
    store.bring_in(conversation(chain(*FOUR[:2]), title="Auto"))
    assert store.bring_in(conversation(chain(*FOUR[:2]), title="Better")).status == "known"
    assert store.session("elsewhere-app:c1").info.title == "Better"
    store.session("elsewhere-app:c1", title="Mine")
    store.bring_in(conversation(chain(*FOUR), title="Even better"))
    assert store.session("elsewhere-app:c1").info.title == "Mine"


def test_an_interrupted_import_goes_on_and_never_looks_done(store: Store) -> None:
    def torn() -> Iterator[Item]:
        for number in range(1, 1200):
            yield imported(
                f"m{number}", user("q") if number % 2 else assistant("a"), f"m{number - 1}" if number > 1 else None
            )
            if number == 1100:
                raise OSError("unplugged")

    with pytest.raises(OSError, match="unplugged"):
        store.bring_in(conversation(torn()))  # type: ignore[arg-type]
    assert store.session("elsewhere-app:c1").head is None
    kept = sum(1 for _ in store.list_messages())
    assert 0 < kept < 1100
    whole = [
        item
        for number in range(1, 1201)
        for item in (
            imported(
                f"m{number}", user("q") if number % 2 else assistant("a"), f"m{number - 1}" if number > 1 else None
            ),
        )
    ]
    result = store.bring_in(conversation(whole))
    assert (result.added, result.known) == (1200 - kept, kept)
    assert len(texts(store, "elsewhere-app:c1")) == 1200
    assert len(store.turns()) == 600
    assert store.verify() == []


def test_a_dry_run_says_what_would_come_and_writes_nothing(store: Store) -> None:
    assert store.bring_in(conversation(chain(*FOUR)), dry_run=True).added == 4
    assert list(store.list_messages()) == []
    assert store.sessions() == []
    store.bring_in(conversation(chain(*FOUR[:2])))
    foreseen = store.bring_in(conversation(chain(*FOUR)), dry_run=True)
    assert (foreseen.status, foreseen.added, foreseen.known) == ("grown", 2, 2)


def test_a_conversation_without_messages_makes_no_session(store: Store) -> None:
    assert store.bring_in(conversation([Skipped("file:1", "nothing")])).status == "empty"
    assert store.sessions() == []


def test_what_cannot_be_written_down_beside_a_conversation_does_not_keep_it_out(store: Store) -> None:
    deep: Any = 1
    for _ in range(5_000):
        deep = [deep]
    items: list[Item] = [*chain(*FOUR), Skipped("file:1", "too deep", deep)]
    assert store.bring_in(conversation(items, extra={"deep": deep})).added == 4
    assert store.bring_in(conversation(items, extra={"deep": float("nan")})).known == 4
    assert store.session("elsewhere-app:c1").info.extra["imported"]["id"] == "c1"


def test_hostile_names_and_texts_survive(store: Store) -> None:
    odd = "\0\ud800" + "x" * 3000
    item = ImportedMessage(odd, Message("assistant", (Text(odd),)), model=odd, request_id=odd, label=odd)
    result = store.bring_in(Conversation("elsewhere-app", odd, [item], title=odd, agent=odd, directory=odd))
    assert result.added == 1
    assert store.bring_in(Conversation("elsewhere-app", odd, [item], title=odd)).known == 1
    assert store.session(result.session or "").path()[0].message.text == odd


def test_a_message_without_a_time_gets_the_nearest_known_one_and_never_the_present(store: Store) -> None:
    items = [
        imported("m1", user("hidden"), created_at=None),
        imported("m2", user("asked"), "m1"),
        imported("m3", assistant("an answer"), "m2", created_at=None),
        imported("m4", assistant("another"), "m2"),
    ]
    store.bring_in(conversation(items, head="m4"))
    times = {node.message.text: node.created_at for node in store.list_messages()}
    asked = T0 + 2_000_000
    assert times == {"hidden": asked - 1, "asked": asked, "an answer": asked + 1, "another": T0 + 4_000_000}
    assert all(turn.started_at <= T0 + 4_000_000 for turn in store.turns())
    later = imported("m5", user("more"), "m4", created_at=None)
    store.bring_in(conversation([*items, later], head="m4"))
    assert next(iter(store.list_messages())).created_at == T0 + 4_000_001


def test_a_conversation_without_any_time_of_a_message_has_its_own_time(store: Store) -> None:
    items = [imported("m1", user("one"), created_at=None), imported("m2", assistant("two"), "m1", created_at=None)]
    store.bring_in(conversation(items, updated_at=T0))
    assert [node.created_at for node in store.list_messages(ascending=True)] == [T0, T0 + 1]


def test_the_same_id_with_other_words_is_another_message(store: Store) -> None:
    items = [
        imported("m1", user("one")),
        imported("m2", assistant("two"), "m1"),
        imported("m2", assistant("other words"), "m1"),
        imported("m3", user("after the other"), "m2"),
        imported("m2", assistant("two"), "m1"),
        imported("m4", user("after the first"), "m2"),
    ]
    result = store.bring_in(conversation(items, head="m2"))
    assert (result.added, result.skipped, len(result.notes)) == (5, (), 1)
    assert "'m2'" in result.notes[0]
    nodes = {node.message.text: node for node in store.list_messages()}
    above = {
        text: node.parent_id and store.get_messages([node.parent_id])[0].message.text for text, node in nodes.items()
    }
    assert above == {
        "one": None, "two": "one", "other words": "one", "after the other": "other words", "after the first": "two",
    }  # fmt: skip
    again = store.bring_in(conversation(items, head="m2"))
    assert (again.status, again.added, again.notes) == ("known", 0, ())


def test_words_that_were_changed_under_an_id_are_kept_beside_the_former_ones(store: Store) -> None:
    store.bring_in(conversation(chain(*FOUR)))
    changed = [*chain(*FOUR[:3]), imported("m4", assistant("something else"), "m3")]
    result = store.bring_in(conversation(changed))
    assert (result.status, result.added, len(result.notes)) == ("grown", 1, 1)
    assert {"four", "something else"} <= {node.message.text for node in store.list_messages()}
    assert store.bring_in(conversation(changed)).added == 0
    assert store.verify() == []
