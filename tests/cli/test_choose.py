"""Which conversation is meant, decided on a real store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import bough
from bough import Invalid, NotFound, Refused, Session, Store, assistant, user
from bough.cli.ask.choose import (
    Choice,
    Target,
    carry_out,
    find_last,
    free_key,
    plan_conversation,
    planned_dialog,
    read_continue,
)

HERE = "/home/me/garden"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with bough.connect(tmp_path / "chats.db") as store:
        yield store


def choose(store: Store, target: Target, directory: str, asks: bool = True) -> Choice:
    return carry_out(store, plan_conversation(store, target, directory, asks))


def talk(session: Session, word: str) -> list[str]:
    return session.save_turn([user(word), assistant(word.upper())])


def interrupted(session: Session, question: str, partial: str | None = None) -> str:
    turn = session.turn(user(question))
    if partial:
        turn.sketch(partial)
    turn.interrupt()
    return turn.id


def test_the_first_session_of_a_directory_has_its_name(store: Store) -> None:
    session = choose(store, Target(), HERE).session
    assert (session.key, session.info.directory) == ("cli:garden", HERE)
    assert choose(store, Target(), "/").session.key == "cli:default"
    assert choose(store, Target(), "/tmp/a b:c").session.key == "cli:a-b-c"


def test_the_default_is_the_directorys_last_session(store: Store) -> None:
    talk(choose(store, Target(), HERE).session, "one")
    talk(choose(store, Target(), "/elsewhere").session, "other")
    assert choose(store, Target(), HERE).session.key == "cli:garden"
    assert choose(store, Target(last=True), HERE).session.key == "cli:garden"


def test_new_creates_a_session_that_becomes_the_directorys_last(store: Store) -> None:
    talk(choose(store, Target(), HERE).session, "one")
    fresh = choose(store, Target(new=True), HERE).session
    assert fresh.key.startswith("cli:garden-")
    assert fresh.path() == []
    talk(fresh, "two")
    assert choose(store, Target(), HERE).session.key == fresh.key


def test_new_reuses_an_empty_session(store: Store) -> None:
    talk(choose(store, Target(), HERE).session, "one")
    keys = {choose(store, Target(new=True), HERE).session.key for _ in range(3)}
    assert len(keys) == 1


def test_new_does_not_reuse_a_session_with_a_running_turn(store: Store) -> None:
    first = choose(store, Target(new=True), HERE).session
    with first.turn(user("still running")) as turn:
        assert choose(store, Target(new=True), HERE).session.key != first.key
        turn.add(assistant("done"))


def test_there_may_be_nothing_to_continue(store: Store) -> None:
    with pytest.raises(NotFound, match=r"^No conversation to continue in this directory\. Ask something"):
        choose(store, Target(last=True), HERE)
    talk(store.session("telegram:7"), "x")
    with pytest.raises(NotFound, match=r"^No conversation to continue .* elsewhere: --resume telegram:7"):
        choose(store, Target(last=True), HERE)


def test_a_question_without_an_answer_is_never_continued(store: Store) -> None:
    session = choose(store, Target(), HERE).session
    first, reply = talk(session, "one")
    dangling = interrupted(session, "two", "half an ans")
    chosen = choose(store, Target(last=True), HERE).session
    assert chosen.key == "cli:garden"
    assert chosen.head == reply
    store.fork(dangling, "cli:dangling").update(directory=HERE)
    store.fork(first, "cli:words").update(directory=HERE)
    assert choose(store, Target(last=True), HERE).session.key == "cli:garden"
    assert choose(store, Target(), HERE).session.key == "cli:garden"


def test_a_subagents_trace_is_never_continued(store: Store) -> None:
    session = choose(store, Target(), HERE).session
    talk(session, "one")
    child = session.delegate("critic")
    child.update(directory=HERE)
    (_, trace) = talk(child, "sub")
    talk(store.session("subagent:critic:abc", directory=HERE), "alone")
    store.fork(trace, "cli:a-fork-of-the-trace").update(directory=HERE)
    assert choose(store, Target(last=True), HERE).session.key == "cli:garden"
    assert choose(store, Target(), HERE).session.key == "cli:garden"


def test_conversations_of_other_channels_are_continued_by_name_only(store: Store) -> None:
    imported = store.session("claude-code:123")
    imported.update(directory=HERE)
    talk(imported, "imported")
    assert find_last(store, HERE) is None
    assert choose(store, Target(resume="claude-code:123"), HERE).session.key == "claude-code:123"


def test_what_was_resumed_and_talked_to_here_is_continued_here_and_stays_the_other_directorys(store: Store) -> None:
    first = choose(store, Target(), HERE).session
    talk(first, "one")
    talk(choose(store, Target(), "/elsewhere").session, "two")
    resumed = choose(store, Target(resume=first.key), "/elsewhere").session
    assert choose(store, Target(last=True), "/elsewhere").session.key == "cli:elsewhere"  # nothing said there yet
    talk(resumed, "three")
    for target in (Target(), Target(last=True)):
        assert choose(store, target, "/elsewhere").session.key == first.key
        assert choose(store, target, HERE).session.key == first.key
    assert first.info.directory == HERE
    store.delete_session("cli:elsewhere")
    store.restore("cli:elsewhere")
    store.session("cli:elsewhere", title="Renamed")
    assert choose(store, Target(last=True), "/elsewhere").session.key == first.key
    talk(choose(store, Target(session="elsewhere"), "/elsewhere").session, "four")
    assert choose(store, Target(last=True), "/elsewhere").session.key == "cli:elsewhere"


def test_continuing_from_a_head_stays_in_its_session(store: Store) -> None:
    session = choose(store, Target(), HERE).session
    (_, reply) = talk(session, "one")
    chosen = choose(store, Target(after=reply), HERE)
    assert (chosen.session.key, chosen.note) == ("cli:garden", None)


def test_continuing_from_the_head_of_another_channel_or_directory_forks(store: Store) -> None:
    for key, directory in (("telegram:7", None), ("cli:far", "/far"), ("subagent:critic:abc", HERE)):
        (_, reply) = talk(store.session(key, directory=directory), key)
        chosen = choose(store, Target(after=reply), HERE)
        assert (chosen.session.head, chosen.session.info.directory) == (reply, HERE)
        assert chosen.session.key.startswith("cli:garden")
    assert choose(store, Target(resume=reply), HERE).session.key.startswith("cli:garden")  # not the subagent's


def test_continuing_from_an_earlier_message_forks_with_a_note(store: Store) -> None:
    session = store.session("cli:far", directory="/far", model="scripted:x", agent="critic")
    (_, reply) = talk(session, "one")
    talk(session, "two")
    chosen = choose(store, Target(after=reply[:5]), HERE)
    info = chosen.session.info
    assert (info.head_id, info.directory, info.key) == (reply, HERE, "cli:garden")
    assert (info.model, info.agent) == ("scripted:x", "critic")
    assert chosen.note == f"Forked at {reply} as cli:garden"
    assert len(session.path()) == 4
    assert choose(store, Target(after=reply, session="branch"), HERE).session.key == "cli:branch"


def test_resuming_any_message_resumes_its_session(store: Store) -> None:
    session = choose(store, Target(), HERE).session
    first, reply = talk(session, "one")
    talk(session, "two")
    store.fork(reply, "cli:later fork")
    for name in (first, reply, "cli:garden", "garden", reply[:4]):
        chosen = choose(store, Target(resume=name), "/elsewhere")
        assert (chosen.session.key, chosen.note) == ("cli:garden", None), name


def test_an_interrupted_turn_is_resumed_or_continued(store: Store) -> None:
    session = choose(store, Target(), HERE).session
    talk(session, "one")
    turn = interrupted(session, "two", "half an ans")
    partial = store.turn_info(turn).last_id
    for target in (Target(resume=turn), Target(after=turn), Target(resume=partial), Target(after=partial)):
        taken = choose(store, target, HERE, asks=False)
        assert (taken.session.key, taken.unfinished) == ("cli:garden", turn)
    added = choose(store, Target(resume=turn), HERE, asks=True)
    assert (added.session.key, added.unfinished) == ("cli:garden", turn)
    built = choose(store, Target(after=partial), HERE)
    assert built.session.path()[-1].message.text == "half an ans"
    assert built.unfinished is None


def test_an_interrupted_turn_is_resumed_in_a_fork_if_its_session_has_moved_on(store: Store) -> None:
    session = choose(store, Target(), HERE).session
    talk(session, "one")
    turn = interrupted(session, "two", "half an ans")
    talk(session, "three")
    again = choose(store, Target(resume=turn), HERE, asks=False)
    assert (again.session.head, again.answer_at, again.unfinished) == (turn, turn, None)
    built = choose(store, Target(resume=turn), HERE, asks=True)
    assert [node.message.text for node in built.session.path()][-2:] == ["two", "half an ans"]
    assert [node.message.text for node in session.path()][-1] == "THREE"


def test_a_question_gets_another_answer_in_its_session_and_elsewhere_in_a_fork(store: Store) -> None:
    session = choose(store, Target(), HERE).session
    first, _ = talk(session, "one")
    second, reply = talk(session, "two")
    for question in (first, second):
        chosen = choose(store, Target(after=question), HERE, asks=False)
        assert (chosen.session.key, chosen.answer_at) == (session.key, question)
        assert session.head == reply  # until the answer is there
    elsewhere = choose(store, Target(after=first), "/elsewhere", asks=False)
    assert elsewhere.session.key != session.key
    assert (elsewhere.session.head, elsewhere.answer_at) == (first, first)


def test_unknown_names_are_not_found(store: Store) -> None:
    for target in (Target(resume="nobody"), Target(after="a1b2c3")):
        with pytest.raises(NotFound, match=r"^Conversation not found"):
            choose(store, target, HERE)
    with pytest.raises(NotFound, match=r"^No conversation to continue: session 'cli:work' is empty"):
        choose(store, Target(last=True, session="work"), HERE)


def test_a_named_session_is_continued_created_or_restarted(store: Store) -> None:
    session = choose(store, Target(session="work"), HERE).session
    assert (session.key, session.info.directory) == ("cli:work", HERE)
    talk(session, "one")
    assert choose(store, Target(session="work"), "/elsewhere").session.info.directory == HERE
    assert choose(store, Target(session="telegram:7"), HERE).session.key == "telegram:7"
    afresh = choose(store, Target(session="work", new=True), HERE)
    assert afresh.session.path() == []
    assert afresh.note is not None
    kept = store.session(afresh.note.rpartition(" ")[2])
    assert [node.message.text for node in kept.path()] == ["one", "ONE"]


@pytest.mark.parametrize(
    "target",
    [
        Target(new=True, last=True),
        Target(new=True, resume="x"),
        Target(last=True, resume="x"),
        Target(resume="x", session="y"),
    ],
)
def test_contradictory_flags_are_refused(store: Store, target: Target) -> None:
    with pytest.raises(Invalid, match="use one of them"):
        choose(store, target, HERE)
    assert store.sessions() == []


def test_the_value_of_c_is_an_id_if_a_message_has_it(store: Store) -> None:
    (_, reply) = talk(store.session("cli:x"), "one")
    assert read_continue(store, reply, ["and", "then?"]) == (reply, ["and", "then?"])
    assert read_continue(store, "what about it?", []) == (None, ["what about it?"])
    assert read_continue(store, "what", ["about", "it?"]) == (None, ["what", "about", "it?"])
    assert read_continue(store, "", ["hi"]) == (None, ["hi"])
    assert read_continue(store, "python3", []) == (None, ["python3"])
    with pytest.raises(NotFound, match=r"^Conversation not found: there is no message 'a1b2c3'"):
        read_continue(store, "a1b2c3", ["more"])


def test_a_word_that_is_also_a_prefix_of_an_id_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with bough.connect(tmp_path / "x.db") as store:
        monkeypatch.setattr("bough.model.ids.mint_many", _names())
        talk(store.session("cli:x"), "one")
        with pytest.raises(Refused, match="'what' is a word and the beginning of the id 'whatis'"):
            read_continue(store, "what", ["now"])
        assert read_continue(store, "w1at", ["now"]) == ("w1atis", ["now"])


def _names() -> object:
    names = iter(["whatis", "w1atis"])
    return lambda count, _: [next(names) for _ in range(count)]


def test_a_session_without_a_directory_gets_the_one_where_it_is_used(store: Store) -> None:
    (_, reply) = talk(store.session("cli:x", directory="/far"), "one")
    store.fork(reply, "cli:forked")
    assert choose(store, Target(session="forked"), HERE).session.info.directory == HERE
    store.fork(reply, "cli:other")
    assert choose(store, Target(after=reply), HERE).session.key in ("cli:other", "cli:forked")
    assert choose(store, Target(last=True), HERE).session.key in ("cli:other", "cli:forked")


def test_a_key_in_use_gets_a_suffix(store: Store) -> None:
    store.session("cli:garden")
    assert free_key(store, HERE).startswith("cli:garden-")


def test_nothing_is_forked_without_a_question(store: Store) -> None:
    ids = talk(choose(store, Target(), HERE).session, "one")
    talk(choose(store, Target(), HERE).session, "two")
    with pytest.raises(Invalid, match="nothing to ask"):
        choose(store, Target(after=ids[1]), HERE, asks=False)
    assert [info.key for info in store.sessions()] == ["cli:garden"]


def test_the_planned_model_is_that_of_the_chosen_session(store: Store) -> None:
    session = choose(store, Target(), HERE).session
    session.update(model="openai:one")
    ids = talk(session, "one") + talk(session, "two")
    broken = interrupted(session, "three")
    store.session("cli:work", directory="/elsewhere").update(model="openai:two")
    for target, asks in [
        (Target(), True), (Target(last=True), True), (Target(after=ids[1]), True), (Target(after=ids[2]), False),
        (Target(resume=ids[0]), True), (Target(resume=broken), False), (Target(after=broken), True),
        (Target(session="work"), True), (Target(session="unheard-of"), True), (Target(new=True), True),
    ]:  # fmt: skip
        info = plan_conversation(store, target, HERE, asks).info
        assert choose(store, target, HERE, asks).session.info.model == (info.model if info else None), target


def test_planning_creates_nothing(store: Store) -> None:
    for target in (Target(last=True), Target(after="a1b2c3")):
        with pytest.raises(NotFound):
            plan_conversation(store, target, HERE)
    assert plan_conversation(store, Target(session="work"), HERE).info is None
    assert store.sessions() == []


def test_a_session_without_a_name_is_refused(store: Store) -> None:
    for name in ("", " "):
        with pytest.raises(Invalid, match="needs a name"):
            choose(store, Target(session=name), HERE)
    assert store.sessions() == []


def test_planning_runs_no_statement_twice_and_writes_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    session = store.session("cli:work", directory=HERE)
    ids = talk(session, "one") + talk(session, "two")
    broken = interrupted(session, "three")
    reads = count_reads(store, monkeypatch)
    before = store.sessions()
    for target, asks in [
        (Target(), True), (Target(new=True), True), (Target(last=True), True), (Target(session="work"), True),
        (Target(after=ids[1]), True), (Target(after=ids[3]), True), (Target(after=ids[2]), False),
        (Target(resume=ids[0]), True), (Target(resume="work"), True), (Target(resume=broken), False),
    ]:  # fmt: skip
        reads.clear()
        plan_conversation(store, target, HERE, asks)
        assert reads, target
        assert [read for read, times in Counter(reads).items() if times > 1] == [], target
    assert store.sessions() == before


def count_reads(store: Store, monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """Every statement that is read from now on, with its parameters."""
    reads: list[tuple[object, ...]] = []
    for name in ("row", "rows"):
        read = getattr(store.db, name)

        def counted(*words: object, read: Callable[..., object] = read) -> object:
            if words[0] != "number":  # every method of the store looks up the row of its id
                reads.append(words)
            return read(*words)

        monkeypatch.setattr(store.db, name, counted)
    return reads


def test_the_planned_dialog_is_the_one_that_the_session_starts_with(store: Store) -> None:
    ids = talk(choose(store, Target(), HERE).session, "one") + talk(store.session("cli:garden"), "two")
    for target in (
        Target(last=True), Target(after=ids[1]), Target(resume=ids[0]), Target(session="garden"),
        Target(session="unheard-of"), Target(session="garden", new=True), Target(new=True),
    ):  # fmt: skip
        plan = plan_conversation(store, target, HERE)
        planned = [node.id for node in planned_dialog(store, plan)]
        assert planned == [node.id for node in carry_out(store, plan).session.path()], target
