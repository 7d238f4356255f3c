"""Amazon Q CLI: called tools, images, provenance; credentials beside the conversations are never read."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from bough import Media, Store
from bough.importers import get
from bough.model.imported import Conversation
from tests.importers.helpers import import_path, import_sample, sample
from tests.importers.samples.amazon_q import said, saved, state


def test_amazon_q_prefers_what_was_really_called_and_keeps_pictures(store: Store, tmp_path: Path) -> None:
    messages = import_sample(store, tmp_path, "amazon-q", "renamed")
    (call,) = messages["I will."].message.calls
    assert (call.name, call.input) == ("fs_read", {"path": "."})
    _, picture = messages["list it"].message.blocks
    assert isinstance(picture, Media)
    assert (picture.mime, picture.data) == ("image/png", b"\x89PNG")
    answered = store.path(messages["One file."].id)[2]
    assert answered.message.results[0].text == 'a.py\n{"n": 1}'
    failed = [node.role for node in store.path(messages["Fine."].id) if any(one.error for one in node.message.results)]
    assert failed == ["tool_result"]
    turn = next(turn for turn in store.turns() if turn.request_id == "req-id-10")
    assert turn.model == "claude-q"
    assert messages["I will."].created_at == 1_756_746_001_300_000


def test_amazon_q_never_reads_the_secrets_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = sample("amazon-q", "a tangent").make(tmp_path)
    statements: list[str] = []
    plain = apsw.Connection

    def traced(*args: object, **options: object) -> apsw.Connection:
        connection = plain(*args, **options)  # type: ignore[arg-type]
        connection.trace_v2(apsw.SQLITE_TRACE_STMT, lambda event: statements.append(event["sql"]))
        return connection

    monkeypatch.setattr("bough.importers.common.sqlite.apsw.Connection", traced)
    assert [list(found.items) for found in get("amazon-q").read(path) if isinstance(found, Conversation)]
    assert any("conversations" in statement for statement in statements)
    assert not any("auth_kv" in statement or '"state"' in statement for statement in statements)


def test_two_replies_with_one_id_are_both_kept(store: Store, tmp_path: Path) -> None:
    first, second = said(1, "one?", "One."), said(1, "two?", "Two.")
    import_path(store, saved(state([first, second]))(tmp_path))
    assert [node.message.text for node in store.list_messages(ascending=True)] == ["one?", "One.", "two?", "Two."]
    assert len(store.path(store.sessions()[0].head_id or "")) == 4
