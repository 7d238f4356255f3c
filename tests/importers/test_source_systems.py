"""What the samples of the five source systems say in detail: blocks, turns, labels, summaries, links."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest

import bough
from bough import ImporterError, Media, Other, Store, Text, Thinking, ToolCall, ToolResult, Usage
from bough.importers import get
from bough.importers.common.sqlite import open_tables
from bough.model import Node
from bough.model.imported import Conversation
from tests.importers.sample import Sample, opened
from tests.importers.samples import SAMPLES
from tests.importers.samples.pingu import CHAT, CHILD
from tests.importers.test_importers import bring

INSERTION = "INSERT INTO messages (session_id, role, content, created_at) VALUES ('cli:default', 'user', ?, 1)"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with bough.connect(tmp_path / "bough.db") as opened:
        yield opened


def sample(source: str, about: str) -> Sample:
    (found,) = [one for one in SAMPLES if one.source == source and about in one.about]
    return found


def imported(store: Store, place: Path, source: str, about: str) -> dict[str, Node]:
    """The messages of a sample, by their text."""
    bring(store, sample(source, about).make(place))
    return {node.message.text: node for node in store.list_messages()}


def test_cpe_keeps_thinking_with_its_seal_calls_and_results(store: Store, tmp_path: Path) -> None:
    said = imported(store, tmp_path, "cpe", "titles, tools")
    _, called, answered, _ = store.path(said["nothing there"].id)
    thinking, sealed, call, _ = called.message.blocks
    assert isinstance(thinking, Thinking)
    assert thinking.raw == {"anthropic": {"type": "thinking", "thinking": "hm", "signature": "sig"}}
    assert isinstance(sealed, Thinking)
    assert sealed.raw["anthropic"]["data"] == "sealed"
    assert isinstance(call, ToolCall)
    assert (call.call_id, call.name, call.input) == ("toolcall-1", "ls", {"path": "<root>"})
    failed, picture = answered.message.results
    assert (failed.text, failed.error) == ("no such place", True)
    assert isinstance(picture.content[0], Media)
    assert picture.content[0].data == b"\x89PNG"
    assert said["sub answer"].label == "subagent:review:r1"
    assert store.session("cpe:bbbbb1").info.agent == "review"


def test_cpe_compaction_is_a_summary_of_what_it_points_to(store: Store, tmp_path: Path) -> None:
    said = imported(store, tmp_path, "cpe", "that was compacted")
    assert said["in short"].kind == "summary"
    assert said["in short"].covers == said["compacting"].id
    assert said["trace"].label == "subagent:unknown:ccccc1"
    context = store.session("cpe:aaaaa1").context("openai.chat")
    assert [item["content"] for item in context.payload] == ["in short", "and on"]


def test_cpe_keeps_models_tokens_and_what_a_message_says_beside_its_blocks(store: Store, tmp_path: Path) -> None:
    said = imported(store, tmp_path, "cpe", "models and tokens")
    (turn,) = store.turns()
    assert (turn.model, turn.provider, turn.usage) == ("claude-x", "anthropic", Usage(10, 3, 7))
    assert said["so much"].message.envelope == {"cpe": {"responses_phase": "final_answer"}}


def test_cpe_ids_that_two_files_share_are_two_messages(store: Store, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    first, second = (sample("cpe", "models and tokens").make(tmp_path / name) for name in ("one", "two"))
    added = sum(one.added for one in bring(store, first)[0])
    with opened(second) as connection:
        connection.execute("UPDATE messages SET created_at = '2031-01-01 00:00:00'")
    assert sum(one.added for one in bring(store, second)[0]) == added
    assert len(store.sessions()) == 2


def test_cpe_sessions_keep_their_titles_and_directories(store: Store, tmp_path: Path) -> None:
    imported(store, tmp_path, "cpe", "sessions, a fork")
    left, right = (store.session(f"cpe:{id}").info for id in ("sess01", "sess02"))
    assert (left.title, left.directory, left.extra["cost_usd"], right.title) == ("Left", "/work", 0.5, "Right")


def test_cpe_keeps_the_bytes_of_replies_that_only_go_can_read(store: Store, tmp_path: Path) -> None:
    said = imported(store, tmp_path, "cpe", "only Go")
    (reply,) = store.children(said["first"].id)
    (block,) = reply.message.blocks
    assert isinstance(block, Media)
    assert block.data == b"\x0a\xff"


def test_amazon_q_prefers_what_was_really_called_and_keeps_pictures(store: Store, tmp_path: Path) -> None:
    said = imported(store, tmp_path, "amazon-q", "renamed")
    (call,) = said["I will."].message.calls
    assert (call.name, call.input) == ("fs_read", {"path": "."})
    _, picture = said["list it"].message.blocks
    assert isinstance(picture, Media)
    assert (picture.mime, picture.data) == ("image/png", b"\x89PNG")
    answered = store.path(said["One file."].id)[2]
    assert answered.message.results[0].text == 'a.py\n{"n": 1}'
    failed = [node.role for node in store.path(said["Fine."].id) if any(one.error for one in node.message.results)]
    assert failed == ["tool_result"]
    turn = next(turn for turn in store.turns() if turn.request_id == "req-id-10")
    assert turn.model == "claude-q"
    assert said["I will."].created_at == 1_756_746_001_300_000


def test_amazon_q_never_reads_the_secrets_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = sample("amazon-q", "a tangent").make(tmp_path)
    statements: list[str] = []
    plain = apsw.Connection

    def traced(*args: object, **options: object) -> apsw.Connection:
        connection = plain(*args, **options)  # type: ignore[arg-type]
        connection.trace_v2(apsw.SQLITE_TRACE_STMT, lambda event: statements.append(event["sql"]))
        return connection

    monkeypatch.setattr("bough.importers.common.sqlite.apsw.Connection", traced)
    assert [list(told.items) for told in get("amazon-q").read(path) if isinstance(told, Conversation)]
    assert any("conversations" in statement for statement in statements)
    assert not any("auth_kv" in statement or '"state"' in statement for statement in statements)


def test_pingu_keeps_whole_replies_and_knows_who_delegated(store: Store, tmp_path: Path) -> None:
    said = imported(store, tmp_path, "pingu", "both dialects")
    older, newer = said["Hi."].message, said["Up for 3 days."].message
    assert isinstance(older.blocks[0], Thinking)
    assert older.blocks[0].raw["openai.responses"]["encrypted_content"] == "sealed"
    assert [type(block) for block in newer.blocks] == [Thinking, Text, ToolCall, Other]
    child = store.session(CHILD).info
    assert (child.parent_key, child.agent) == (CHAT, "sysinfo")
    assert store.session(CHAT).info.extra["summary"] == "small talk"
    first = store.turns(CHAT)[-1]
    assert (first.usage, first.model) == (Usage(10, 4, None, 1), "gpt-x")
    assert [turn.status for turn in store.turns(CHAT)] == ["complete", "interrupted", "complete"]


def test_egirl_keeps_pictures_calls_and_summaries(store: Store, tmp_path: Path) -> None:
    said = imported(store, tmp_path, "egirl", "search tables")
    asked, called, answered, _ = store.session("cli:default").path()
    assert isinstance(asked.message.blocks[1], Media)
    assert called.message.calls[0].input == {"at": "it"}
    assert isinstance(answered.message.blocks[0], ToolResult)
    assert store.session("cli:default").info.extra["summary"] == "so far: trees"
    assert said["A tree."].created_at // 1000 == 1_770_000_000_123


def test_orcx_keeps_totals_title_and_agent(store: Store, tmp_path: Path) -> None:
    imported(store, tmp_path, "orcx", "four letters")
    info = store.session("orcx:a1b2").info
    assert (info.title, info.agent, info.model) == ("explain this...", "fast", "deepseek/chat")
    assert (info.extra["total_tokens"], info.extra["total_cost"]) == (20, 0.01)
    assert info.updated_at == 1_772_359_200_123_456


def test_a_file_that_is_being_written_is_read_with_its_wal_and_left_alone(store: Store, tmp_path: Path) -> None:
    path = sample("egirl", "before").make(tmp_path)
    writer = apsw.Connection(str(path))
    writer.execute("PRAGMA journal_mode=WAL").fetchall()
    writer.execute(INSERTION, ('"new"',))
    writer.execute("BEGIN IMMEDIATE")  # somebody is writing right now
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir() if not file.name.startswith("bough.db")}
    bring(store, path)
    assert "new" in {node.message.text for node in store.list_messages()}
    after = {file.name: file.read_bytes() for file in tmp_path.iterdir() if not file.name.startswith("bough.db")}
    assert after == before
    writer.execute("ROLLBACK")
    writer.close()


def test_recognising_and_reading_a_file_leaves_nothing_beside_it(store: Store, tmp_path: Path) -> None:
    (tmp_path / "its").mkdir()
    path = sample("orcx", "four letters").make(tmp_path / "its")
    with closing(apsw.Connection(str(path))) as writer:
        writer.execute("PRAGMA journal_mode=WAL").fetchall()
    before = path.read_bytes()
    bring(store, path)
    assert ([file.name for file in path.parent.iterdir()], path.read_bytes()) == (["conversations.db"], before)


def test_what_its_program_has_not_committed_is_not_read(store: Store, tmp_path: Path) -> None:
    path = sample("egirl", "before").make(tmp_path)
    writer = apsw.Connection(str(path))
    writer.execute("PRAGMA cache_size=1; PRAGMA cache_spill=1; BEGIN IMMEDIATE")
    writer.execute("UPDATE messages SET content = '\"overwritten\"'")
    for number in range(2_000):  # more than its cache holds: pages reach the file before the commit
        values = (f'"uncommitted {number}"' + " " * 200,)
        writer.execute(INSERTION, values)
    assert (tmp_path / "conversations.db-journal").stat().st_size
    bring(store, path)
    assert {node.message.text for node in store.list_messages()} >= {"what is this", "A tree."}
    assert sum(1 for _ in store.list_messages()) == 4
    writer.execute("ROLLBACK")
    writer.close()


def test_a_file_that_changes_while_it_is_read_is_to_be_read_again(tmp_path: Path) -> None:
    path = sample("egirl", "before").make(tmp_path)
    with pytest.raises(ImporterError, match="Import it again"), open_tables(path) as tables:
        assert list(tables.rows("messages", ["id"]))
        with opened(path) as connection:
            connection.execute("DELETE FROM messages")


def test_columns_that_a_generation_lacks_are_none_and_bytes_that_are_no_text_survive(tmp_path: Path) -> None:
    path = sample("egirl", "before").make(tmp_path)
    with opened(path) as connection:
        connection.execute("UPDATE messages SET content = CAST(x'22ff22' AS TEXT) WHERE id = 1")
    with open_tables(path) as tables:
        rows = list(tables.rows("messages", ["id", "content", "nonsense"], order="id"))
    assert rows[0]["nonsense"] is None
    assert rows[0]["content"] == '"\udcff"'
    assert json.loads(rows[0]["content"]) == "\udcff"
