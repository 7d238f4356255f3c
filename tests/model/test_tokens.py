"""The token estimator: stored weights are sums of its estimates, so each version of it is pinned."""

from __future__ import annotations

from bough import Media, Message, Other, Thinking, assistant, tool_call, tool_result, user
from bough.model import tokens

SAMPLES: list[Message] = [
    user(""),
    user("What is a bough?"),
    user("ä🌳\ud800" * 10),
    user("0123456789abcdef" * 64),
    assistant(Thinking("Let me see."), "A branch.", tool_call("c1", "look", {"at": "tree"})),
    tool_result("c1", ["a branch", Media("image", "image/png", data=b"x" * 10_000)]),
    user(
        Media("document", "application/pdf", data=b"x" * 1_000_000), Media("audio", "audio/wav", data=b"x" * 10_000_000)
    ),
    user(Media("image", "image/png", url="https://example.org/a.png"), Other("new", {"type": "new", "n": 1})),
]

PINNED = {1: [4, 9, 30, 736, 21, 1511, 27816, 1511]}


def test_an_estimate_changes_only_with_the_version_of_the_estimator() -> None:
    assert [tokens.estimate(message) for message in SAMPLES] == PINNED[tokens.VERSION]
