"""Chat files: requests of every provider, datasets, batches, and files that only look like them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bough import ImporterError, formats
from bough.importers import detect, get
from bough.model import Json, Message, Text, ToolCall, ToolResult, assistant, user
from bough.model.imported import Conversation, Skipped
from tests.importers.helpers import ReadConversation, read_path

DIALOG = [
    user("Look it up."),
    Message("assistant", (Text("Let me see."), ToolCall("t1", "look_up", '{"word": "bough"}'))),
    Message("tool_result", (ToolResult("t1", (Text("a main branch"),)),)),
    assistant("A main branch of a tree."),
]
HI: list[Json] = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}]


def read_file(directory: Path, name: str, text: str) -> list[ReadConversation]:
    path = directory / name
    path.write_text(text)
    return list(read_path(path).values())


def texts(one: ReadConversation) -> list[tuple[str, str]]:
    return [(imported.message.role, imported.message.text) for imported in one.messages.values()]


@pytest.mark.parametrize("name", formats.names())
@pytest.mark.parametrize("wrapped", [False, True])
def test_an_export_in_any_format_is_read_back_with_its_calls(tmp_path: Path, name: str, wrapped: bool) -> None:
    payload = formats.get(name).encode(DIALOG).payload
    key = {"gemini": "contents", "openai.responses": "input", "gemini.interactions": "input"}.get(name, "messages")
    whole = {key: payload, "model": "m"} if wrapped and isinstance(payload, list) else payload
    (one,) = read_file(tmp_path, "export.json", json.dumps(whole, indent=2))
    read = [imported.message for imported in one.messages.values()]
    assert [[type(block) for block in message.blocks] for message in read] == [
        [type(block) for block in message.blocks] for message in DIALOG
    ]
    assert read[1].calls[0].input == {"word": "bough"}
    assert read[2].results[0].text == "a main branch"
    assert [imported.parent for imported in one.messages.values()] == [None, *list(one.messages)[:-1]]


@pytest.mark.parametrize(
    "record",
    [
        {"id": "a", "conversations": [{"from": "human", "value": "hi"}, {"from": "gpt", "value": "yo"}]},
        {"conversation_id": "a", "model": "m", "conversation": HI},
        {"id": "a", "messages": [{"role": "human", "content": "hi"}, {"role": "ai", "content": "yo"}]},
        {"id": "a", "messages": [{"role": "user", "content": "hi"}, {"role": "model", "content": "yo"}]},
        {"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": {"model": "m", "messages": HI}},
        {"custom_id": "a", "params": {"model": "m", "max_tokens": 9, "messages": HI}},
    ],
    ids=["ShareGPT", "LMSYS", "human and ai", "user and model", "OpenAI batch", "Anthropic batch"],
)
@pytest.mark.parametrize("layout", ["an object", "a list", "lines"])
def test_datasets_are_read_in_every_layout(tmp_path: Path, record: dict[str, Json], layout: str) -> None:
    text = json.dumps(record, indent=1) if layout == "an object" else json.dumps([record])
    text = json.dumps(record) + "\n" + json.dumps({"id": 1, "messages": []}) + "\n" if layout == "lines" else text
    (one,) = read_file(tmp_path, "data.jsonl", text)
    assert texts(one) == [("user", "hi"), ("assistant", "yo")]
    assert one.conversation.id == "a"
    assert one.conversation.model == ("m" if "model" in json.dumps(record) and '"m"' in json.dumps(record) else None)


def test_one_message_per_line_is_one_conversation_or_one_for_each_of_its_ids(tmp_path: Path) -> None:
    lines = [{**message, "timestamp": 1_700_000_000 + n} for n, message in enumerate(HI) if isinstance(message, dict)]
    (one,) = read_file(tmp_path, "a.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    assert texts(one) == [("user", "hi"), ("assistant", "yo")]
    assert [m.created_at for m in one.messages.values()] == [1_700_000_000_000_000, 1_700_000_001_000_000]
    two = [{**line, "conversation_id": name} for name in ("x", "y") for line in lines]
    found = read_file(tmp_path, "b.jsonl", "".join(json.dumps(line) + "\n" for line in two))
    assert [one.conversation.id for one in found] == ["x", "y"]


def test_calls_of_a_dataset_become_calls_with_results(tmp_path: Path) -> None:
    call = {"name": "look_up", "arguments": {"word": "bough"}}
    said = [("human", "?"), ("function_call", json.dumps(call)), ("observation", "a branch"), ("gpt", "A branch.")]
    record = {"conversations": [{"from": who, "value": text} for who, text in said]}
    (one,) = read_file(tmp_path, "data.json", json.dumps([record]))
    asked, called, result, _ = [imported.message for imported in one.messages.values()]
    assert (asked.text, called.calls[0].name, called.calls[0].input) == ("?", "look_up", {"word": "bough"})
    assert result.results[0].call_id == called.calls[0].call_id


def test_replies_of_a_batch_are_named_as_such(tmp_path: Path) -> None:
    line = {"custom_id": "a", "response": {"body": {"choices": []}}}
    (tmp_path / "results.jsonl").write_text(json.dumps(line) + "\n")
    (one,) = get("chats").read(tmp_path / "results.jsonl")
    assert isinstance(one, Skipped)
    assert "without its request" in one.reason


@pytest.mark.parametrize(
    "record",
    [
        {"openapi": "3.1.0", "paths": {"/chat": {"example": {"messages": HI}}}},
        {"interactions": [{"request": {"body": {"messages": HI}}}], "version": 1},
        {"log": {"version": "1.2", "entries": [{"request": {"messages": HI}}]}},
        {"messages": [{"role": "Software engineer", "content": "a job"}]},
        {"seq": 1, "type": "message_append", "payload": {"role": "user", "content": "hi"}},
    ],
    ids=["OpenAPI", "VCR", "HAR", "other roles", "an event of a log"],
)
def test_files_that_contain_examples_of_chats_are_no_chats(tmp_path: Path, record: Json) -> None:
    for number, text in enumerate(
        (json.dumps(record), json.dumps(record, indent=2), json.dumps(record) + " " * 70_000)
    ):
        (tmp_path / f"{number}.json").write_text(text)
        with pytest.raises(ImporterError, match="looks like none"):
            detect(tmp_path / f"{number}.json")


def test_a_file_that_is_longer_than_its_start_is_recognised(tmp_path: Path) -> None:
    record = {"conversations": [{"from": "human", "value": "x" * 100_000}, {"from": "gpt", "value": "yo"}]}
    (one,) = read_file(tmp_path, "long.json", json.dumps([record]))
    assert len(one.messages) == 2


def test_openai_chats_keep_the_source_that_they_had(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps({"messages": HI}))
    (one,) = get("openai-chat").read(tmp_path / "a.json")
    assert isinstance(one, Conversation)
    assert one.source == "openai-chat"
