"""Any sequence of verbs does to a store what it does to a plain model of dicts and lists, as far as anyone can see."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import bough
from bough import BoughError, Message, Node, Save, Session, Store, Tree, Turn, Usage, assistant, user
from bough.model import Status
from bough.model.values import UNSET, replace
from tests.properties import strategies as some
from tests.properties.plain_model import SECOND, Model, Shape, Wanted

T = TypeVar("T")

START = 1_700_000_000 * SECOND
KEYS = ("cli:default", "cli:other", "telegram:7", "free", "cli:default:delegate:scout")
FORK_KEYS = (None, None, "cli:fork", "discord:dm:9", "free")
MISSING = "------"
MEMORY = Path("/dev/shm")

index = st.integers(0, 30)
"""Picks one of what there is, whatever there is."""
costs = st.none() | st.builds(
    Usage,
    input_tokens=st.none() | st.integers(0, 1000),
    output_tokens=st.none() | st.integers(0, 1000),
    cost=st.none() | st.integers(0, 64).map(lambda number: number / 64),
)
models = st.sampled_from([None, "small", "large"])
metadata = st.none() | st.dictionaries(st.sampled_from(["a", "b"]), st.integers(), max_size=2)


@dataclass
class Held:
    """A turn that is open, and who holds it in the model."""

    turn: Turn
    holder: int


class StoreMachine(RuleBasedStateMachine):
    """Each rule does one thing to the store and to the model; they must agree, also on what is refused and how."""

    def __init__(self) -> None:
        super().__init__()
        self.directory = Path(tempfile.mkdtemp(dir=MEMORY if MEMORY.is_dir() else None))
        self.now = START
        self.store = self.connect()
        self.model = Model()
        self.held: list[Held] = []
        self.meaning_of: dict[bytes, Any] = {}
        self.digest_of: dict[Any, bytes] = {}
        self.steps = 0

    def teardown(self) -> None:
        self.store.close()
        shutil.rmtree(self.directory)

    def connect(self) -> Store:
        return bough.connect(self.directory / "store.db", clock=lambda: self.now)

    # Doing the same to both -----------------------------------------------------------------------------------------

    def both(
        self, real: Callable[[], T], model: Callable[[Model, Iterator[str]], object], names: Callable[[T], Any]
    ) -> T | None:
        """Does one thing to the store and to the model. None means that both refused it, with the same error.

        `names` gives the ids that the store chose; the model must use them up.
        """
        trial, cursor = self.model.copy(), self.store.cursor()
        try:
            result = real()
        except BoughError as refusal:
            with pytest.raises(BoughError) as caught:
                model(trial, map(str, count()))
            if caught.type is not type(refusal):
                raise AssertionError(f"the model says {caught.value!r}") from refusal
            return None
        given = iter(names(result))
        model(trial, given)
        assert list(given) == [], "the store made more than it should"
        same = replace(trial, uses=self.model.uses) == self.model
        assert same or self.store.cursor() > cursor, "a change was not recorded"
        self.model = trial
        return result

    def none(self, _: object) -> list[str]:
        return []

    def new_bins(self, _: object = None) -> list[str]:
        """What has come into the trash, oldest first."""
        known = {bin_.id for bin_ in self.model.bins}
        return [entry.id for entry in reversed(self.store.trash()) if entry.id not in known]

    def some_id(self, pick: int) -> str:
        """The id of a message; sometimes of one that is in the trash, or of none."""
        ids = [place.id for place in self.model.in_order()]
        gone = [place.id for bin_ in self.model.bins for place in bin_.places]
        if pick == 30 or not ids:
            return [*gone, MISSING][0]
        return ids[pick % len(ids)]

    def some_key(self, pick: int) -> str:
        keys = list(self.model.names)
        return keys[pick % len(keys)]

    def some_session(self, pick: int) -> Session:
        return Session(self.store, self.some_key(pick))

    # Time -----------------------------------------------------------------------------------------------------------

    @initialize(
        first=st.lists(some.complete_turns(), max_size=3),
        second=st.lists(some.complete_turns(), max_size=2),
        fork=st.booleans(),
    )
    def there_are_dialogs(self, first: list[list[Message]], second: list[list[Message]], fork: bool) -> None:
        """Without them, the first steps have nothing to work on."""
        for key, turns in (("cli:default", first), ("telegram:7", second)):
            self.make_session(key, None)
            for place, turn in enumerate(turns):
                self.save_turn(list(self.model.names).index(key), turn, f"first {place}", None, None, None)
        if fork and self.model.places:
            self.fork_anywhere(None, 2)

    @rule(seconds=st.sampled_from([1, 60, -1, -3600, 899, 901, 86_400]))
    def the_clock_moves(self, seconds: int) -> None:
        """Also backwards. Leases run out when it goes far ahead."""
        self.now += seconds * SECOND

    # Messages -------------------------------------------------------------------------------------------------------

    @rule(
        saves=st.lists(
            st.tuples(
                some.spoken,
                st.none() | st.integers(-4, 30),
                st.sampled_from([None, "topic"]),
                st.none() | st.integers(-9, 9),
            ),
            min_size=1,
            max_size=4,
        )
    )
    def save_messages(self, saves: list[tuple[Message, int | None, str | None, int | None]]) -> None:
        """Under nothing, under an earlier one of the same call (a negative number), or under any message."""
        wanted: list[Wanted] = []
        given: list[Save] = []
        for place, (message, parent, label, age) in enumerate(saves):
            told = None if age is None else self.now + age * SECOND
            above: str | int | None = None
            if parent is not None and parent < 0:
                above = place + parent if place + parent >= 0 else None
            elif parent is not None:
                above = self.some_id(parent)
            wanted.append(Wanted(message, above, label, told))
            given.append(Save(message, given[above] if isinstance(above, int) else above, label, told))
        self.both(
            lambda: self.store.save_messages(given),
            lambda model, names: model.save_messages(wanted, names, self.now),
            list,
        )

    @rule(pick=index, text=st.sampled_from([None, "topic", "subagent:x:1"]))
    def label(self, pick: int, text: str | None) -> None:
        id_ = self.some_id(pick)
        self.both(lambda: self.store.label(id_, text), lambda model, _: model.label(id_, text), self.none)

    # Sessions -------------------------------------------------------------------------------------------------------

    @rule(key=st.sampled_from(KEYS), title=st.sampled_from([None, "A title"]))
    def make_session(self, key: str, title: str | None) -> None:
        self.both(
            lambda: self.store.session(key, title=title),
            lambda model, _: model.session(key, self.now, title),
            self.none,
        )

    @precondition(lambda self: self.model.names)
    @rule(pick=index, key=st.sampled_from(FORK_KEYS), at=st.none() | index, title=st.sampled_from([None, "Forked"]))
    def fork(self, pick: int, key: str | None, at: int | None, title: str | None) -> None:
        session = self.some_session(pick)
        place = self.some_id(at) if at is not None else self.model.names[session.key].head
        if place is None:
            with pytest.raises(bough.Refused):
                session.fork()
            return
        self.both(
            lambda: session.fork(None if at is None else place, key, title),
            lambda model, names: model.fork(place, key, title, session.key, names, self.now),
            lambda made: [made.key],
        )

    @rule(key=st.sampled_from(FORK_KEYS), at=index)
    def fork_anywhere(self, key: str | None, at: int) -> None:
        place = self.some_id(at)
        self.both(
            lambda: self.store.fork(place, key),
            lambda model, names: model.fork(place, key, None, None, names, self.now),
            lambda made: [made.key],
        )

    @precondition(lambda self: self.model.names)
    @rule(pick=index, to=index)
    def rewind_to(self, pick: int, to: int) -> None:
        session, place = self.some_session(pick), self.some_id(to)
        self.both(
            lambda: session.rewind(place), lambda model, _: model.rewind_to(session.key, place, self.now), self.none
        )

    @precondition(lambda self: self.model.names)
    @rule(pick=index, to=st.none() | index)
    def move(self, pick: int, to: int | None) -> None:
        session, place = self.some_session(pick), None if to is None else self.some_id(to)
        self.both(lambda: session.move(place), lambda model, _: model.move(session.key, place, self.now), self.none)

    @precondition(lambda self: self.model.names)
    @rule(pick=index)
    def pop(self, pick: int) -> None:
        session = self.some_session(pick)
        head = self.model.names[session.key].head
        popped = self.both(session.pop, lambda model, _: model.pop(session.key, self.now), self.none)
        assert popped is None or popped.id == head

    @precondition(lambda self: self.model.names)
    @rule(
        pick=index,
        name=st.sampled_from(["plan", "state"]),
        value=st.sampled_from([None, 1, {"a": [1]}, b"\0", "oak"]),
        revision=st.sampled_from([None, None, 0, 1, 2]),
        delete=st.booleans(),
    )
    def write_document(self, pick: int, name: str, value: Any, revision: int | None, delete: bool) -> None:
        session = self.some_session(pick)
        if delete:
            self.both(
                lambda: session.delete_document(name, revision),
                lambda model, _: model.delete_document(session.key, name, revision, self.now),
                self.none,
            )
            return
        written: list[int] = []
        made = self.both(
            lambda: session.put_document(name, value, revision),
            lambda model, _: written.append(model.put_document(session.key, name, value, revision, self.now)),
            self.none,
        )
        assert made is None or [made] == written

    @precondition(lambda self: self.model.names)
    @rule(pick=index, turns=st.sampled_from([1, 1, 1, 2, 3, 0]))
    def rewind_by(self, pick: int, turns: int) -> None:
        session = self.some_session(pick)
        self.both(
            lambda: session.rewind(turns=turns),
            lambda model, _: model.rewind_by(session.key, turns, self.now),
            self.none,
        )

    @precondition(lambda self: self.model.names)
    @rule(pick=index)
    def new(self, pick: int) -> None:
        session = self.some_session(pick)
        self.both(
            session.new,
            lambda model, names: model.new(session.key, names, self.now),
            lambda archived: [archived.key] if archived else [],
        )

    @precondition(lambda self: self.model.names)
    @rule(pick=index, keep_turns=st.integers(1, 5))
    def compact(self, pick: int, keep_turns: int) -> None:
        session = self.some_session(pick)
        asked = [place.id for place in self.model.to_summarise(session.key, keep_turns)]

        def summarize(nodes: list[Node]) -> str:
            assert [node.id for node in nodes] == asked
            return "elm summary"

        self.both(
            lambda: session.compact(summarize, keep_turns),
            lambda model, names: model.compact(session.key, user("elm summary"), keep_turns, names, self.now),
            lambda id_: [id_] if id_ else [],
        )

    @precondition(lambda self: self.model.names)
    @rule(pick=index, turn=some.complete_turns())
    def delegate(self, pick: int, turn: list[Message]) -> None:
        parent = self.some_session(pick)
        caller = self.model.names[parent.key].head
        child = self.both(
            lambda: parent.delegate("scout", "r1", call_id="c1"),
            lambda model, _: model.delegate(parent.key, "scout", self.now),
            self.none,
        )
        assert child is not None
        self.both(
            lambda: child.save_turn(turn, wait=0),
            lambda model, names: model.save_turn(
                child.key,
                turn,
                names,
                self.now,
                label="subagent:scout:r1",
                caller=caller,
                call="c1" if caller else None,
            ),
            list,
        )

    # Turns ----------------------------------------------------------------------------------------------------------

    @precondition(lambda self: self.model.names)
    @rule(
        pick=index,
        turn=some.complete_turns() | st.lists(some.spoken, max_size=3),
        key=st.sampled_from([None, None, "k1", "k2"]),
        after=st.sampled_from([None, None, None, 1, 2]),
        usage=costs,
        model_name=models,
    )
    def save_turn(
        self,
        pick: int,
        turn: list[Message],
        key: str | None,
        after: int | None,
        usage: Usage | None,
        model_name: str | None,
    ) -> None:
        session = self.some_session(pick)
        head = self.model.names[session.key].head
        place = None if after is None else head if after % 2 and head else self.some_id(after)
        said_before: list[str] = []

        def model(model: Model, names: Iterator[str]) -> None:
            before = set(model.places)
            kept = model.save_turn(
                session.key, turn, names, self.now, idempotency_key=key, after=place, usage=usage, model=model_name
            )
            said_before.extend(kept if set(kept) <= before else [])

        result = self.both(
            lambda: session.save_turn(
                turn,
                idempotency_key=key,
                after=UNSET if place is None else place,
                usage=usage,
                model=model_name,
                wait=0,
            ),
            model,
            lambda ids: [id_ for id_ in ids if id_ not in self.model.places],
        )
        assert not said_before or result == said_before
        if key is not None and result is not None:
            self.say_it_again(session, turn, key, result)

    @precondition(lambda self: self.model.names)
    @rule(pick=index, messages=st.lists(some.spoken, max_size=4))
    def append(self, pick: int, messages: list[Message]) -> None:
        """Whatever they begin and end with."""
        session = self.some_session(pick)
        self.both(
            lambda: session.append(messages, wait=0),
            lambda model, names: model.append(session.key, messages, names, self.now),
            list,
        )

    def say_it_again(self, session: Session, turn: list[Message], key: str, ids: list[str]) -> None:
        """As after a lost acknowledgement: nothing is added, whatever else has changed."""
        again = self.both(
            lambda: session.save_turn(turn, idempotency_key=key, wait=0),
            lambda model, names: model.save_turn(session.key, turn, names, self.now, idempotency_key=key),
            lambda given: [id_ for id_ in given if id_ not in self.model.places],
        )
        assert again == ids

    @precondition(lambda self: self.model.names)
    @rule(pick=index, message=some.spoken, model_name=models, given=metadata)
    def open_turn(self, pick: int, message: Message, model_name: str | None, given: dict[str, Any] | None) -> None:
        session = self.some_session(pick)
        holder: list[int] = []
        turn = self.both(
            lambda: session.turn(message, model=model_name, metadata=given, wait=0),
            lambda model, names: holder.append(
                model.open_turn(session.key, message, names, self.now, model=model_name, metadata=given)
            ),
            lambda turn: [turn.id],
        )
        if turn is not None:
            self.held.append(Held(turn, holder[0]))

    @precondition(lambda self: self.held)
    @rule(pick=index, messages=st.lists(some.spoken, max_size=3), usage=costs, model_name=models, given=metadata)
    def add(
        self,
        pick: int,
        messages: list[Message],
        usage: Usage | None,
        model_name: str | None,
        given: dict[str, Any] | None,
    ) -> None:
        held = self.held[pick % len(self.held)]
        ids = self.both(
            lambda: held.turn.add(messages, usage=usage, model=model_name, metadata=given),
            lambda model, names: model.add(
                held.holder, messages, names, self.now, usage=usage, model=model_name, metadata=given
            ),
            list,
        )
        if ids is not None:
            dialog = [node.id for node in held.turn.path()]
            assert dialog == self.model.path_ids(self.model.runs[held.turn.id].last)

    @precondition(lambda self: self.held)
    @rule(pick=index, status=st.sampled_from(["complete", "complete", "stopped", "interrupted", "failed"]))
    def end_turn(self, pick: int, status: Status) -> None:
        held = self.held.pop(pick % len(self.held))
        why = None if status == "complete" else "A reason."

        def end() -> None:
            match status:
                case "complete":
                    held.turn.complete()
                case "stopped":
                    held.turn.stop("A reason.")
                case "failed":
                    held.turn.fail("A reason.")
                case _:
                    held.turn.interrupt("A reason.")

        self.both_even_when_refused(end, lambda model: model.finish(held.holder, status, why, self.now))
        with pytest.raises(bough.Refused):
            held.turn.add(user("alder"))

    @precondition(lambda self: self.model.names)
    @rule(
        pick=index,
        message=some.asked,
        added=st.lists(some.spoken, max_size=2),
        status=st.sampled_from(["complete", "stopped", "interrupted", "failed"]),
    )
    def a_turn_from_beginning_to_end(self, pick: int, message: Message, added: list[Message], status: Status) -> None:
        """With a reply or without one."""
        before = len(self.held)
        self.open_turn(pick, message, None, None)
        if len(self.held) > before:
            self.add(before, added, None, None, None)
            self.end_turn(before, status)

    def both_even_when_refused(self, real: Callable[[], None], model: Callable[[Model], None]) -> None:
        """As `both`, for ending a turn: one that comes too late is put aside, and only then refused."""
        outcomes: list[type[BoughError] | None] = []
        for work in (real, lambda: model(self.model)):
            try:
                work()
                outcomes.append(None)
            except BoughError as refusal:
                outcomes.append(type(refusal))
        assert outcomes[0] is outcomes[1]

    @precondition(lambda self: self.model.names and self.model.runs)
    @rule(pick=index, turn=index, own=st.booleans())
    def resume(self, pick: int, turn: int, own: bool) -> None:
        """A turn that did not complete, by its id; also one that did, or of another session, or no turn at all."""
        unfinished = [run for run in self.model.runs.values() if run.status not in ("complete", "stopped")]
        runs = unfinished or list(self.model.runs.values())
        run = runs[turn % len(runs)]
        owner = self.model.numbered(run.session)
        session = Session(self.store, owner.key) if own and owner else self.some_session(pick)
        id_ = run.id if own else self.some_id(turn)
        holder: list[int] = []
        resumed = self.both(
            lambda: session.turn(resume=id_, wait=0),
            lambda model, _: holder.append(model.resume(session.key, id_, self.now)),
            self.none,
        )
        if resumed is not None:
            self.held.append(Held(resumed, holder[0]))

    @precondition(lambda self: self.model.names)
    @rule(
        pick=index,
        along=index,
        cut=st.integers(0, 4),
        more=st.lists(some.spoken, max_size=4),
        unsaid=st.booleans(),
        stored=st.booleans(),
    )
    def record(self, pick: int, along: int, cut: int, more: list[Message], unsaid: bool, stored: bool) -> None:
        """A dialog that begins like any that is stored (the session's own or another), has grown or departs.

        Or one that is `stored` as it is: then the session only goes to where it ends.
        """
        session = self.some_session(pick)
        name = self.model.names[session.key]
        ids = [place.id for place in self.model.in_order()]
        end = name.head if along % 2 or not ids else ids[along % len(ids)]
        dialog = [place.message for place in self.model.path(end)]
        if not stored:
            dialog = dialog[: len(dialog) - cut] if cut < len(dialog) else dialog
            dialog += more
        if unsaid:
            dialog = [replace(message, envelope={"sent": "again"}) for message in dialog]
        self.both(
            lambda: session.record(dialog, wait=0),
            lambda model, names: model.record(session.key, dialog, names, self.now),
            list,
        )
        if self.model.names[session.key].lease is None:
            assert session.record(dialog, wait=0) == []

    # Deleting -------------------------------------------------------------------------------------------------------

    @rule(
        picks=st.lists(index, min_size=1, max_size=3),
        recursive=st.booleans(),
        keep=st.sampled_from([True, True, False]),
    )
    def delete_messages(self, picks: list[int], recursive: bool, keep: bool) -> None:
        ids = [self.some_id(pick) for pick in picks]
        self.both(
            lambda: self.store.delete_messages(ids, recursive, keep=keep),
            lambda model, names: model.delete_messages(ids, recursive, names, self.now, keep),
            self.new_bins,
        )

    @precondition(lambda self: self.model.names)
    @rule(pick=index)
    def delete_a_leaf(self, pick: int) -> None:
        """The end of a dialog, which the rule above seldom finds."""
        leaves = [place.id for place in self.model.in_order() if not self.model.children(place.id)]
        ids = [leaves[pick % len(leaves)]] if leaves else []
        self.both(
            lambda: self.store.delete_messages(ids),
            lambda model, names: model.delete_messages(ids, False, names, self.now, True),
            self.new_bins,
        )

    @precondition(lambda self: self.model.names)
    @rule(pick=index, keep=st.sampled_from([True, True, False]))
    def delete_session(self, pick: int, keep: bool) -> None:
        key = self.some_key(pick)
        self.both(
            lambda: self.store.delete_session(key, keep=keep),
            lambda model, names: model.delete_session(key, names, self.now, keep),
            self.new_bins,
        )

    @precondition(lambda self: self.model.names)
    @rule(pick=index)
    def clear(self, pick: int) -> None:
        session = self.some_session(pick)
        self.both(session.clear, lambda model, names: model.clear(session.key, names, self.now), self.new_bins)

    @precondition(lambda self: self.model.bins)
    @rule(pick=index, inside=index)
    def restore(self, pick: int, inside: int) -> None:
        """By the id of the entry, or of a message or session in it."""
        bin_ = self.model.bins[pick % len(self.model.bins)]
        called = [bin_.id, *(place.id for place in bin_.places), *(name.key for name in bin_.names)]
        name = called[inside % len(called)]
        back: list[str] = []
        ids = self.both(
            lambda: self.store.restore(name), lambda model, _: back.extend(model.restore(name, self.now)), self.none
        )
        assert ids is None or ids == back

    @precondition(lambda self: self.model.bins)
    @rule(seconds=st.sampled_from([0, 0, 1, 3600]))
    def purge(self, seconds: int) -> None:
        gone: list[int] = []
        result = self.both(
            lambda: self.store.purge(seconds),
            lambda model, _: gone.append(model.purge(seconds * SECOND, self.now)),
            self.none,
        )
        assert [result] == gone

    @rule(seconds=st.sampled_from([3600, 0, 0]), dry_run=st.booleans())
    def clean(self, seconds: int, dry_run: bool) -> None:
        expected = [name.key for name in self.model.idle(seconds * SECOND, self.now)]
        if dry_run:
            assert [info.key for info in self.store.clean(seconds)] == expected
            return
        self.both(
            lambda: self.store.clean(seconds, dry_run=False),
            lambda model, names: model.clean(seconds * SECOND, names, self.now),
            self.new_bins,
        )

    # Ending, well and badly -----------------------------------------------------------------------------------------

    @rule(keep_turns=st.booleans())
    def close_and_reopen(self, keep_turns: bool) -> None:
        """Open turns are either taken along or forgotten: their leases then stay until they run out."""
        self.store.close()
        self.store = self.connect()
        self.model.reopen(self.now)
        for held in self.held:
            held.turn.session.store = self.store
        if not keep_turns:
            self.held.clear()

    @precondition(lambda self: self.model.names)
    @rule(pick=index, message=some.spoken, added=st.lists(some.spoken, max_size=2), reopen=st.booleans())
    def a_process_dies_in_the_middle_of_a_turn(
        self, pick: int, message: Message, added: list[Message], reopen: bool
    ) -> None:
        """Really: another process opens a turn, adds to it and is gone, without any farewell."""
        session = self.some_session(pick)
        before = set(self.model.places)
        busy = 3

        def live_and_die() -> None:
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    turn = session.turn(message, wait=0)
                    if added:
                        turn.add(added)
                    status = 0
                except bough.Busy:
                    status = busy
                finally:
                    os._exit(status)
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            if code == busy:
                raise bough.Busy
            assert code == 0

        def the_same(model: Model, names: Iterator[str]) -> None:
            holder = model.open_turn(session.key, message, names, self.now)
            if added:
                model.add(holder, added, names, self.now)
            lease = model.names[session.key].lease
            assert lease is not None
            lease.dead = True

        self.both(
            live_and_die,
            the_same,
            lambda _: [node.id for node in self.store.list_messages(ascending=True) if node.id not in before],
        )
        if reopen:
            self.close_and_reopen(True)

    # Everything that can be seen ------------------------------------------------------------------------------------

    @invariant()
    def the_store_is_what_the_model_says(self) -> None:
        self.steps += 1
        self.see_messages()
        self.see_tree()
        self.see_sessions()
        self.see_turns()
        self.see_trash()
        self.see_search()
        self.see_that_nothing_is_wrong()

    def see_messages(self) -> None:
        oldest_first = list(self.store.list_messages(ascending=True))
        expected = self.model.nodes()
        assert [seen(node) for node in oldest_first] == [seen(node) for node in expected]
        assert list(self.store.list_messages()) == oldest_first[::-1]
        offset, limit = self.steps % 5, self.steps % 7
        assert list(self.store.list_messages(offset, limit)) == oldest_first[::-1][offset : offset + limit]
        some_ids = [node.id for node in oldest_first[:: 1 + self.steps % 3]][::-1]
        assert [node.id for node in self.store.get_messages(some_ids)] == some_ids
        for node in oldest_first:
            meaning = self.model.said_on_the_way_to(node.id)
            assert self.meaning_of.setdefault(node.digest, meaning) == meaning, "one digest for two dialogs"
            assert self.digest_of.setdefault(meaning, node.digest) == node.digest, "two digests for one dialog"
        with pytest.raises(bough.NotFound, match=MISSING):
            self.store.get_messages([*some_ids, MISSING])

    def see_tree(self) -> None:
        assert shape(self.store.forest()) == self.model.shape()
        ids = [place.id for place in self.model.in_order()]
        for id_ in {ids[pick % len(ids)] for pick in (self.steps, 2 * self.steps, -1)} if ids else ():
            path = self.store.path(id_)
            assert [node.id for node in path] == self.model.path_ids(id_)
            assert self.store.path(id_, last=2) == path[-2:]
            assert bough.get_dialog(self.store, id_) == path
            assert [node.id for node in self.store.children(id_)] == [place.id for place in self.model.children(id_)]
            assert shape(self.store.forest(id_)) == ((id_, self.model.shape(id_)),)

    def see_sessions(self) -> None:
        infos = self.store.sessions()
        used = sorted(self.model.names.values(), key=lambda name: name.used, reverse=True)
        assert [info.key for info in infos] == [name.key for name in used]
        for info in infos:
            name = self.model.names[info.key]
            assert replace(info, cursor=0) == self.model.session_info(name)
            assert self.store.find_session(info.key) == info
            session = Session(self.store, info.key)
            assert [node.id for node in session.path()] == self.model.path_ids(name.head)
            assert session.turns() == self.model.turn_infos(name)
            assert session.documents() == self.model.documents(name)
        if infos:
            first = infos[self.steps % len(infos)]
            assert [branch.last.id for branch in Session(self.store, first.key).branches()] == self.model.ends(
                first.key
            )
            rest = infos[self.steps % len(infos) + 1 :]
            assert self.store.sessions(before=first.cursor, limit=2) == rest[:2]
        assert self.store.sessions(channel="cli") == [info for info in infos if info.channel == "cli"]
        assert self.store.sessions(delegates=False) == [i for i in infos if self.model.names[i.key].parent is None]
        if "cli:default" in self.model.names:
            assert self.store.sessions(parent="cli:default") == [i for i in infos if i.parent_key == "cli:default"]

    def see_turns(self) -> None:
        runs = self.model.runs.values()
        assert self.store.turns() == self.model.turn_infos()
        assert self.store.turns(status="interrupted") == [
            t for t in self.model.turn_infos() if t.status == "interrupted"
        ]
        paid = self.model.paid(runs)
        assert self.store.usage() == [self.model.totals((), paid)]
        by_model = {model for _, model, _ in paid}
        assert [replace(total, replies=0) for total in self.store.usage(by="model")] == [
            replace(self.model.totals((name,), [row for row in paid if row[1] == name]), replies=0)
            for name in sorted(by_model, key=lambda name: name or "")
        ]
        by_session = {total.name: total for total in self.store.usage(by="session")}
        for name in self.model.names.values():
            expected = self.model.totals(
                (name.key,), self.model.paid(run for run in runs if run.session == name.number)
            )
            alone = Session(self.store, name.key).usage(delegates=False)
            assert alone == replace(expected, name=None, names=())
            assert by_session.pop(name.key, None) == (expected if expected.turns else None)
            family = {member.number for member in self.model.family(name.key)}
            whole = self.model.totals((), self.model.paid(run for run in runs if run.session in family))
            assert Session(self.store, name.key).usage() == whole
        assert by_session.keys() <= {None}

    def see_trash(self) -> None:
        assert [(entry.id, entry.deleted_at, entry.messages, entry.sessions) for entry in self.store.trash()] == [
            (bin_.id, bin_.deleted_at, len(bin_.places), tuple(sorted(name.key for name in bin_.names)))
            for bin_ in reversed(self.model.bins)
        ]
        with pytest.raises(bough.NotFound):
            self.store.restore(MISSING)

    def see_search(self) -> None:
        for word in some.WORDS:
            expected = self.model.search(word)
            hits = self.store.search(word, limit=1000, paths=True)
            assert [hit.node.id for hit in hits] == expected
            assert [list(hit.path) for hit in hits] == [self.model.path_ids(id_) for id_ in expected]
        word = some.WORDS[self.steps % len(some.WORDS)]
        found = [self.model.places[id_] for id_ in self.model.search(word)]
        by_role = [place.id for place in found if place.message.role == "assistant"]
        assert [hit.node.id for hit in self.store.search(word, role="assistant", limit=1000)] == by_role
        by_label = [place.id for place in found if place.label == "topic"]
        assert [hit.node.id for hit in self.store.search(word, label="topic", limit=1000)] == by_label
        for name in self.model.names.values():
            own = set(self.model.path_ids(name.head)) | self.model.added_by(name)
            of_session = [place.id for place in found if place.id in own]
            assert [hit.node.id for hit in self.store.search(word, session=name.key, limit=1000)] == of_session

    def see_that_nothing_is_wrong(self) -> None:
        running = [run for run in self.model.runs.values() if run.status == "running"]
        abandoned = any(self.model.is_abandoned(run, self.now) for run in running)
        assert [finding.code for finding in self.store.verify()] == (["abandoned_turn"] if abandoned else [])


def seen(node: Node) -> dict[str, Any]:
    """All of a node but what only the store can know."""
    return {name: getattr(node, name) for name in node.__match_args__ if name not in ("digest", "weight")}


def shape(trees: list[Tree[Node]]) -> tuple[Shape, ...]:
    return tuple((tree.node.id, shape(tree.children)) for tree in trees)


def machine_settings(examples: int, steps: int) -> settings:
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        phases=[phase for phase in Phase if phase is not Phase.explain],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
    )


def test_any_sequence_of_verbs_does_what_the_plain_model_says() -> None:
    run_state_machine_as_test(StoreMachine, settings=machine_settings(45, 30))


def server_machine(url: str) -> type[StoreMachine]:
    class ServerMachine(StoreMachine):
        def connect(self) -> Store:
            return bough.connect(url, namespace=str(self.directory), clock=lambda: self.now)

    return ServerMachine


def test_any_sequence_of_verbs_does_on_a_server_what_the_plain_model_says(postgres: str) -> None:
    run_state_machine_as_test(server_machine(postgres), settings=machine_settings(4, 15))


@pytest.mark.soak
def test_any_long_sequence_of_verbs_does_on_a_server_what_the_plain_model_says(postgres: str) -> None:
    run_state_machine_as_test(server_machine(postgres), settings=machine_settings(300, 50))


@pytest.mark.soak
def test_any_long_sequence_of_verbs_does_what_the_plain_model_says() -> None:
    run_state_machine_as_test(StoreMachine, settings=machine_settings(2000, 80))


# What the machine found, each in its smallest form -------------------------------------------------------------------


@pytest.fixture
def store(anywhere: dict[str, Any]) -> Iterator[Store]:
    with bough.connect(**anywhere) as opened:
        yield opened


def in_another_process(work: Callable[[], object]) -> None:
    """Does the work in a process that then dies without a farewell."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    os.waitpid(child, 0)


def test_a_turn_that_was_abandoned_and_deleted_is_not_running_when_it_is_restored(store: Store) -> None:
    session = store.session("cli:a")
    in_another_process(lambda: session.turn("alder").add(assistant("elm")))
    (turn,) = session.turns()
    store.delete_messages([turn.id], recursive=True)
    session.save_turn([user("birch"), assistant("cedar")])
    store.restore(turn.id)
    assert store.turn_info(turn.id).status == "interrupted"
    assert store.verify() == []


@pytest.mark.parametrize("running", [True, False])
def test_recording_in_one_session_leaves_the_turn_of_another_alone(store: Store, running: bool) -> None:
    one, other = store.session("cli:one"), store.session("cli:other")
    turn = one.turn("alder")
    if not running:
        turn.interrupt("later")
    before = turn.info
    other.record([user("alder"), assistant("elm")])
    assert [node.message.text for node in other.path()] == ["alder", "elm"]
    assert turn.info == before


@pytest.mark.parametrize("purged", [True, False])
def test_a_session_is_restored_or_refused_when_the_message_where_it_stood_is_gone(store: Store, purged: bool) -> None:
    session = store.session("cli:a")
    ids = session.save_turn([user("alder"), assistant("elm")])
    session.fork(key="cli:b")
    store.delete_session("cli:a")
    store.delete_messages(ids, recursive=True, keep=not purged)
    with suppress(bough.Refused):
        store.restore("cli:a")
    assert store.verify() == []


def test_a_cleared_session_is_restored_or_refused_when_the_message_where_it_stood_is_gone(store: Store) -> None:
    session = store.session("cli:a")
    ids = session.save_turn([user("alder"), assistant("elm")])
    session.fork(key="cli:b")
    session.clear()
    (cleared,) = store.trash()
    store.delete_messages(ids, recursive=True)
    with suppress(bough.Refused):
        store.restore(cleared.id)
    assert store.verify() == []


def test_a_turn_that_is_resumed_keeps_its_metadata(store: Store) -> None:
    session = store.session("cli:a")
    turn = session.turn("alder", metadata={"a": 1})
    turn.add(assistant("birch"), metadata={"b": 2})
    turn.interrupt("later")
    with session.turn(resume=turn.id) as resumed:
        resumed.add(assistant("elm"), metadata={"c": 3})
    assert resumed.info.metadata == {"a": 1, "b": 2, "c": 3}


def test_new_changes_nothing_while_a_turn_is_open(store: Store) -> None:
    session = store.session("cli:a")
    session.save_turn([user("alder"), assistant("elm")])
    session.turn("birch")
    before = store.sessions()
    with pytest.raises(bough.Busy):
        session.new()
    assert store.sessions() == before


def test_clean_passes_over_a_session_whose_delegate_is_in_a_turn(tmp_path: Path) -> None:
    now = START
    with bough.connect(tmp_path / "clock.db", clock=lambda: now) as store:
        busy = store.session("cli:busy")
        busy.delegate("scout").turn("alder")
        store.session("cli:idle")
        now += 60 * SECOND
        assert [info.key for info in store.clean(30)] == ["cli:idle"]
        assert [info.key for info in store.clean(30, dry_run=False)] == ["cli:idle"]
        assert {info.key for info in store.sessions()} == {"cli:busy", "cli:busy:delegate:scout"}


def test_deleting_a_fork_leaves_the_turn_that_it_was_forked_from(store: Store) -> None:
    session = store.session("cli:a")
    turn = session.turn("alder")
    (reply,) = turn.add(assistant("elm"))
    turn.interrupt("later")
    store.fork(reply, key="cli:fork")
    store.delete_session("cli:fork")
    assert [info.id for info in session.turns()] == [turn.id]
    session.turn(resume=turn.id).complete()
    assert session.head == reply


def test_deleting_a_session_removes_what_only_it_and_its_delegates_reach(store: Store) -> None:
    session = store.session("cli:a")
    session.save_turn([user("alder"), assistant("elm")])
    session.delegate("scout").record([node.message for node in session.path()])
    store.delete_session("cli:a")
    assert list(store.list_messages()) == []


def test_clearing_an_empty_session_changes_nothing(store: Store) -> None:
    session = store.session("cli:a")
    before = session.info
    session.clear()
    assert session.info == before
    assert store.trash() == []


def test_a_delegate_that_is_refused_is_not_made(store: Store) -> None:
    session = store.session("cli:a")
    with pytest.raises(bough.NotFound):
        session.delegate("scout", message=MISSING)
    assert [info.key for info in store.sessions()] == ["cli:a"]


def test_restoring_the_end_of_a_turn_that_was_resumed_leaves_the_turn_alone(store: Store) -> None:
    session = store.session("cli:a")
    turn = session.turn("alder")
    (reply,) = turn.add(assistant("birch"))
    (lost,) = turn.add(assistant("cedar"))
    turn.interrupt("later")
    store.delete_messages([lost])
    resumed = session.turn(resume=turn.id)
    store.restore(lost)
    resumed.complete()
    assert session.head == reply
    assert resumed.info.last_id == reply
