"""Gemini CLI, pi, Mistral Vibe, Cline and aider: tokens, tools, thinking, times and links."""

from __future__ import annotations

from pathlib import Path

import pytest

from bough import Store
from bough.importers import get
from bough.model import Thinking, Usage
from tests.importers.helpers import ReadConversation, import_path, read_path
from tests.importers.samples.coding_agents import AIDER, CHILD, GEMINI, PI, aider, cline, gemini, pi, vibe


def replies(one: ReadConversation) -> list[tuple[str | None, Usage | None]]:
    return [(m.model, m.usage) for m in one.messages.values() if m.message.role == "assistant"]


def test_a_reply_of_gemini_cli_has_its_thoughts_calls_results_tokens_and_model(tmp_path: Path) -> None:
    found = read_path(gemini(tmp_path))[GEMINI]
    reply, result = found.messages["m2"], found.messages["m2#1"]
    assert [block.text for block in reply.message.blocks if isinstance(block, Thinking)] == ["Oaks\n\nThey are old."]
    assert reply.message.calls[0].input == {"path": "a"}
    assert (result.message.results[0].text, result.message.results[0].name) == ("main branch", "read_file")
    assert (reply.model, reply.usage) == ("gemini-3-pro", Usage(100, 12, 40, 5))
    assert reply.created_at == 1_772_359_202_123_000
    assert found.conversation.directory == "/home/me/garden"


def test_a_subagent_of_gemini_cli_is_linked_to_its_call(tmp_path: Path, store: Store) -> None:
    import_path(store, gemini(tmp_path))
    child = store.session(f"gemini-cli:{CHILD}").info
    caller = store.get_messages([str(child.parent_message_id)])[0]
    assert (child.parent_key, caller.message.calls[0].call_id) == (f"gemini-cli:{GEMINI}", "read-1")


def test_a_single_session_of_gemini_cli_knows_its_project(tmp_path: Path) -> None:
    path = next(gemini(tmp_path).rglob("*3f0c9f1e.jsonl"))
    assert read_path(path)[GEMINI].conversation.directory == "/home/me/garden"


def test_a_tree_of_pi_keeps_labels_tokens_costs_and_what_a_compaction_covers(tmp_path: Path) -> None:
    (found,) = read_path(pi(tmp_path)).values()
    assert (found.conversation.title, found.conversation.directory, found.conversation.model) == (
        "The oak",
        "/home/me",
        "m",
    )
    assert replies(found)[0] == ("m", Usage(15, 3, 4, cost=0.5))
    assert found.messages[f"{PI}:e4"].label == "pruned"
    summary = found.messages[f"{PI}:f1"]
    assert (summary.kind, summary.covers) == ("summary", f"{PI}:e7")


def test_a_session_of_vibe_has_the_tokens_of_the_session_on_its_last_reply(tmp_path: Path) -> None:
    (found,) = read_path(vibe(tmp_path)).values()
    assert replies(found) == [("devstral", None), ("devstral", Usage(50, 6, cost=0.01))]
    assert (found.conversation.title, found.conversation.directory) == ("Ivy", "/home/me")


def test_a_task_of_cline_has_times_tokens_and_the_model_from_the_screen(tmp_path: Path) -> None:
    (found,) = read_path(cline(tmp_path)).values()
    assert replies(found)[0] == ("claude-opus-4-6", Usage(28, 4, 8, cost=0.25))
    assert (found.conversation.title, found.conversation.directory) == ("Mow the lawn.", "/home/me")
    assert found.messages["1760000000000:1"].created_at == 1_760_000_003_000_000


@pytest.mark.parametrize("text", [AIDER, "\n".join(line.rstrip() for line in AIDER.splitlines())])
def test_runs_of_aider_are_conversations_whose_notes_are_not_replies(tmp_path: Path, text: str) -> None:
    (tmp_path / ".aider.chat.history.md").write_text(text)
    first, second = read_path(tmp_path / ".aider.chat.history.md").values()
    assert first.by_text("What is a bough?\nIn a line.").message.role == "user"
    assert first.conversation.model == "gpt-5"
    assert first.conversation.title == "What is a bough?"
    assert [m.message.text for m in second.messages.values()] == ["/ask And a twig?", "A small branch."]


def test_a_heading_and_a_quotation_in_a_reply_of_aider_belong_to_the_reply(tmp_path: Path) -> None:
    first, _ = read_path(aider(tmp_path)).values()
    (reply,) = [m for m in first.messages.values() if m.message.role == "assistant"]
    assert reply.message.text == "A main branch.\n\n#### Uses\n\n> quoted from a book\n\n- swings"
    assert reply.usage == Usage(1200, 40, 300, cost=0.02)


def test_default_places_are_those_of_the_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    for name in ("PI_CODING_AGENT_DIR", "VIBE_HOME", "CLINE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    assert [get(name).default_paths() for name in ("gemini-cli", "pi", "vibe", "aider")] == [[], [], [], []]
    (tmp_path / ".gemini" / "tmp" / "x" / "chats").mkdir(parents=True)
    (tmp_path / ".gemini" / "tmp" / "x" / "chats" / "session-1.jsonl").write_text("{}\n")
    (tmp_path / ".pi" / "agent" / "sessions").mkdir(parents=True)
    (tmp_path / ".vibe" / "logs" / "session").mkdir(parents=True)
    aider(tmp_path)
    assert [len(get(name).default_paths()) for name in ("gemini-cli", "pi", "vibe", "aider")] == [1, 1, 1, 1]
