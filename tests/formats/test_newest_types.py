"""Types of items and blocks that are new or rare: text, calls and media are understood, others are kept and named."""

from __future__ import annotations

import pytest

from bough import formats, user
from bough.context.fit import fit
from bough.model import Json, Media, Message, Node, Other, Text, ToolCall, ToolResult, assistant
from tests.formats.format_corpus import GOLDEN

DATA = "iVBORw0KGgo="
WIRES = [name for name in formats.names() if name != "bough.jsonl"]

KEPT: list[tuple[str, str, Json]] = [
    (
        "openai.responses",
        "additional_tools",
        {"type": "additional_tools", "role": "developer", "tools": [{"type": "function", "name": "look"}]},
    ),
    ("openai.responses", "configuration_update", {"type": "configuration_update", "id": "cu_1", "model": "gpt-6"}),
    ("openai.responses", "compaction_trigger", {"type": "compaction_trigger"}),
    ("openai.responses", "item_reference", {"type": "item_reference", "id": "msg_1"}),
    ("openai.responses", "item_reference", {"type": None, "id": "msg_1"}),
    ("openai.responses", "item_reference", {"id": "msg_1"}),
    (
        "openai.responses",
        "program",
        {"type": "program", "id": "p_1", "call_id": "c_1", "code": "look()", "fingerprint": "f"},
    ),
    (
        "openai.responses",
        "program_output",
        {"type": "program_output", "id": "po_1", "call_id": "c_1", "result": "3", "status": "completed"},
    ),
    ("anthropic", "tool_addition", {"type": "tool_addition", "tools": [{"name": "look"}]}),
    ("anthropic", "tool_removal", {"type": "tool_removal", "tools": [{"name": "look"}]}),
    ("anthropic", "mcp_tool_listing", {"type": "mcp_tool_listing", "server_name": "s", "tools": []}),
    ("bedrock", "toolAddition", {"toolAddition": {"tool": {"name": "look"}}}),
    ("bedrock", "toolRemoval", {"toolRemoval": {"tool": {"name": "look"}}}),
    ("gemini", "toolCall", {"partMetadata": {"n": 1}, "toolCall": {"id": "t", "toolType": "URL_CONTEXT", "args": {}}}),
    ("gemini", "toolResponse", {"thoughtSignature": "c2ln", "toolResponse": {"id": "t", "response": {"a": 1}}}),
    ("gemini", "executableCode", {"executableCode": {"language": "PYTHON", "code": "1"}}),
    ("gemini.interactions", "code_execution_call", {"type": "code_execution_call", "id": "x", "arguments": {}}),
]
"""Items and blocks of a model's reply or of a request that only their own provider has."""

FOUND = {"type": "search_result", "title": "Boughs", "source": "https://example.org", "content": []}
UNDERSTOOD: list[tuple[str, str, Json, Text | Media]] = [
    (
        "anthropic",
        "user",
        {**FOUND, "content": [{"type": "text", "text": "A main branch."}]},
        Text("Boughs\nhttps://example.org\nA main branch."),
    ),
    ("anthropic", "user", {"type": "container_upload", "file_id": "file_1"}, Media("document", "", file_id="file_1")),
    (
        "bedrock",
        "user",
        {"searchResult": {"source": "s3://b", "title": "Boughs", "content": [{"text": "A main branch."}]}},
        Text("Boughs\ns3://b\nA main branch."),
    ),
    ("bedrock", "user", {"guardContent": {"text": {"text": "hi", "qualifiers": ["query"]}}}, Text("hi")),
    (
        "bedrock",
        "user",
        {"guardContent": {"image": {"format": "png", "source": {"bytes": DATA}}}},
        Media("image", "image/png", data=b"\x89PNG\r\n\x1a\n"),
    ),
    ("gemini", "model", {"audioTranscription": {"text": "hello", "finished": True}}, Text("hello")),
    ("gemini", "model", {"text": "hello", "partMetadata": {"n": 1}}, Text("hello")),
]


def wire_list(name: str, role: str, item: Json) -> list[Json]:
    if name in ("openai.responses", "gemini.interactions"):
        return [item]
    return [{"role": role, "parts" if name == "gemini" else "content": [item]}]


@pytest.mark.parametrize(("name", "kind", "item"), KEPT)
def test_what_only_its_provider_has_is_kept_verbatim_and_named_when_it_is_left_out(
    name: str, kind: str, item: Json
) -> None:
    wire = formats.get(name)
    (message,) = wire.decode(wire_list(name, "model" if name == "gemini" else "assistant", item)).messages
    (block,) = message.blocks
    assert isinstance(block, Other)
    assert block.type == kind
    assert wire.encode([message]).payload == wire_list(name, "model" if name == "gemini" else "assistant", item)
    for target in WIRES:
        losses = formats.get(target).encode([user("hi"), message]).losses
        named = [loss.detail for loss in losses if loss.code == "dropped_other"]
        assert named == ([] if target == name else [f"block of type {kind!r}"]), target


@pytest.mark.parametrize(("name", "kind", "item"), KEPT)
def test_a_dialog_with_it_goes_on_with_every_provider(name: str, kind: str, item: Json) -> None:
    wire = formats.get(name)
    (message,) = wire.decode(wire_list(name, "model" if name == "gemini" else "assistant", item)).messages
    dialog = [user("hi"), Message("assistant", (*message.blocks, Text("so"))), user("and?")]
    nodes = [Node(f"n{at}", None, at, one) for at, one in enumerate(dialog)]
    for target in WIRES:
        made = fit(nodes, target, None)
        assert formats.get(target).check(made.payload) == [], (target, kind)
        assert "turn_as_text" not in {loss.code for loss in made.losses}


@pytest.mark.parametrize(("name", "role", "item", "expected"), UNDERSTOOD)
def test_text_and_media_of_rare_blocks_reach_every_provider(
    name: str, role: str, item: Json, expected: Text | Media
) -> None:
    wire = formats.get(name)
    (message,) = wire.decode(wire_list(name, role, item)).messages
    (block,) = message.blocks
    assert block == (type(expected)(**{**_fields(expected), "raw": block.raw}))
    assert wire.encode([message]).payload == wire_list(name, role, item)
    for target in WIRES:
        losses = {loss.code for loss in formats.get(target).encode([user("hi"), message, assistant("so")]).losses}
        assert "dropped_other" not in losses, target


def _fields(block: Text | Media) -> dict[str, Json]:
    names = ("text",) if isinstance(block, Text) else ("kind", "mime", "data", "url", "file_id", "name")
    return {name: getattr(block, name) for name in names}


def test_an_asynchronous_call_of_responses_is_a_call_whose_output_may_come_later() -> None:
    wire = formats.get("openai.responses")
    call = {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}", "async": True}
    output = {"type": "function_call_output", "call_id": "c", "output": "rain"}
    items = [call, {"role": "user", "content": "meanwhile"}, output]
    messages = wire.decode(items).messages
    assert isinstance(messages[0].blocks[0], ToolCall)
    assert wire.check(items) == []
    assert wire.encode(messages).payload == items


def test_a_referenced_item_may_be_the_call_of_an_output() -> None:
    output = {"type": "function_call_output", "call_id": "c", "output": "rain"}
    check = formats.get("openai.responses").check
    assert check([{"type": "item_reference", "id": "fc_1"}, output]) == check([{"id": "fc_1"}, output]) == []
    assert [one.rule for one in check([output])] == [2]


def test_scheduling_of_a_result_of_gemini_is_kept() -> None:
    wire = formats.get("gemini")
    response = {"id": "c", "name": "look", "response": {"output": "rain"}, "scheduling": "WHEN_IDLE"}
    contents = [{"role": "user", "parts": [{"functionResponse": response}]}]
    (message,) = wire.decode(contents).messages
    assert isinstance(message.blocks[0], ToolResult)
    assert wire.encode([message]).payload == contents


def test_streamed_images_of_bedrock_add_up() -> None:
    stream = formats.get("bedrock").accumulator()
    for event in (
        {"messageStart": {"role": "assistant"}},
        {"contentBlockStart": {"contentBlockIndex": 0, "start": {"image": {"format": "png"}}}},
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"image": {"source": {"bytes": b"\x89PNG"}}}}},
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"image": {"source": {"bytes": b"\r\n\x1a\n"}}}}},
        {"contentBlockStop": {"contentBlockIndex": 0}},
        {"messageStop": {"stopReason": "end_turn"}},
    ):
        stream.feed(event)
    (message,) = formats.get("bedrock").decode(stream.reply()).messages
    (image,) = message.blocks
    assert isinstance(image, Media)
    assert (image.mime, image.data) == ("image/png", b"\x89PNG\r\n\x1a\n")


def test_every_type_of_these_tests_is_named_on_the_page() -> None:
    page = (GOLDEN.parents[2] / "docs" / "formats.md").read_text("utf-8")
    names = {kind for _, kind, _ in KEPT} | {"search_result", "container_upload", "searchResult", "guardContent"}
    assert [name for name in names if f"`{name}`" not in page] == []
