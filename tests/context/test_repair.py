"""Repaired dialogs have one result per call and start with the user."""

from __future__ import annotations

import pytest

from bough import (
    Message,
    assistant,
    formats,
    tool_call,
    tool_result,
    user,
)
from bough.context.fit import fit
from bough.context.repair import CANCELLED, RequestMessage, repair
from tests.context.paths import WIRES, nodes_of


def repaired(*messages: Message) -> list[Message]:
    return [
        item.message for item in repair([RequestMessage(str(place), message) for place, message in enumerate(messages)])
    ]


def test_what_is_whole_is_not_touched() -> None:
    dialog = [
        user("q"),
        assistant(tool_call("a", "f"), tool_call("b", "g")),
        tool_result("b", "2"),
        tool_result("a", "1"),
    ]
    assert repaired(*dialog) == dialog


def test_a_missing_result_is_said_to_be_missing() -> None:
    dialog = repaired(
        user("q"), assistant(tool_call("a", "f"), tool_call("b", "g")), tool_result("a", "1"), user("next")
    )
    answers = dialog[2].results
    assert [(answer.call_id, answer.error) for answer in answers] == [("a", False), ("b", True)]
    assert answers[1].text == CANCELLED


@pytest.mark.parametrize("name", WIRES)
def test_a_tool_result_message_without_results_does_not_separate_a_call_from_its_result(name: str) -> None:
    call, empty, answer = assistant(tool_call("a", "f")), Message("tool_result", ()), tool_result("a", "1")
    assert repaired(user("q"), call, empty, answer) == [user("q"), call, answer]
    for following in ([empty, answer], [answer, empty], [empty], [empty, user("next"), answer]):
        made = fit(nodes_of([[user("q"), call, *following]]), name)
        assert formats.get(name).check(made.payload) == []


def test_orphans_duplicates_and_late_results_are_put_right() -> None:
    dialog = repaired(
        user("q"), tool_result("zzz", "nobody asked"), assistant(tool_call("a", "f")), user("hurry"),
        tool_result("a", "first"), tool_result("a", "second"), assistant("done"),
    )  # fmt: skip
    assert [message.role for message in dialog] == ["user", "assistant", "tool_result", "user", "assistant"]
    assert [answer.text for answer in dialog[2].results] == ["first"]
