"""Which conversation is meant, decided on a real store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import bough
from bough import Invalid, NotFound, Refused, Session, Store, assistant, user
from bough.cli.ask.choose import Wish, choose, find_last, free_key, read_continue, remembered

HERE = "/home/me/garden"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with bough.connect(tmp_path / "chats.db") as store:
        yield store


def talk(session: Session, word: str) -> list[str]:
    return session.save_turn([user(word), assistant(word.upper())])


def interrupted(session: Session, question: str, partial: str | None = None) -> str:
    turn = session.turn(user(question))
    if partial:
        turn.sketch(partial)
    turn.interrupt()
    return turn.id


def test_the_first_question_begins_a_conversation_named_after_the_directory(store: Store) -> None:
    session = choose(store, Wish(), HERE).session
    assert (session.key, session.info.directory) == ("cli:garden", HERE)
    assert choose(store, Wish(), "/").session.key == "cli:default"
    assert choose(store, Wish(), "/tmp/a b:c").session.key == "cli:a-b-c"


def test_the_directory_continues_where_it_left_off(store: Store) -> None:
    talk(choose(store, Wish(), HERE).session, "one")
    talk(choose(store, Wish(), "/elsewhere").session, "other")
    assert choose(store, Wish(), HERE).session.key == "cli:garden"
    assert choose(store, Wish(last=True), HERE).session.key == "cli:garden"


def test_new_begins_another_one_and_the_directory_goes_on_with_it(store: Store) -> None:
    talk(choose(store, Wish(), HERE).session, "one")
    fresh = choose(store, Wish(new=True), HERE).session
    assert fresh.key.startswith("cli:garden-")
    assert fresh.path() == []
    talk(fresh, "two")
    assert choose(store, Wish(), HERE).session.key == fresh.key


def test_asking_for_a_new_one_twice_makes_one_empty_session(store: Store) -> None:
    talk(choose(store, Wish(), HERE).session, "one")
    keys = {choose(store, Wish(new=True), HERE).session.key for _ in range(3)}
    assert len(keys) == 1


def test_a_new_one_is_not_the_one_that_somebody_else_has_just_begun(store: Store) -> None:
    first = choose(store, Wish(new=True), HERE).session
    with first.turn(user("still running")) as turn:
        assert choose(store, Wish(new=True), HERE).session.key != first.key
        turn.add(assistant("done"))


def test_there_may_be_nothing_to_continue(store: Store) -> None:
    with pytest.raises(NotFound, match=r"^No conversation to continue in this directory\. Ask something"):
        choose(store, Wish(last=True), HERE)
    talk(store.session("telegram:7"), "x")
    with pytest.raises(NotFound, match=r"^No conversation to continue .* elsewhere: --resume telegram:7"):
        choose(store, Wish(last=True), HERE)


def test_a_question_without_an_answer_is_never_continued(store: Store) -> None:
    session = choose(store, Wish(), HERE).session
    first, reply = talk(session, "one")
    dangling = interrupted(session, "two", "half an ans")
    chosen = choose(store, Wish(last=True), HERE).session
    assert chosen.key == "cli:garden"
    assert chosen.head == reply
    store.fork(dangling, "cli:dangling").update(directory=HERE)
    store.fork(first, "cli:words").update(directory=HERE)
    assert choose(store, Wish(last=True), HERE).session.key == "cli:garden"
    assert choose(store, Wish(), HERE).session.key == "cli:garden"


def test_a_subagents_trace_is_never_continued(store: Store) -> None:
    session = choose(store, Wish(), HERE).session
    talk(session, "one")
    child = session.delegate("critic")
    child.update(directory=HERE)
    (_, trace) = talk(child, "sub")
    talk(store.session("subagent:critic:abc", directory=HERE), "alone")
    store.fork(trace, "cli:a-fork-of-the-trace").update(directory=HERE)
    assert choose(store, Wish(last=True), HERE).session.key == "cli:garden"
    assert choose(store, Wish(), HERE).session.key == "cli:garden"


def test_conversations_of_other_channels_are_continued_by_name_only(store: Store) -> None:
    talk(store.session("claude-code:123", directory=HERE), "imported")
    assert find_last(store, HERE) is None
    assert choose(store, Wish(resume="claude-code:123"), HERE).session.key == "claude-code:123"


def test_continuing_from_a_message_stays_in_the_session_that_stands_there(store: Store) -> None:
    session = choose(store, Wish(), HERE).session
    (_, reply) = talk(session, "one")
    chosen = choose(store, Wish(after=reply), HERE)
    assert (chosen.session.key, chosen.note) == ("cli:garden", None)


def test_continuing_from_where_somebody_else_stands_forks_too(store: Store) -> None:
    for key, directory in (("telegram:7", None), ("cli:far", "/far"), ("subagent:critic:abc", HERE)):
        (_, reply) = talk(store.session(key, directory=directory), key)
        chosen = choose(store, Wish(after=reply), HERE)
        assert (chosen.session.head, chosen.session.info.directory) == (reply, HERE)
        assert chosen.session.key.startswith("cli:garden")
    assert choose(store, Wish(resume=reply), HERE).session.key.startswith("cli:garden")  # not the subagent's


def test_continuing_from_an_earlier_message_forks_and_says_so(store: Store) -> None:
    session = store.session("cli:far", directory="/far", model="scripted:x", agent="critic")
    (_, reply) = talk(session, "one")
    talk(session, "two")
    chosen = choose(store, Wish(after=reply[:5]), HERE)
    info = chosen.session.info
    assert (info.head_id, info.directory, info.key) == (reply, HERE, "cli:garden")
    assert (info.model, info.agent) == ("scripted:x", "critic")
    assert chosen.note == f"Forked at {reply} as cli:garden"
    assert len(session.path()) == 4
    assert choose(store, Wish(after=reply, session="branch"), HERE).session.key == "cli:branch"


def test_resuming_by_any_message_resumes_the_conversation_and_not_the_message(store: Store) -> None:
    session = choose(store, Wish(), HERE).session
    first, reply = talk(session, "one")
    talk(session, "two")
    store.fork(reply, "cli:later fork")
    for name in (first, reply, "cli:garden", "garden", reply[:4]):
        chosen = choose(store, Wish(resume=name), "/elsewhere")
        assert (chosen.session.key, chosen.note) == ("cli:garden", None), name


def test_an_interrupted_turn_is_taken_up_again_or_built_upon(store: Store) -> None:
    session = choose(store, Wish(), HERE).session
    talk(session, "one")
    turn = interrupted(session, "two", "half an ans")
    partial = store.turn_info(turn).last_id
    for wish in (Wish(resume=turn), Wish(after=turn), Wish(resume=partial), Wish(after=partial)):
        taken = choose(store, wish, HERE, asks=False)
        assert (taken.session.key, taken.unfinished) == ("cli:garden", turn)
    added = choose(store, Wish(resume=turn), HERE, asks=True)
    assert (added.session.key, added.unfinished) == ("cli:garden", turn)
    built = choose(store, Wish(after=partial), HERE)
    assert built.session.path()[-1].message.text == "half an ans"
    assert built.unfinished is None


def test_an_interrupted_turn_is_taken_up_beside_a_session_that_has_moved_on(store: Store) -> None:
    session = choose(store, Wish(), HERE).session
    (_, reply) = talk(session, "one")
    turn = interrupted(session, "two", "half an ans")
    talk(session, "three")
    again = choose(store, Wish(resume=turn), HERE, asks=False)
    assert (again.session.head, again.question, again.unfinished) == (reply, user("two"), None)
    built = choose(store, Wish(resume=turn), HERE, asks=True)
    assert [node.message.text for node in built.session.path()][-2:] == ["two", "half an ans"]
    assert [node.message.text for node in session.path()][-1] == "THREE"


def test_a_question_can_be_asked_again_beside_the_first(store: Store) -> None:
    session = choose(store, Wish(), HERE).session
    first, reply = talk(session, "one")
    second, _ = talk(session, "two")
    chosen = choose(store, Wish(after=second), HERE, asks=False)
    assert chosen.question == user("two")
    assert chosen.session.head == reply
    root = choose(store, Wish(after=first), HERE, asks=False)
    assert root.question == user("one")
    assert root.session.head is None


def test_what_is_not_there_is_not_found(store: Store) -> None:
    for wish in (Wish(resume="nobody"), Wish(after="a1b2c3")):
        with pytest.raises(NotFound, match=r"^Conversation not found"):
            choose(store, wish, HERE)
    with pytest.raises(NotFound, match=r"^No conversation to continue: session 'cli:work' is empty"):
        choose(store, Wish(last=True, session="work"), HERE)


def test_a_named_session_is_found_or_made_or_begun_afresh(store: Store) -> None:
    session = choose(store, Wish(session="work"), HERE).session
    assert (session.key, session.info.directory) == ("cli:work", HERE)
    talk(session, "one")
    assert choose(store, Wish(session="work"), "/elsewhere").session.info.directory == HERE
    assert choose(store, Wish(session="telegram:7"), HERE).session.key == "telegram:7"
    afresh = choose(store, Wish(session="work", new=True), HERE)
    assert afresh.session.path() == []
    assert afresh.note is not None
    kept = store.session(afresh.note.rpartition(" ")[2])
    assert [node.message.text for node in kept.path()] == ["one", "ONE"]


@pytest.mark.parametrize(
    "wish",
    [Wish(new=True, last=True), Wish(new=True, resume="x"), Wish(last=True, resume="x"), Wish(resume="x", session="y")],
)
def test_flags_that_disagree_are_refused(store: Store, wish: Wish) -> None:
    with pytest.raises(Invalid, match="use one of them"):
        choose(store, wish, HERE)
    assert store.sessions() == []


def test_what_follows_c_is_an_id_if_one_has_that_id(store: Store) -> None:
    (_, reply) = talk(store.session("cli:x"), "one")
    assert read_continue(store, reply, ["and", "then?"]) == (reply, ["and", "then?"])
    assert read_continue(store, "what about it?", []) == (None, ["what about it?"])
    assert read_continue(store, "what", ["about", "it?"]) == (None, ["what", "about", "it?"])
    assert read_continue(store, "", ["hi"]) == (None, ["hi"])
    assert read_continue(store, "python3", []) == (None, ["python3"])
    with pytest.raises(NotFound, match=r"^Conversation not found: no message is called 'a1b2c3'"):
        read_continue(store, "a1b2c3", ["more"])


def test_a_word_that_happens_to_begin_an_id_is_asked_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with bough.connect(tmp_path / "x.db") as store:
        monkeypatch.setattr("bough.model.ids.mint_many", _names())
        talk(store.session("cli:x"), "one")
        with pytest.raises(Refused, match="'what' is the beginning of the id 'whatis'"):
            read_continue(store, "what", ["now"])
        assert read_continue(store, "w1at", ["now"]) == ("w1atis", ["now"])


def _names() -> object:
    names = iter(["whatis", "w1atis"])
    return lambda count, _: [next(names) for _ in range(count)]


def test_a_fork_that_was_made_elsewhere_gets_the_directory_where_it_is_used(store: Store) -> None:
    (_, reply) = talk(store.session("cli:x", directory="/far"), "one")
    store.fork(reply, "cli:forked")
    assert choose(store, Wish(session="forked"), HERE).session.info.directory == HERE
    store.fork(reply, "cli:other")
    assert choose(store, Wish(after=reply), HERE).session.key in ("cli:other", "cli:forked")
    assert choose(store, Wish(last=True), HERE).session.key in ("cli:other", "cli:forked")


def test_a_key_in_use_gets_something_after_it(store: Store) -> None:
    store.session("cli:garden")
    assert free_key(store, HERE).startswith("cli:garden-")


def test_nothing_is_forked_when_there_is_nothing_to_ask(store: Store) -> None:
    ids = talk(choose(store, Wish(), HERE).session, "one")
    talk(choose(store, Wish(), HERE).session, "two")
    with pytest.raises(Invalid, match="nothing to ask"):
        choose(store, Wish(after=ids[1]), HERE, asks=False)
    assert [info.key for info in store.sessions()] == ["cli:garden"]


def test_what_is_remembered_is_what_the_chosen_session_remembers(store: Store) -> None:
    session = choose(store, Wish(), HERE).session
    session.update(model="openai:one")
    ids = talk(session, "one") + talk(session, "two")
    broken = interrupted(session, "three")
    store.session("cli:work", directory="/elsewhere").update(model="openai:two")
    for wish, asks in [
        (Wish(), True), (Wish(last=True), True), (Wish(after=ids[1]), True), (Wish(after=ids[2]), False),
        (Wish(resume=ids[0]), True), (Wish(resume=broken), False), (Wish(after=broken), True),
        (Wish(session="work"), True), (Wish(session="unheard-of"), True), (Wish(new=True), True),
    ]:  # fmt: skip
        info = remembered(store, wish, HERE, asks)
        assert choose(store, wish, HERE, asks).session.info.model == (info.model if info else None), wish


def test_remembering_makes_nothing_and_finds_what_choosing_finds(store: Store) -> None:
    for wish in (Wish(last=True), Wish(after="a1b2c3")):
        with pytest.raises(NotFound):
            remembered(store, wish, HERE)
    assert remembered(store, Wish(session="work"), HERE) is None
    assert store.sessions() == []


def test_a_session_without_a_name_is_refused(store: Store) -> None:
    for name in ("", " "):
        with pytest.raises(Invalid, match="needs a name"):
            choose(store, Wish(session=name), HERE)
    assert store.sessions() == []
