"""Export, then import into an empty store: an equal store, whatever was in it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import bough
from bough import Refused, Save, Store, ToolCall, Usage, assistant, user
from bough.exporters import jsonl
from bough.importers import get
from bough.model.imported import Archive
from tests.contract.test_archive import everything
from tests.properties.strategies import complete_turns, labels, messages, plain_json, texts

keys = st.sampled_from(["cli:a", "discord:dm:42", "telegram:7", "odd"])
numbers = st.none() | st.integers(0, 2**40)
actions = st.one_of(
    st.tuples(st.just("turn"), keys, complete_turns(), st.builds(Usage, numbers, numbers, numbers)),
    st.tuples(st.just("fail"), keys, messages(), texts),
    st.tuples(st.just("save"), st.lists(messages(), min_size=1, max_size=3), labels),
    st.tuples(st.just("fork"), st.integers(0, 50)),
    st.tuples(st.just("rewind"), st.integers(0, 50), keys),
    st.tuples(st.just("compact"), keys),
    st.tuples(st.just("delegate"), keys, complete_turns()),
    st.tuples(st.just("label"), st.integers(0, 50), labels),
    st.tuples(st.just("describe"), keys, texts, plain_json),
    st.tuples(st.just("name"), st.integers(0, 50), texts),
    st.tuples(st.just("document"), keys, st.sampled_from(["a", "b"]), plain_json | st.binary(max_size=20)),
    st.tuples(st.just("stop"), keys, messages(), st.sampled_from(["", "half"])),
    st.tuples(st.just("append"), keys, st.lists(messages(), min_size=1, max_size=3)),
    st.tuples(st.just("delete"), st.integers(0, 50)),
)


def any_id(store: Store, number: int) -> str | None:
    ids = [node.id for node in store.list_messages()]
    return ids[number % len(ids)] if ids else None


def act(store: Store, action: tuple[Any, ...]) -> None:
    match action:
        case "turn", key, messages_given, usage:
            store.session(key).save_turn(messages_given, model="m", usage=usage)
        case "fail", key, messages_given, error:
            store.session(key).turn(messages_given).fail(error)
        case "document", key, name, value:
            store.session(key).put_document(name, value)
        case "stop", key, messages_given, half:
            turn = store.session(key).turn(messages_given)
            if half:
                turn.sketch(half)
            turn.stop()
        case "append", key, messages_given:
            store.session(key).append(messages_given)
        case "save", messages_given, label:
            store.save_messages([Save(message, label=label) for message in messages_given])
        case "compact", key:
            store.session(key).compact(lambda nodes: f"{len(nodes)} in all", keep_turns=1)
        case "delegate", key, messages_given:
            store.session(key).delegate("scout").save_turn(messages_given)
        case "describe", key, title, extra:
            store.session(key, title=title, directory=title, extra=extra)
        case kind, number, *rest:
            if (id := any_id(store, number)) is not None:
                act_at(store, id, kind, *rest)


def act_at(store: Store, id: str, kind: str, given: str | None = None) -> None:
    match kind:
        case "fork":
            store.fork(id)
        case "delete":
            store.delete_messages([id], recursive=True)
        case "label":
            store.label(id, given)
        case "name":
            store.name_externally("uuid", given or "", message=id)
        case "rewind":
            with suppress(Refused):  # not on its path
                store.session(given or "").rewind(id)


@given(st.lists(actions, max_size=12))
@example([("turn", "cli:a", [user("q"), assistant(ToolCall("c", "f", "Infinity", raw=float("inf")))], Usage())])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_an_exported_store_is_imported_as_an_equal_one(steps: list[tuple[Any, ...]]) -> None:
    with bough.connect(":memory:") as origin, bough.connect(":memory:") as copy, TemporaryDirectory() as directory:
        for step in steps:
            act(origin, step)
        path = Path(directory, "all.jsonl")
        path.write_text("".join(jsonl.everything(origin)))
        for archive in get("bough").read(path):
            assert isinstance(archive, Archive)
            assert copy.bring_in(archive).skipped == ()
        assert everything(copy) == everything(origin)
        assert copy.verify() == []
