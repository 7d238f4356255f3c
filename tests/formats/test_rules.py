"""`check`, rule by rule: what a provider refuses is caught, and the same payload without the fault is not."""

from __future__ import annotations

import pytest

from bough import formats
from bough.model import Json


def u(*blocks: Json) -> dict[str, Json]:
    return {"role": "user", "content": list(blocks)}


def a(*blocks: Json) -> dict[str, Json]:
    return {"role": "assistant", "content": list(blocks)}


def text(words: str) -> dict[str, Json]:
    return {"type": "text", "text": words}


def use(call_id: str) -> dict[str, Json]:
    return {"type": "tool_use", "id": call_id, "name": "n", "input": {}}


def answer(call_id: str, **more: Json) -> dict[str, Json]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": "ok", **more}


def b_use(call_id: str) -> dict[str, Json]:
    return {"toolUse": {"toolUseId": call_id, "name": "n", "input": {}}}


def b_answer(call_id: str, **more: Json) -> dict[str, Json]:
    return {"toolResult": {"toolUseId": call_id, "content": [{"text": "ok"}], **more}}


def g(role: str, *parts: Json) -> dict[str, Json]:
    return {"role": role, "parts": list(parts)}


def g_call(name: str, **more: Json) -> dict[str, Json]:
    return {"functionCall": {"name": name, "args": {}}, **more}


def g_answer(name: str) -> dict[str, Json]:
    return {"functionResponse": {"name": name, "response": {"output": "ok"}}}


def chat_call(*ids: str) -> dict[str, Json]:
    calls = [{"id": call_id, "type": "function", "function": {"name": "n", "arguments": "{}"}} for call_id in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def chat_answer(call_id: str) -> dict[str, Json]:
    return {"role": "tool", "tool_call_id": call_id, "content": "ok"}


def q_input(
    content: str = "hi", results: tuple[str, ...] = (), tools: tuple[str, ...] | None = None
) -> dict[str, Json]:
    context: dict[str, Json] = {}
    if results:
        context["toolResults"] = [{"toolUseId": call_id, "content": [], "status": "success"} for call_id in results]
    if tools is not None:
        context["tools"] = [{"toolSpecification": {"name": name}} for name in tools]
    return {"userInputMessage": {"content": content, "userInputMessageContext": context}}


def q_answer(*ids: str) -> dict[str, Json]:
    calls = [{"toolUseId": call_id, "name": "n", "input": {}} for call_id in ids]
    return {"assistantResponseMessage": {"content": "x", "toolUses": calls}}


def q(*turns: Json) -> dict[str, Json]:
    return {"history": list(turns[:-1]), "currentMessage": turns[-1]}


hi = {"role": "user", "content": "hi"}
answered = {"role": "assistant", "content": "x"}
call = {"type": "function_call", "call_id": "c", "name": "n", "arguments": "{}"}
output = {"type": "function_call_output", "call_id": "c", "output": "ok"}
reasoning = {"type": "reasoning", "id": "rs_1", "summary": []}
image = {"image": {"format": "png", "source": {"bytes": "eA=="}}}
document = {"document": {"format": "pdf", "name": "a", "source": {"bytes": "eA=="}}}
cached = {**text("x"), "cache_control": {"type": "ephemeral"}}
marked = {"type": "input_text", "text": "x", "prompt_cache_breakpoint": {"mode": "explicit"}}
thinking = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
compaction = {"type": "compaction", "content": "before"}
tools: Json = {"toolConfig": {"tools": []}}

# rule, format, a payload that breaks it, and its neighbour that does not
said: Json = {"type": "user_input", "content": [text("x")]}
step_call: Json = {"type": "function_call", "id": "c", "name": "n", "arguments": {}}
step_result: Json = {"type": "function_result", "call_id": "c", "result": "ok"}

RULES: list[tuple[int, str, Json, Json]] = [
    (1, "openai.chat", [hi, chat_call("c"), hi], [hi, chat_call("c"), chat_answer("c"), hi]),
    (1, "openai.chat", [hi, chat_call("c", "d"), chat_answer("c"), hi], [hi, chat_call("c"), chat_answer("c"), hi]),
    (1, "openai.chat", [hi, chat_call("c")], [hi, chat_call("c"), chat_answer("c")]),
    (1, "openai.chat", [hi, chat_call("c"), hi, chat_answer("c")], [hi, chat_call("c"), chat_answer("c"), hi]),
    (1, "openai.responses", [hi, call], [hi, call, output]),
    (1, "anthropic", [u(text("x")), a(use("t")), u(text("y"))], [u(text("x")), a(use("t")), u(answer("t"), text("y"))]),
    (1, "bedrock", [u({"text": "x"}), a(b_use("t"))], [u({"text": "x"}), a(b_use("t")), u(b_answer("t"))]),
    (
        1,
        "gemini",
        [g("user", {"text": "x"}), g("model", g_call("f")), g("user", {"text": "y"})],
        [g("user", {"text": "x"}), g("model", g_call("f")), g("user", g_answer("f"))],
    ),
    (1, "qdeveloper", q(q_input(), q_answer("t"), q_input()), q(q_input(), q_answer("t"), q_input("", ("t",)))),
    (2, "openai.chat", [hi, chat_answer("c")], [hi, chat_call("c"), chat_answer("c")]),
    (
        2,
        "openai.chat",
        [hi, chat_call("c"), chat_answer("c"), chat_answer("c")],
        [hi, chat_call("c"), chat_answer("c")],
    ),
    (2, "openai.responses", [hi, output], [hi, call, output]),
    (2, "openai.responses", [hi, output, call, output], [hi, call, output]),
    (2, "anthropic", [u(text("x"), answer("t"))], [u(text("x")), a(use("t")), u(answer("t"))]),
    (2, "bedrock", [u({"text": "x"}, b_answer("t"))], [u({"text": "x"}), a(b_use("t")), u(b_answer("t"))]),
    (
        2,
        "gemini",
        [g("user", g_answer("f"))],
        [g("user", {"text": "x"}), g("model", g_call("f")), g("user", g_answer("f"))],
    ),
    (2, "qdeveloper", q(q_input(), q_answer(), q_input("", ("t",))), q(q_input(), q_answer("t"), q_input("", ("t",)))),
    (
        3,
        "anthropic",
        [u(text("x")), a(use("s"), use("t")), u(answer("s")), u(answer("t"))],
        [u(text("x")), a(use("s"), use("t")), u(answer("s"), answer("t"))],
    ),
    (
        3,
        "bedrock",
        [u({"text": "x"}), a(b_use("s"), b_use("t")), u(b_answer("s")), u(b_answer("t"))],
        [u({"text": "x"}), a(b_use("s"), b_use("t")), u(b_answer("s"), b_answer("t"))],
    ),
    (
        4,
        "gemini",
        [g("model", g_call("f")), g("user", g_answer("f"))],
        [g("user", {"text": "x"}), g("model", g_call("f")), g("user", g_answer("f"))],
    ),
    (5, "anthropic", [a(text("x"))], [u(text("x")), a(text("x"))]),
    (5, "bedrock", [a({"text": "x"})], [u({"text": "x"})]),
    (5, "gemini", [g("model", {"text": "x"})], [g("user", {"text": "x"}), g("user", {"text": "y"})]),
    (
        5,
        "bedrock",
        [u({"text": "x"}), u({"text": "y"})],
        [u({"text": "x"}), a({"text": "y"}), {"role": "system", "content": [{"text": "z"}]}, u({"text": "z"})],
    ),
    (6, "anthropic", [u(text(" \n"))], [u(text("x"))]),
    (6, "anthropic", [u()], [u(text("x"))]),
    (
        6,
        "anthropic",
        [u(text("x")), a(use("t")), u(answer("t", is_error=True, content=""))],
        [u(text("x")), a(use("t")), u(answer("t", is_error=True))],
    ),
    (6, "anthropic", [u(text("x")), a(), u(text("y"))], [u(text("x")), a()]),
    (6, "bedrock", [u({"text": ""})], [u({"text": "x"})]),
    (
        6,
        "bedrock",
        [u({"text": "x"}), a(b_use("t")), u(b_answer("t", status="error", content=[]))],
        [u({"text": "x"}), a(b_use("t")), u(b_answer("t", status="error"))],
    ),
    (6, "bedrock", [u()], [u({"text": "x"})]),
    (6, "gemini", [g("user")], [g("user", {"text": "x"})]),
    (6, "openai.chat", [hi, {"role": "assistant", "content": None}], [hi, {"role": "assistant", "content": ""}]),
    (
        7,
        "bedrock",
        {"messages": [u({"text": "x"}), a(b_use("t")), u(b_answer("t"))]},
        {"messages": [u({"text": "x"}), a(b_use("t")), u(b_answer("t"))], **tools},
    ),
    (
        8,
        "bedrock",
        {
            "modelId": "mistral.large",
            "messages": [u({"text": "x"}), a(b_use("t")), u(b_answer("t"), {"text": "y"})],
            **tools,
        },
        {
            "modelId": "anthropic.claude-opus-5-5",
            "messages": [u({"text": "x"}), a(b_use("t")), u(b_answer("t"), {"text": "y"})],
            **tools,
        },
    ),
    (9, "bedrock", [u(document)], [u(document, {"text": "x"})]),
    (9, "bedrock", [u({"text": "x"}), a(image)], [u({"text": "x"}, image)]),
    (9, "bedrock", [u({"text": "x"}, *[image] * 21)], [u({"text": "x"}, *[image] * 20)]),
    (9, "bedrock", [u({"text": "x"}, *[document] * 6)], [u({"text": "x"}, *[document] * 5)]),
    (
        10,
        "anthropic",
        [u(text("x")), a({"type": "thinking", "thinking": "hm"}, text("y"))],
        [u(text("x")), a(thinking, text("y"))],
    ),
    (
        10,
        "anthropic",
        [u(text("x")), a({"type": "redacted_thinking"}, text("y"))],
        [u(text("x")), a({"type": "redacted_thinking", "data": "eA=="}, text("y"))],
    ),
    (10, "anthropic", [u(thinking, text("x"))], [u(text("x")), a(thinking)]),
    (
        11,
        "openai.responses",
        [hi, reasoning, hi],
        [hi, reasoning, {"role": "assistant", "id": "msg_1", "content": "x"}, hi],
    ),
    (11, "openai.responses", [hi, reasoning, {"role": "assistant", "content": "edited"}, hi], [hi, hi]),
    (11, "openai.responses", [hi, reasoning], [hi, reasoning, call, output]),
    (11, "openai.responses", [hi, call, reasoning, output, hi], [hi, reasoning, call, output, hi]),
    (
        12,
        "gemini",
        {
            "model": "gemini-3.5-pro",
            "contents": [g("user", {"text": "x"}), g("model", g_call("f")), g("user", g_answer("f"))],
        },
        {
            "model": "gemini-2.5-pro",
            "contents": [g("user", {"text": "x"}), g("model", g_call("f")), g("user", g_answer("f"))],
        },
    ),
    (
        12,
        "gemini",
        [
            g("user", {"text": "x"}),
            g("model", g_call("f", thoughtSignature="eA==")),
            g("user", g_answer("f")),
            g("model", g_call("f")),
            g("user", g_answer("f")),
        ],
        [
            g("user", {"text": "x"}),
            g("model", g_call("f", thoughtSignature="eA=="), g_call("f")),
            g("user", g_answer("f"), g_answer("f")),
        ],
    ),
    (
        13,
        "anthropic",
        {"model": "claude-opus-5-5", "messages": [u(text("x")), a(text("y"))]},
        {"model": "claude-opus-4-1", "messages": [u(text("x")), a(text("y"))]},
    ),
    (14, "anthropic", [u(text("x")), a(text("y"), compaction)], [u(text("x")), a(compaction, text("y"))]),
    (14, "anthropic", [u(text("x")), a(compaction, compaction)], [u(text("x")), a(compaction)]),
    (15, "anthropic", [u(*[cached] * 5)], [u(*[cached] * 4)]),
    (15, "anthropic", [hi] * 100_001, [hi] * 100_000),
    (15, "openai.responses", [{"role": "user", "content": [marked] * 5}], [{"role": "user", "content": [marked] * 4}]),
    (15, "openai.chat", [{"role": "user", "content": [marked] * 5}], [{"role": "user", "content": [marked] * 4}]),
    (16, "qdeveloper", q(q_input(), q_input()), q(q_input(), q_answer(), q_input())),
    (16, "qdeveloper", q(q_answer(), q_input()), q(q_input())),
    (16, "qdeveloper", q(q_input(), q_answer()), q(q_input())),
    (16, "qdeveloper", q(q_input("", ("t",))), q(q_input(""))),
    (
        16,
        "qdeveloper",
        q(q_input(), q_answer("t"), q_input("", ("t",), ("m",))),
        q(q_input(), q_answer("t"), q_input("", ("t",), ("n",))),
    ),
    (1, "cohere", [hi, chat_call("c"), hi], [hi, chat_call("c"), chat_answer("c"), hi]),
    (2, "cohere", [hi, chat_answer("c")], [hi, chat_call("c"), chat_answer("c")]),
    (6, "cohere", [hi, {"role": "assistant", "content": ""}], [hi, {"role": "assistant", "content": "x"}]),
    (1, "gemini.interactions", [said, step_call], [said, step_call, step_result]),
    (2, "gemini.interactions", [said, step_result], [said, step_call, step_result]),
    (6, "gemini.interactions", [{"type": "user_input", "content": []}], [said]),
    (2, "gemini.interactions", [step_result], {"previous_interaction_id": "v1", "input": [step_result]}),  # rule 17
    (2, "openai.responses", {"input": [output]}, {"previous_response_id": "resp_1", "input": [output]}),  # rule 17
]


@pytest.mark.parametrize(
    ("rule", "name", "broken", "sound"), RULES, ids=[f"{at}-rule-{row[0]}-{row[1]}" for at, row in enumerate(RULES)]
)
def test_a_broken_rule_is_caught_and_its_neighbour_is_not(rule: int, name: str, broken: Json, sound: Json) -> None:
    check = formats.get(name).check
    assert rule in {violation.rule for violation in check(broken)}
    assert check(sound) == []


def test_every_rule_has_a_case() -> None:
    """Rule 17 is the one that forbids a complaint; its case is the last of the list."""
    assert {rule for rule, *_ in RULES} == set(range(1, 17))


def test_a_violation_says_where() -> None:
    violations = formats.get("anthropic").check([u(text("x")), a(use("t"), text(" ")), u(answer("t"))])
    assert [(violation.rule, violation.index) for violation in violations] == [(6, 1)]
