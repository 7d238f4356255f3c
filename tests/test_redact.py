"""Secrets that are replaced before anything is stored, and texts that only look like them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bough import Media, Message, Other, Refused, Text, Thinking, ToolCall, ToolResult, user
from bough.redact import PATTERNS, Redactor

LETTERS = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"
SECRETS = {
    "private-key": "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\ndef=\n-----END OPENSSH PRIVATE KEY-----",
    "anthropic-key": f"sk-ant-api03-{LETTERS}",
    "openrouter-key": f"sk-or-v1-{LETTERS}",
    "openai-key": f"sk-proj-{LETTERS}",
    "github-token": f"ghp_{LETTERS}",
    "gitlab-token": "glpat-aB3dE6gH9jK2mN5pQ8sT",
    "slack-token": "xoxb-123456789012-abcdefghij",
    "google-key": f"AIza{LETTERS[:35]}",
    "aws-key": "AKIAABCDEFGHIJKLMNOP",
    "stripe-key": f"sk_live_{LETTERS[:24]}",
    "huggingface-token": f"hf_{LETTERS}",
    "npm-token": f"npm_{LETTERS}",
    "pypi-token": f"pypi-{LETTERS}{LETTERS}",
    "telegram-token": f"123456789:{LETTERS[:35]}",
    "jwt": f"eyJ{LETTERS}.eyJ{LETTERS}.{LETTERS}",
}


@pytest.mark.parametrize("kind", SECRETS)
def test_a_token_is_replaced_by_its_kind_and_the_words_around_it_stay(kind: str) -> None:
    redactor = Redactor()
    assert redactor.text(f"before {SECRETS[kind]} after") == f"before [redacted: {kind}] after"
    assert redactor.found == {kind: 1}


def test_every_kind_has_an_example() -> None:
    assert set(PATTERNS) - set(SECRETS) == {"bearer-token", "url-password", "password"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Authorization: Bearer abcdefghijklmnopqrstu", "Authorization: Bearer [redacted: bearer-token]"),
        ("postgresql://me:hunter22@db/x", "postgresql://[redacted: url-password]@db/x"),
        ("password = 'correct-horse'", "password = '[redacted: password]'"),
        ('{"api_key": "0123456789"}', '{"api_key": "[redacted: password]"}'),
        ("DB_PASSWORD=correcthorse1", "DB_PASSWORD=[redacted: password]"),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG", "aws_secret_access_key = [redacted: password]"),
    ],
)
def test_the_name_before_a_secret_stays(text: str, expected: str) -> None:
    assert Redactor().text(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "The password is what you type first.",
        "task-oriented dialog; risk-free; sk-learn",
        "https://example.com/a:b@c",
        "password: $PASSWORD",
        "See commit 5f6aa20d5f6aa20d5f6aa20d5f6aa20d5f6aa20d",
        "12:30 and 1234567890",
    ],
)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert Redactor().text(text) == text


def test_every_place_of_a_message_is_looked_at() -> None:
    token = SECRETS["github-token"]
    message = Message(
        "assistant",
        (
            Text(token, extra={"note": token}, raw={"text": token, token: 1}),
            Thinking(token),
            ToolCall("call", "run", f'{{"token": "{token}"}}', raw={"input": [token]}),
            ToolResult("call", (Text(token), Other("x", {"a": token}))),
            Media("image", "image/png", url=f"https://example.com/?t={token}"),
            Other("strange", {"deep": [{"deeper": token}]}),
        ),
        envelope={"id": "msg_1", "content": token},
    )
    clean = Redactor()(message)
    assert token not in repr(clean)
    assert repr(clean).count("[redacted: github-token]") == repr(message).count(token)


def test_a_field_whose_name_says_that_it_is_a_secret_is_replaced() -> None:
    clean = Redactor().json(
        {"db_password": "hunter22", "password_hint": "none at all", "api-key": None, "pwd": "short"}
    )
    assert clean == {
        "db_password": "[redacted: password]", "password_hint": "none at all", "api-key": None, "pwd": "short",
    }  # fmt: skip


def test_arguments_of_a_call_stay_json() -> None:
    message = Message("assistant", (ToolCall("c", "login", '{"password": "correct-horse", "user": "me"}'),))
    assert Redactor()(message).calls[0].input == {"password": "[redacted: password]", "user": "me"}


@pytest.mark.parametrize("password", ["correct horse battery", 'correct"horse', "correct\\nhorse"])
def test_a_password_with_blanks_or_escapes_in_arguments_is_replaced_whole(password: str) -> None:
    message = Message("assistant", (ToolCall("c", "login", json.dumps({"password": password})),))
    assert Redactor()(message).calls[0].input == {"password": "[redacted: password]"}


def test_an_encrypted_private_key_is_replaced_whole() -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A\n\nMIIB\n"
    assert Redactor().text(f"{key}-----END RSA PRIVATE KEY-----.") == "[redacted: private-key]."


def test_a_message_nested_too_deeply_to_be_searched_is_refused() -> None:
    deep: Any = "x"
    for _ in range(5_000):
        deep = [deep]
    with pytest.raises(Refused, match="nested too deeply"):
        Redactor()(Message("user", (Text("x", raw=deep),)))


def test_a_message_without_secrets_is_the_same_object() -> None:
    message = Message("user", (Text("hello", raw={"type": "text", "list": [1, None, {"a": "b"}]}),), envelope={"x": 1})
    assert Redactor()(message) is message


def test_every_secret_is_reported() -> None:
    kinds: list[str] = []
    Redactor(report=kinds.append)(user(f"{SECRETS['aws-key']} and {SECRETS['slack-token']}"))
    assert kinds == ["aws-key", "slack-token"]


def test_patterns_of_ones_own_take_the_place_of_the_others() -> None:
    redactor = Redactor({"ticket": r"\bTICKET-\d+"})
    assert redactor.text(f"TICKET-12 {SECRETS['aws-key']}") == f"[redacted: ticket] {SECRETS['aws-key']}"


@pytest.mark.parametrize(
    "text",
    ["password=" * 20_000, "sk-" * 60_000, "eyJ" * 60_000, "://a:" * 40_000, "-----BEGIN PRIVATE KEY-----" * 5_000],
)
def test_hostile_text_is_read_in_linear_steps(text: str) -> None:
    assert isinstance(Redactor().text(text), str)
