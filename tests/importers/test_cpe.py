"""CPE: thinking, calls and results, compactions, labels, sessions and the replies of the first version."""

from __future__ import annotations

from pathlib import Path

from bough import Media, Store, Thinking, ToolCall, Usage
from tests.importers.helpers import import_path, import_sample, sample
from tests.importers.sample import opened


def test_cpe_keeps_thinking_with_its_seal_calls_and_results(store: Store, tmp_path: Path) -> None:
    messages = import_sample(store, tmp_path, "cpe", "titles, tools")
    _, called, answered, _ = store.path(messages["nothing there"].id)
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
    assert messages["sub answer"].label == "subagent:review:r1"
    assert store.session("cpe:bbbbb1").info.agent == "review"


def test_cpe_compaction_is_a_summary_of_what_it_points_to(store: Store, tmp_path: Path) -> None:
    messages = import_sample(store, tmp_path, "cpe", "that was compacted")
    assert messages["in short"].kind == "summary"
    assert messages["in short"].covers == messages["compacting"].id
    assert messages["trace"].label == "subagent:unknown:ccccc1"
    context = store.session("cpe:aaaaa1").context("openai.chat")
    assert [item["content"] for item in context.payload] == ["in short", "and on"]


def test_cpe_keeps_models_tokens_and_what_a_message_says_beside_its_blocks(store: Store, tmp_path: Path) -> None:
    messages = import_sample(store, tmp_path, "cpe", "models and tokens")
    (turn,) = store.turns()
    assert (turn.model, turn.provider, turn.usage) == ("claude-x", "anthropic", Usage(10, 3, 7))
    assert messages["so much"].message.envelope == {"cpe": {"responses_phase": "final_answer"}}


def test_cpe_ids_that_two_files_share_are_two_messages(store: Store, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    first, second = (sample("cpe", "models and tokens").make(tmp_path / name) for name in ("one", "two"))
    added = sum(one.added for one in import_path(store, first)[0])
    with opened(second) as connection:
        connection.execute("UPDATE messages SET created_at = '2031-01-01 00:00:00'")
    assert sum(one.added for one in import_path(store, second)[0]) == added
    assert len(store.sessions()) == 2


def test_cpe_sessions_keep_their_titles_and_directories(store: Store, tmp_path: Path) -> None:
    import_sample(store, tmp_path, "cpe", "sessions, a fork")
    left, right = (store.session(f"cpe:{id}").info for id in ("sess01", "sess02"))
    assert (left.title, left.directory, left.extra["cost_usd"], right.title) == ("Left", "/work", 0.5, "Right")


def test_cpe_keeps_the_bytes_of_replies_that_only_go_can_read(store: Store, tmp_path: Path) -> None:
    messages = import_sample(store, tmp_path, "cpe", "only Go")
    (reply,) = store.children(messages["first"].id)
    (block,) = reply.message.blocks
    assert isinstance(block, Media)
    assert block.data == b"\x0a\xff"
