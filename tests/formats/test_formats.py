"""The door to the formats: names, detection, provenance, our own lines, and what they may import."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bough import formats
from bough.errors import FormatError
from bough.formats import jsonl
from bough.formats.types import LOSS_CODES
from bough.model import Json, Message, Node, Text, ToolCall, Usage, assistant, tool_result, user
from tests.formats.format_corpus import golden, one, sent
from tests.formats.format_dialogs import dialogs, flat

SOURCE = Path(formats.__file__).parent


@pytest.mark.parametrize("name", formats.names())
def test_a_format_knows_its_name(name: str) -> None:
    assert formats.get(name).name == name


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(FormatError, match=r"no format 'openai'; there are openai\.chat, .*bough\.jsonl"):
        formats.get("openai")


def test_nothing_is_imported_before_it_is_needed() -> None:
    code = "import sys, bough.formats; print([name for name in sys.modules if name.startswith('bough.formats.')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize("file", sorted(SOURCE.rglob("*.py")), ids=lambda file: str(file.relative_to(SOURCE)))
def test_formats_import_the_model_and_the_standard_library_only(file: Path) -> None:
    allowed = ("bough.formats", "bough.model", "bough.model.ids", "bough.errors", "bough.model.values")
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        for name in names:
            assert name.startswith(allowed) or name.split(".")[0] in sys.stdlib_module_names


@pytest.mark.parametrize("kind", ["request", "reply"])
def test_every_golden_file_is_recognised(kind: str) -> None:
    for name, payload in golden(kind):
        assert formats.detect(sent(name, payload) if kind == "request" else payload) == name


@pytest.mark.parametrize("payload", [None, 1, "hi", [], {}, [1], {"a": 1}, [{"a": 1}], object()])
def test_what_is_no_payload_is_not_recognised(payload: Json) -> None:
    assert formats.detect(payload) is None


def test_plain_words_are_taken_as_chat() -> None:
    assert formats.detect([{"role": "user", "content": "hi"}]) == "openai.chat"
    assert (
        formats.detect([{"role": "user", "content": "hi"}, {"role": "user", "content": [{"text": "hi"}]}]) == "bedrock"
    )


PROVENANCE = {
    ("openai.chat", "reply-tools"): ("gpt-6-astra", "openai", Usage(12, 7, 4, 3), "chatcmpl-1", "tool_calls"),
    ("openai.responses", "reply-every-item"): ("gpt-6-astra", "openai", Usage(10, 5, 4, 2), "resp_1", "completed"),
    ("openai.responses", "reply-text"): ("gpt-6-astra", "openai", Usage(), "resp_2", "max_output_tokens"),
    ("anthropic", "reply-thinking-and-tool"): ("claude-opus-5-5", "anthropic", Usage(16, 5, 4, 3), "msg_1", "tool_use"),
    ("bedrock", "reply-tool"): (None, "bedrock", Usage(16, 5, 4), None, "tool_use"),
    ("gemini", "reply-tool"): ("gemini-3.5-pro", "gemini", Usage(10, 8, 4, 3), "r1", "STOP"),
    ("gemini", "reply-blocked"): ("gemini-3.5-pro", "gemini", Usage(10), "r2", "SAFETY"),
    ("gemini.interactions", "reply-tool"): (
        "gemini-3-flash-preview",
        "gemini",
        Usage(33, 22, 8, 5),
        "v1_abc",
        "requires_action",
    ),
    ("cohere", "reply-tool"): (
        None,
        "cohere",
        Usage(1441, 54, 144),
        "83e3e297-264b-478e-9b22-5058386292ed",
        "TOOL_CALL",
    ),
    ("cohere", "reply-cited"): (None, "cohere", Usage(61, 9), "83e3e297", "COMPLETE"),
    ("ollama", "reply-tool"): ("qwen3:8b", "ollama", Usage(31, 17), None, "stop"),
    ("qdeveloper", "reply-tool"): (None, "qdeveloper", Usage(), "m9", "tool_use"),
}


@pytest.mark.parametrize(("where", "expected"), PROVENANCE.items())
def test_a_reply_says_how_it_came_about(where: tuple[str, str], expected: tuple[object, ...]) -> None:
    found = formats.get(where[0]).decode(one(*where)).provenance
    assert (found.model, found.provider, found.usage, found.response_id, found.stop_reason) == expected


def test_bedrock_tells_the_request_id() -> None:
    assert formats.get("bedrock").decode(one("bedrock", "reply-tool")).provenance.request_id == "req-1"


def test_a_single_message_is_read_as_a_list_of_one() -> None:
    wire = {"role": "user", "content": "hi"}
    for name in ("openai.chat", "openai.responses", "anthropic", "gemini.interactions", "cohere", "ollama"):
        assert formats.get(name).decode(wire) == formats.get(name).decode([wire])


def test_an_error_says_what_was_wrong_and_where() -> None:
    with pytest.raises(FormatError, match=r"messages\[1\]\.content\[0\]\.text should be a string and is null"):
        formats.get("anthropic").decode(
            [{"role": "user", "content": "hi"}, {"role": "user", "content": [{"type": "text"}]}]
        )
    with pytest.raises(FormatError, match=r"messages\[0\] has the role 'wizard'"):
        formats.get("openai.chat").decode([{"role": "wizard", "content": "hi"}])


def test_calls_without_an_id_get_one_and_their_results_the_same() -> None:
    messages = formats.get("gemini").decode(one("gemini", "request-every-part")).messages
    calls, results = messages[1].calls, messages[2].results
    assert [call.call_id for call in calls] == [result.call_id for result in results]
    assert len({call.call_id for call in calls}) == 3
    reply = {"candidates": [{"content": one("gemini", "request-every-part")[1]}]}
    assert formats.get("gemini").decode(reply).messages[0].calls == calls


def test_a_result_for_a_call_without_an_id_has_none_either() -> None:
    messages = list(
        formats.get("gemini")
        .decode([{"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}])
        .messages
    )
    call = messages[0].blocks[0]
    assert isinstance(call, ToolCall)
    response = formats.get("gemini").encode([*messages, tool_result(call.call_id, "ok")]).payload[1]["parts"][0]
    assert response == {"functionResponse": {"name": "f", "response": {"output": "ok"}}}


def test_a_result_without_an_item_answers_in_its_calls_own_kind() -> None:
    format_ = formats.get("openai.responses")
    calls: list[dict[str, Json]] = [
        {"type": "custom_tool_call", "call_id": "a", "name": "sql", "input": "x"},
        {"type": "apply_patch_call", "call_id": "b", "id": "i", "status": "completed", "operation": {}},
        {"type": "shell_call", "call_id": "c", "id": "i", "status": "completed", "action": {}},
        {"type": "local_shell_call", "call_id": "d", "id": "i", "status": "completed", "action": {}},
        {"type": "mcp_approval_request", "id": "e", "name": "n", "server_label": "s", "arguments": "{}"},
    ]
    for call in calls:
        message = format_.decode([call]).messages[0]
        result = tool_result(message.calls[0].call_id, "done")
        written = format_.encode([message, result, assistant("so")], strict=True).payload[1]
        assert written["type"] == {"mcp_approval_request": "mcp_approval_response"}.get(
            call["type"], f"{call['type']}_output"
        )
        assert format_.decode([written]).messages[0].results[0].call_id == message.calls[0].call_id


@given(dialog=dialogs, wild=st.text(alphabet=st.characters(), max_size=5))
@settings(max_examples=40, deadline=None)
def test_lines_keep_every_message(dialog: list[list[Message]], wild: str) -> None:
    messages = [*flat(dialog), user(wild + "\ud83d\x00\n\u2028")]
    objects = jsonl.FORMAT.encode(messages, strict=True).payload
    lines = jsonl.dumps(objects)
    assert lines.count("\n") == len(messages)
    assert lines.encode("ascii")
    assert list(jsonl.FORMAT.decode(lines).messages) == messages


@pytest.mark.parametrize(("name", "payload"), golden("request"))
def test_lines_keep_what_a_provider_said(name: str, payload: Json) -> None:
    format_ = formats.get(name)
    messages = format_.decode(payload).messages
    through = jsonl.FORMAT.decode(jsonl.dumps(jsonl.FORMAT.encode(messages).payload)).messages
    assert through == messages
    assert format_.encode(through).payload == format_.encode(messages).payload


def test_a_line_may_say_where_its_message_stands() -> None:
    node = Node(
        "a1b2c3", "x9y8z7", 1_790_000_000_000_000, user("hi"), "topic", "a1b2c3", kind="summary", covers="x9y8z7"
    )
    assert jsonl.decode_node(jsonl.encode_node(node)) == node
    root = Node("a1b2c3", None, 1, Message("assistant", (Text("hi"),)))
    assert jsonl.decode_node(jsonl.encode_node(root)) == root
    assert formats.detect(jsonl.encode_node(root)) == "bough.jsonl"


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "line 1 is not JSON"),
        ("1", "line 1 should be an object"),
        ('{"role": "wizard"}', "wizard"),
        ('{"role": "user", "blocks": [{"type": "spell"}]}', "spell"),
        ('{"role": "user", "blocks": [{"type": "media", "kind": "image", "mime": "", "data": "?"}]}', "not base64"),
        ('{"role": "user", "blocks": [{"type": "media", "kind": "image", "mime": ""}]}', "exactly one"),
    ],
)
def test_a_bad_line_says_what_is_wrong(line: str, complaint: str) -> None:
    with pytest.raises(FormatError, match=complaint):
        jsonl.FORMAT.decode(line)


def test_every_loss_code_is_used_and_documented() -> None:
    files = [*SOURCE.rglob("*.py"), *(SOURCE.parent / "context").glob("*.py")]
    sources = "".join(file.read_text("utf-8") for file in files if file.name != "types.py")
    page = (Path(__file__).parents[2] / "docs" / "formats.md").read_text("utf-8")
    assert [code for code in LOSS_CODES if f'"{code}"' not in sources] == []
    assert [code for code in LOSS_CODES if f"`{code}`" not in page] == []
