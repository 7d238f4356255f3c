"""What only Codex does: a log in which turns are taken back, tokens are totals, and forks replay their beginnings."""

from __future__ import annotations

from pathlib import Path

import pytest

import bough
from bough.importers import get
from bough.model import Media, Other, Text, Thinking, ToolCall, Usage
from tests.importers.helpers import Told, tell
from tests.importers.sample import FILES, append, chop, copied, database
from tests.importers.samples.codex import DAY, OLDEST, THREAD, fork_in_the_middle, rollout, said

PATH = FILES / "codex"


@pytest.fixture(scope="module")
def told() -> dict[str, Told]:
    return tell(PATH)


@pytest.fixture
def thread(told: dict[str, Told]) -> Told:
    return told[f"{THREAD}a"]


def test_what_the_model_put_out_in_one_go_is_one_message(thread: Told) -> None:
    reply = thread.said[thread.by_text("apple\npear\n").parent or ""]
    assert [type(block) for block in reply.message.blocks] == [Thinking, Text, ToolCall, ToolCall]
    assert (reply.model, reply.provider) == ("gpt-5.2-codex", "openai")


def test_tokens_are_what_a_total_says_beyond_the_one_before(thread: Told) -> None:
    spent = [said.usage for said in thread.said.values() if said.usage]
    assert spent == [
        Usage(1000, 50, 200, 10),
        Usage(1200, 20, 1000, 0),
        Usage(1300, 5, 1200, 0),
        Usage(900, 9, 0, 0),
    ]


def test_a_fork_that_replays_its_beginning_counts_only_its_own(told: dict[str, Told], tmp_path: Path) -> None:
    replayed = set(told[f"{THREAD}a"].said) & set(told[f"{THREAD}b"].said)
    assert len(replayed) == 7
    with bough.connect(tmp_path / "bough.db") as store:
        for one in get("codex").read(PATH):
            store.bring_in(one)  # type: ignore[arg-type]
        assert store.usage()[0].usage.input_tokens == 1000 + 1200 + 1300 + 900 + 800 + 300 + 700


def test_a_file_that_continues_another_counts_only_its_own(told: dict[str, Told], tmp_path: Path) -> None:
    reply = told[f"{THREAD}d"].by_text("Planted.")
    assert (reply.usage, reply.request_id) == (Usage(700, 7, 100, 1), "resp_d1")
    path = fork_in_the_middle(copied("codex")(tmp_path))
    path.write_text("".join(line for line in path.read_text().splitlines(True) if "token_usage_record" not in line))
    assert tell(tmp_path)[f"{THREAD}d"].by_text("Planted.").usage == reply.usage


def test_a_file_that_continues_another_finds_it_when_it_is_given_alone(told: dict[str, Told], tmp_path: Path) -> None:
    path = fork_in_the_middle(copied("codex")(tmp_path))
    alone = tell(path)
    assert {one: list(alone[one].said) for one in alone} == {f"{THREAD}d": list(told[f"{THREAD}d"].said)}


def test_a_file_that_continues_one_that_is_missing_says_so(tmp_path: Path) -> None:
    path = copied("codex")(tmp_path)
    rollout(path).unlink()
    (skipped,) = tell(path)[f"{THREAD}d"].skipped
    assert f"{THREAD}a" in skipped.reason


def test_a_reply_that_was_cut_short_says_so(thread: Told) -> None:
    assert [said.message.text for said in thread.said.values() if not said.finished] == ["I pruned half of"]


def test_a_compaction_keeps_the_sealed_part_and_leaves_out_what_it_repeats(thread: Told) -> None:
    summary = next(said for said in thread.said.values() if said.kind == "summary")
    text, sealed = summary.message.blocks
    assert isinstance(text, Text)
    assert isinstance(sealed, Other)
    assert sealed.type == "compaction"
    assert summary.covers == summary.parent


def test_images_and_failures_of_tools_are_kept(thread: Told) -> None:
    (result,) = thread.by_text("a map").message.results
    assert isinstance(result.content[1], Media)
    (failed,) = thread.by_text("no such branch").message.results
    assert failed.error


def test_a_subagent_knows_the_call_that_began_it(told: dict[str, Told]) -> None:
    worker, thread = told[f"{THREAD}c"].conversation, told[f"{THREAD}a"]
    assert (worker.parent, worker.parent_call, worker.agent) == (f"{THREAD}a", "call_4", "worker")
    assert [call.name for call in thread.said[worker.parent_message or ""].message.calls] == ["spawn_agent"]


def test_names_are_the_users_and_the_last_one_counts(told: dict[str, Told]) -> None:
    assert told[f"{THREAD}a"].conversation.title == "The orchard"
    assert tell(PATH / DAY)[f"{THREAD}a"].conversation.title == "The orchard"
    assert told[OLDEST].conversation.title == "Mow the meadow."


def test_newer_versions_keep_names_in_a_database(tmp_path: Path) -> None:
    path = copied("codex")(tmp_path)
    script = f"""CREATE TABLE threads (id TEXT PRIMARY KEY, rollout_path TEXT, title TEXT);
        INSERT INTO threads VALUES ('{THREAD}b', 'x', 'Apples and pears'), ('{THREAD}a', 'x', 'not this one')"""
    database(path / "state_5.sqlite", script)
    told = tell(path)
    assert told[f"{THREAD}b"].conversation.title == "Apples and pears"
    assert told[f"{THREAD}a"].conversation.title == "The orchard"


def test_the_oldest_rollouts_say_their_directory_to_the_model_only(told: dict[str, Told]) -> None:
    assert told[OLDEST].conversation.directory == "/home/user/meadow"
    assert told[f"{THREAD}a"].conversation.directory == "/home/user/orchard"


def test_the_oldest_rollouts_say_the_time_once(told: dict[str, Told]) -> None:
    thread = told[OLDEST]
    assert {said.created_at for said in thread.said.values()} == {thread.conversation.created_at}


def test_surroundings_told_in_the_users_name_begin_no_turn(thread: Told) -> None:
    first = thread.by_text("How many trees are there?")
    assert {said.turn for said in list(thread.said.values())[:7]} == {first.turn}


def test_newer_versions_say_themselves_what_a_user_said(tmp_path: Path) -> None:
    path = copied("codex")(tmp_path)
    words = "<environment_context> is what?"
    about = {"content_item_kinds": ["user.text"]}
    record = said("user", words)
    record["payload"]["internal_chat_message_metadata_passthrough"] = about  # type: ignore[index]
    append(rollout(path), record)
    asked = tell(path)[f"{THREAD}a"].by_text(words)
    assert asked.turn == asked.id


def test_more_turns_are_taken_back_than_there_are(tmp_path: Path) -> None:
    path = copied("codex")(tmp_path)
    payload = {"type": "thread_rolled_back", "num_turns": 99}
    again = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "From the beginning."}]}
    append(rollout(path), {"type": "event_msg", "payload": payload}, {"type": "response_item", "payload": again})
    told = tell(path)[f"{THREAD}a"]
    parent = told.said[told.by_text("From the beginning.").parent or ""]
    assert parent.message.text.startswith("<environment_context>")


def test_a_damaged_file_costs_nothing_but_itself(tmp_path: Path) -> None:
    path = copied("codex")(tmp_path)
    compressed = path / DAY / f"rollout-2026-03-05T09-30-00-{THREAD}c.jsonl.zst"
    chop(compressed, 40)
    assert len(tell(path)) == 4
    compressed.write_bytes(b"not compressed at all")
    assert len(tell(path)) == 4


def test_a_plain_copy_of_a_compressed_rollout_is_read_once(tmp_path: Path) -> None:
    path = copied("codex")(tmp_path)
    beside = path / DAY / f"rollout-2026-03-05T09-30-00-{THREAD}c.jsonl"
    beside.write_bytes((path / DAY / f"rollout-2026-03-05T08-00-00-{THREAD}a.jsonl").read_bytes())
    assert [one.id for one in get("codex").read(path)].count(f"{THREAD}c") == 0  # type: ignore[union-attr]
