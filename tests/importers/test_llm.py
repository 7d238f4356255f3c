"""Properties of llm's database: two generations of tables in one file, shared rows, and texts in pieces."""

from __future__ import annotations

from pathlib import Path

import pytest

from bough.importers import get
from bough.model import Media, Other, Thinking, Usage
from tests.importers.helpers import ReadConversation, read_path
from tests.importers.sample import database
from tests.importers.samples.llm import NEW, OLD, both, older, run


@pytest.fixture
def conversations(tmp_path: Path) -> dict[str, ReadConversation]:
    return read_path(both(tmp_path))


def test_attachments_have_their_bytes_or_their_path(conversations: dict[str, ReadConversation]) -> None:
    _, held, named = conversations[f"{OLD}a"].by_text("What is this?").message.blocks
    assert isinstance(held, Media)
    assert isinstance(named, Media)
    assert (held.data, named.url) == (b"\x89PNG\r\n\x1a\n", "file:///home/user/sky.png")


def test_instructions_are_read_where_they_are_new(conversations: dict[str, ReadConversation]) -> None:
    assert [said.message.role for said in conversations[f"{OLD}a"].messages.values()] == [
        "system", "user", "assistant", "user", "assistant", "tool_result", "assistant",
    ]  # fmt: skip


def test_a_reply_knows_its_model_its_tokens_and_its_options(conversations: dict[str, ReadConversation]) -> None:
    reply = conversations[f"{OLD}a"].by_text("A cloud.")
    assert reply.usage == Usage(20, 3, 8)
    assert reply.model == "gpt-4o-mini-2024-07-18"
    assert reply.message.envelope["llm"]["options_json"] == {"temperature": 0.5}
    assert conversations[f"{NEW}a"].by_text("It snows.").model == "gpt-5-2026"


def test_calls_and_results_belong_together_in_both_generations(conversations: dict[str, ReadConversation]) -> None:
    for name in (f"{OLD}a", f"{NEW}a"):
        messages = [said.message for said in conversations[name].messages.values()]
        (call,) = (call for message in messages for call in message.calls)
        (result,) = (result for message in messages for result in message.results)
        assert (call.name, result.name, result.call_id) == ("look_out", "look_out", call.call_id)


def test_a_tool_that_failed_says_how(conversations: dict[str, ReadConversation]) -> None:
    (failed,) = (result for said in conversations[f"{NEW}a"].messages.values() for result in said.message.results)
    assert failed.error
    assert failed.extra == {"exception": "KeyError: door"}


def test_reasoning_is_thinking_and_what_is_new_is_kept(conversations: dict[str, ReadConversation]) -> None:
    thread = conversations[f"{NEW}a"]
    reasoned = [said for said in thread.messages.values() if isinstance(said.message.blocks[0], Thinking)]
    assert [said.usage for said in reasoned] == [Usage(60, 6, None, 4)]
    assert isinstance(thread.by_text("It snows.").message.blocks[1], Other)


def test_a_thread_that_goes_on_from_the_older_tables_is_read_once(conversations: dict[str, ReadConversation]) -> None:
    replies = [said for said in conversations[f"{OLD}b"].messages.values() if said.message.role == "assistant"]
    assert [(said.message.text, said.model, said.usage) for said in replies] == [
        ("Strong.", "gpt-4o-mini", Usage(9, 1)),
        ("Weaker.", "gpt-5", Usage(50, 4)),
    ]


def test_a_fork_shares_its_beginning_and_equal_words_elsewhere_do_not(
    conversations: dict[str, ReadConversation],
) -> None:
    assert set(conversations[f"{NEW}a"].messages) & set(conversations[f"{NEW}b"].messages) == {
        f"{NEW}a:b2:s{number}" for number in range(1, 6)
    }
    assert not set(conversations[f"{OLD}b"].messages) & set(conversations[f"{NEW}a"].messages)


def test_an_attachment_that_the_newer_tables_forgot_is_not_lost(tmp_path: Path) -> None:
    path = run(both(tmp_path), f"INSERT INTO prompt_attachments VALUES ('{'01old0000000000000000000r4'}', 'aa', 0)")
    conversations = read_path(path)[f"{OLD}b"]
    assert (
        sum(isinstance(block, Media) for said in conversations.messages.values() for block in said.message.blocks) == 1
    )
    assert conversations.conversation.head in conversations.messages


def test_a_fork_that_was_never_continued_stands_where_it_was_made(tmp_path: Path) -> None:
    path = run(both(tmp_path), f"INSERT INTO threads VALUES ('z', NULL, 'b2:s5', '{NEW}a', '2026-08-08')")
    conversations = read_path(path)["z"]
    assert conversations.conversation.head == f"{NEW}a:b2:s5"
    assert len(conversations.messages) == 5


def test_places_follow_the_programs_own_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_USER_PATH", str(tmp_path))
    assert get("llm").default_paths() == []
    assert [older(tmp_path)] == get("llm").default_paths()


def test_responses_without_a_conversation_and_conversations_without_a_row_are_read(tmp_path: Path) -> None:
    columns = "id, model, prompt, prompt_json, response, conversation_id, datetime_utc"
    script = f"""CREATE TABLE conversations (id, name, model); CREATE TABLE responses ({columns});
        INSERT INTO responses ({columns}) VALUES (1, 'm', 'one', NULL, 'r', NULL, '2020'),
            ('x', 'm', 'two', NULL, 'r', 'gone', '2020'), ('y', 'm', 'three', NULL, 'r', 'gone', '2020')"""
    conversations = read_path(database(tmp_path / "logs.db", script))
    assert {name: [said.message.text for said in one.messages.values()] for name, one in conversations.items()} == {
        "1": ["one", "r"],
        "gone": ["two", "r", "three", "r"],
    }
