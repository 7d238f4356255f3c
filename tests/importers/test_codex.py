"""Properties of Codex's rollouts: rollbacks, token totals, and forks that replay their origin."""

from __future__ import annotations

from pathlib import Path

import pytest

import bough
from bough.importers import get
from bough.model import Media, Other, Text, Thinking, ToolCall, Usage
from tests.importers.helpers import ReadConversation, read_path
from tests.importers.sample import FILES, append, chop, copied, database
from tests.importers.samples.codex import DAY, OLDEST, THREAD, fork_in_the_middle, rollout, said

PATH = FILES / "codex"


@pytest.fixture(scope="module")
def conversations() -> dict[str, ReadConversation]:
    return read_path(PATH)


@pytest.fixture
def thread(conversations: dict[str, ReadConversation]) -> ReadConversation:
    return conversations[f"{THREAD}a"]


def test_what_the_model_put_out_in_one_go_is_one_message(thread: ReadConversation) -> None:
    reply = thread.messages[thread.by_text("apple\npear\n").parent or ""]
    assert [type(block) for block in reply.message.blocks] == [Thinking, Text, ToolCall, ToolCall]
    assert (reply.model, reply.provider) == ("gpt-5.2-codex", "openai")


def test_tokens_are_what_a_total_says_beyond_the_one_before(thread: ReadConversation) -> None:
    spent = [said.usage for said in thread.messages.values() if said.usage]
    assert spent == [
        Usage(1000, 50, 200, 10),
        Usage(1200, 20, 1000, 0),
        Usage(1300, 5, 1200, 0),
        Usage(900, 9, 0, 0),
    ]


def test_a_fork_that_replays_its_beginning_counts_only_its_own(
    conversations: dict[str, ReadConversation], tmp_path: Path
) -> None:
    replayed = set(conversations[f"{THREAD}a"].messages) & set(conversations[f"{THREAD}b"].messages)
    assert len(replayed) == 7
    with bough.connect(tmp_path / "bough.db") as store:
        for one in get("codex").read(PATH):
            store.bring_in(one)  # type: ignore[arg-type]
        assert store.usage()[0].usage.input_tokens == 1000 + 1200 + 1300 + 900 + 800 + 300 + 700


def test_a_file_that_continues_another_counts_only_its_own(
    conversations: dict[str, ReadConversation], tmp_path: Path
) -> None:
    reply = conversations[f"{THREAD}d"].by_text("Planted.")
    assert (reply.usage, reply.request_id) == (Usage(700, 7, 100, 1), "resp_d1")
    path = fork_in_the_middle(copied("codex")(tmp_path))
    path.write_text("".join(line for line in path.read_text().splitlines(True) if "token_usage_record" not in line))
    assert read_path(tmp_path)[f"{THREAD}d"].by_text("Planted.").usage == reply.usage


def test_a_file_that_continues_another_finds_it_when_it_is_given_alone(
    conversations: dict[str, ReadConversation], tmp_path: Path
) -> None:
    path = fork_in_the_middle(copied("codex")(tmp_path))
    alone = read_path(path)
    assert {one: list(alone[one].messages) for one in alone} == {
        f"{THREAD}d": list(conversations[f"{THREAD}d"].messages)
    }


def test_a_file_that_continues_one_that_is_missing_says_so(tmp_path: Path) -> None:
    path = copied("codex")(tmp_path)
    rollout(path).unlink()
    (skipped,) = read_path(path)[f"{THREAD}d"].skipped
    assert f"{THREAD}a" in skipped.reason


def test_a_reply_that_was_cut_short_says_so(thread: ReadConversation) -> None:
    assert [said.message.text for said in thread.messages.values() if not said.finished] == ["I pruned half of"]


def test_a_compaction_keeps_the_sealed_part_and_leaves_out_what_it_repeats(thread: ReadConversation) -> None:
    summary = next(said for said in thread.messages.values() if said.kind == "summary")
    text, sealed = summary.message.blocks
    assert isinstance(text, Text)
    assert isinstance(sealed, Other)
    assert sealed.type == "compaction"
    assert summary.covers == summary.parent


def test_images_and_failures_of_tools_are_kept(thread: ReadConversation) -> None:
    (result,) = thread.by_text("a map").message.results
    assert isinstance(result.content[1], Media)
    (failed,) = thread.by_text("no such branch").message.results
    assert failed.error


def test_a_subagent_knows_the_call_that_began_it(conversations: dict[str, ReadConversation]) -> None:
    worker, thread = conversations[f"{THREAD}c"].conversation, conversations[f"{THREAD}a"]
    assert (worker.parent, worker.parent_call, worker.agent) == (f"{THREAD}a", "call_4", "worker")
    assert [call.name for call in thread.messages[worker.parent_message or ""].message.calls] == ["spawn_agent"]


def test_names_are_the_users_and_the_last_one_counts(conversations: dict[str, ReadConversation]) -> None:
    assert conversations[f"{THREAD}a"].conversation.title == "The orchard"
    assert read_path(PATH / DAY)[f"{THREAD}a"].conversation.title == "The orchard"
    assert conversations[OLDEST].conversation.title == "Mow the meadow."


def test_newer_versions_keep_names_in_a_database(tmp_path: Path) -> None:
    path = copied("codex")(tmp_path)
    script = f"""CREATE TABLE threads (id TEXT PRIMARY KEY, rollout_path TEXT, title TEXT);
        INSERT INTO threads VALUES ('{THREAD}b', 'x', 'Apples and pears'), ('{THREAD}a', 'x', 'not this one')"""
    database(path / "state_5.sqlite", script)
    conversations = read_path(path)
    assert conversations[f"{THREAD}b"].conversation.title == "Apples and pears"
    assert conversations[f"{THREAD}a"].conversation.title == "The orchard"


def test_the_oldest_rollouts_say_their_directory_to_the_model_only(conversations: dict[str, ReadConversation]) -> None:
    assert conversations[OLDEST].conversation.directory == "/home/user/meadow"
    assert conversations[f"{THREAD}a"].conversation.directory == "/home/user/orchard"


def test_the_oldest_rollouts_say_the_time_once(conversations: dict[str, ReadConversation]) -> None:
    thread = conversations[OLDEST]
    assert {said.created_at for said in thread.messages.values()} == {thread.conversation.created_at}


def test_context_sent_as_user_messages_begins_no_turn(thread: ReadConversation) -> None:
    first = thread.by_text("How many trees are there?")
    assert {said.turn for said in list(thread.messages.values())[:7]} == {first.turn}


def test_newer_versions_say_themselves_what_a_user_said(tmp_path: Path) -> None:
    path = copied("codex")(tmp_path)
    words = "<environment_context> is what?"
    about = {"content_item_kinds": ["user.text"]}
    record = said("user", words)
    record["payload"]["internal_chat_message_metadata_passthrough"] = about  # type: ignore[index]
    append(rollout(path), record)
    asked = read_path(path)[f"{THREAD}a"].by_text(words)
    assert asked.turn == asked.id


def test_more_turns_are_taken_back_than_there_are(tmp_path: Path) -> None:
    path = copied("codex")(tmp_path)
    payload = {"type": "thread_rolled_back", "num_turns": 99}
    again = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "From the beginning."}]}
    append(rollout(path), {"type": "event_msg", "payload": payload}, {"type": "response_item", "payload": again})
    conversations = read_path(path)[f"{THREAD}a"]
    parent = conversations.messages[conversations.by_text("From the beginning.").parent or ""]
    assert parent.message.text.startswith("<environment_context>")


def test_a_damaged_file_costs_nothing_but_itself(tmp_path: Path) -> None:
    path = copied("codex")(tmp_path)
    compressed = path / DAY / f"rollout-2026-03-05T09-30-00-{THREAD}c.jsonl.zst"
    chop(compressed, 40)
    assert len(read_path(path)) == 4
    compressed.write_bytes(b"not compressed at all")
    assert len(read_path(path)) == 4


def test_a_plain_copy_of_a_compressed_rollout_is_read_once(tmp_path: Path) -> None:
    path = copied("codex")(tmp_path)
    beside = path / DAY / f"rollout-2026-03-05T09-30-00-{THREAD}c.jsonl"
    beside.write_bytes((path / DAY / f"rollout-2026-03-05T08-00-00-{THREAD}a.jsonl").read_bytes())
    assert [one.id for one in get("codex").read(path)].count(f"{THREAD}c") == 0  # type: ignore[union-attr]
