"""Damaged replies: whatever a provider may answer is kept, and the dialog goes on with every provider."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bough import Message, formats, tool_result, user
from bough.context.fit import fit
from bough.formats.types import Recipient
from bough.model import Json, Node
from tests.formats.format_corpus import golden
from tests.formats.format_dialogs import damaged

WIRES = [name for name in formats.names() if name != "bough.jsonl"]
RECORDED = [json.loads(file.read_text("utf-8")) for file in sorted(Path(__file__).with_name("recorded").glob("*.json"))]
REPLIES = [step["reply"] for case in RECORDED for step in case["steps"] if "reply" in step]
REPLIES += [reply for _, reply in golden("reply", *WIRES)]


def nodes_of(messages: list[Message]) -> list[Node]:
    return [Node(f"n{at}", f"n{at - 1}" if at else None, at, message) for at, message in enumerate(messages)]


@pytest.mark.filterwarnings("ignore::bough.errors.FormatWarning")
@given(data=st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_damaged_reply_is_kept_and_every_provider_accepts_the_next_request(data: st.DataObject) -> None:
    reply: Json = data.draw(damaged(data.draw(st.sampled_from(REPLIES))))
    if not isinstance(reply, (dict, list)):
        return
    _, decoded = formats.decode_any(reply)
    replied = list(decoded.messages)
    results = [tool_result(call.call_id, "ok") for message in replied for call in message.calls]
    for name in WIRES:
        made = fit(nodes_of([user("hi"), *replied, *results, user("and?")]), name, target=Recipient())
        assert formats.get(name).check(made.payload, "gemini-2.5") == []
        json.dumps(made.payload, default=str)
