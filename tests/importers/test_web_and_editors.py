"""Open WebUI, LibreChat, Cursor, Copilot Chat, ATIF and SWE-agent: tokens, tools, thinking, times, directories."""

from __future__ import annotations

import json
from pathlib import Path

import bough
from bough import Message, Save, Store, Text, ToolCall, ToolResult, assistant, user
from bough.exporters import get
from bough.exporters.collect import collect
from bough.model import Thinking, Usage
from tests.importers.helpers import ReadConversation, import_path, read_path
from tests.importers.samples import web_and_editors as samples


def only(path: Path) -> ReadConversation:
    (found,) = read_path(path).values()
    return found


def test_reasoning_and_calls_of_open_webui_are_blocks_and_messages(tmp_path: Path) -> None:
    found = only(samples.open_webui(tmp_path))
    first, result, rest = (found.messages[name] for name in ("w2", "w2#1", "w2#2"))
    assert [block.text for block in first.message.blocks if isinstance(block, Thinking)] == ["It is a\nbranch."]
    assert (first.message.calls[0].name, first.message.calls[0].input) == ("look_up", {"word": "bough"})
    assert (result.message.results[0].text, rest.message.text) == ("a branch", "A main branch.")
    assert (first.model, first.usage, first.created_at) == ("llama3", Usage(11, 5), 1_750_000_003_000_000)
    assert found.messages["w3"].usage == Usage(11, 4)


def test_a_reply_of_librechat_has_its_thinking_call_model_and_tokens(tmp_path: Path) -> None:
    found = only(samples.librechat(tmp_path))
    reply = found.messages["l2"]
    assert [type(block) for block in reply.message.blocks] == [Thinking, ToolCall]
    assert (reply.model, reply.usage) == ("claude-opus-4-6", Usage(output_tokens=9))
    assert found.messages["l2#1"].message.results[0].text == "an oak"
    assert found.messages["l3"].parent == "l1"


def test_a_composer_of_cursor_has_its_tools_directory_times_and_known_tokens(tmp_path: Path) -> None:
    found = read_path(samples.cursor(tmp_path))["comp-1"]
    called = found.messages["comp-1:b2"]
    assert called.message.calls[0].input == {"path": "a"}
    assert found.messages["comp-1:b2#1"].message.results[0].text == '{"contents": "hedge"}'
    assert (called.usage, found.messages["comp-1:b3"].usage) == (None, Usage(90, 8))
    assert (found.conversation.directory, found.conversation.model) == ("/home/me/my garden", "composer-1")
    assert found.messages["comp-1:b1"].created_at == 1_760_000_000_100_000


def test_cursor_is_found_by_its_directory_too(tmp_path: Path, store: Store) -> None:
    samples.cursor(tmp_path)
    results, _ = import_path(store, tmp_path)
    assert sum(one.added for one in results) == 6


def test_rounds_of_copilot_are_calls_with_results_and_parts_of_the_screen_stand_in_for_them(tmp_path: Path) -> None:
    found = read_path(samples.copilot(tmp_path))
    one = found["s-json"]
    said = [(m.message.role, m.message.text) for m in one.messages.values()]
    assert said == [
        ("user", "What is in a?"), ("assistant", "I look."), ("tool_result", ""), ("assistant", "It is a leaf."),
        ("user", "And in b?"), ("assistant", "See `b`"), ("tool_result", ""), ("assistant", "It is bark."),
    ]  # fmt: skip
    assert one.messages["response_1#1"].message.results[0].text == "leaf"
    assert one.messages["response_2"].message.calls[0].input == {"path": "b"}
    assert one.messages["response_1"].created_at == 1_770_000_062_500_000
    assert (one.conversation.directory, one.conversation.model) == ("/home/me/garden", "gpt-5")
    assert found["s-log"].messages["response_9#2"].message.text == "It is a leaf."


def test_a_trajectory_has_reasoning_calls_tokens_and_times(tmp_path: Path) -> None:
    found = only(samples.atif(tmp_path))
    _, called, result, _ = found.messages.values()
    assert [type(block) for block in called.message.blocks] == [Thinking, ToolCall]
    assert (called.usage, called.model) == (Usage(10, 2, 5, cost=0.1), "m")
    assert result.message.results[0].text == "a hole"
    assert called.created_at == 1_769_940_002_000_000


def test_an_exported_trajectory_of_bough_is_read_back(tmp_path: Path, store: Store) -> None:
    dialog = [
        user("Look it up."),
        Message("assistant", (Thinking("hm"), Text("Let me see."), ToolCall("t1", "look", '{"word": "bough"}'))),
        Message("tool_result", (ToolResult("t1", (Text("a branch"),)),)),
        Message("assistant", (ToolCall("t2", "shell", "ls -l"),)),
        Message("tool_result", (ToolResult("t2", (Text("a"),)),)),
        assistant("A branch."),
    ]
    parent: Save | None = None
    saves = []
    for message in dialog:
        parent = Save(message, parent)
        saves.append(parent)
    ids = list(store.save_messages(saves))
    path = tmp_path / "out.json"
    path.write_text("".join(get("atif").write(collect(store, ids[-1]))))
    assert [imported.message for imported in only(path).messages.values()] == dialog
    with bough.connect(tmp_path / "other.db") as other:
        import_path(other, path)
        assert [node.message for node in other.session(other.sessions()[0].key).path()] == dialog


def test_a_run_of_swe_agent_has_its_tokens_and_cost_once(tmp_path: Path) -> None:
    found = only(samples.swe_agent(tmp_path))
    assert [m.usage for m in found.messages.values()] == [None, None, None, None, Usage(70, 9, cost=0.2)]
    assert found.by_text("elm").message.results[0].call_id == "c1"


def test_a_run_of_swe_agent_without_history_is_read_from_its_steps(tmp_path: Path) -> None:
    path = samples.swe_agent(tmp_path)
    record = json.loads(path.read_text())
    del record["history"]
    path.write_text(json.dumps(record))
    assert [m.message.text for m in only(path).messages.values()] == ["I look.", "elm"]
