"""The scripted provider: replies from a file."""

from __future__ import annotations

from pathlib import Path
from threading import Thread

import pytest

import bough
from bough import Usage, providers
from bough.errors import ProviderError
from bough.providers.types import Piece, Provider

SAID = {"role": "assistant", "blocks": [{"type": "text", "text": "before"}]}
ASKED = {"role": "user", "blocks": [{"type": "text", "text": "hello"}]}


def script(path: Path, *lines: str) -> Provider:
    (path / "script").write_text("\n".join(lines), "utf-8")
    return providers.find(f"scripted:{path / 'script'}")


def test_a_line_of_text_is_streamed_word_by_word(tmp_path: Path) -> None:
    answer = script(tmp_path, "Good  morning,\\nAda.").ask([ASKED])
    assert list(answer) == [Piece("text", "Good  ", 0), Piece("text", "morning,\n", 0), Piece("text", "Ada.", 0)]
    assert answer.reply() == {"role": "assistant", "blocks": [{"type": "text", "text": "Good  morning,\nAda."}]}
    assert answer.first_token_at is not None
    assert answer.usage == Usage()


def test_the_line_depends_on_the_number_of_replies_and_wraps_around(tmp_path: Path) -> None:
    provider = script(tmp_path, "one", "", "two")
    told = ["".join(piece.text for piece in provider.ask([ASKED, SAID] * said)) for said in range(4)]
    assert told == ["one", "two", "one", "two"]


def test_blocks_become_thinking_text_and_complete_calls(tmp_path: Path) -> None:
    line = (
        '{"blocks": [{"type": "thinking", "text": "hm"}, {"type": "text", "text": "I look."},'
        ' {"type": "tool_call", "name": "look", "arguments": {"at": "sea"}}], "usage": {"input_tokens": 3}}'
    )
    answer = script(tmp_path, line).ask([ASKED])
    assert [piece.kind for piece in answer] == ["thinking", "text", "text", "call", "arguments"]
    call = answer.reply()["blocks"][2]
    assert call == {"type": "tool_call", "name": "look", "arguments": '{"at": "sea"}', "call_id": "call_0_2"}
    assert answer.usage == Usage(input_tokens=3)


def test_each_turn_gets_the_next_line(tmp_path: Path) -> None:
    provider = script(tmp_path, "first", "second")
    with bough.connect(tmp_path / "b.db") as store:
        session = store.session("cli:default")
        for expected in ("first", "second"):
            with session.turn("hello") as turn:
                answer = provider.ask(turn.context(provider.format).payload)
                assert "".join(piece.text for piece in answer) == expected
                turn.add(answer.reply(), model=provider.model, provider=provider.name, usage=answer.usage)
        assert [node.message.text for node in session.path()] == ["hello", "first", "hello", "second"]


def test_a_cut_keeps_the_partial_reply(tmp_path: Path) -> None:
    answer = script(tmp_path, '{"blocks": [{"type": "text", "text": "one two three"}], "cut": 2}').ask([ASKED])
    with pytest.raises(ProviderError, match="cuts the reply") as caught:
        list(answer)
    assert caught.value.kind == "cut"
    assert answer.reply()["blocks"] == [{"type": "text", "text": "one two "}]


def test_closing_stops_a_reply_read_by_another_thread(tmp_path: Path) -> None:
    answer = script(tmp_path, '{"blocks": [{"type": "text", "text": "one two"}], "delay": 600}').ask([ASKED])
    pieces: list[Piece] = []
    reader = Thread(target=lambda: pieces.extend(answer))
    reader.start()
    answer.close()
    answer.close()
    reader.join(10)
    assert not reader.is_alive()
    assert pieces == []


def test_a_scripted_error_is_raised_with_its_kind(tmp_path: Path) -> None:
    provider = script(tmp_path, '{"error": "rate_limit", "message": "Slow down.", "retry_after": 7}')
    with pytest.raises(ProviderError, match=r"^Slow down\.$") as caught:
        provider.ask([ASKED])
    assert (caught.value.kind, caught.value.retry_after) == ("rate_limit", 7)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"blocks": [', "is no reply"),
        ('{"blocks": [{"type": "text"}]}', "text should be"),
        ('{"blocks": [{"type": "media"}]}', "made of text, thinking, tool_call"),
        ('{"error": "tired"}', "unknown kind of error 'tired'"),
        ('{"usage": {"beans": 3}, "blocks": []}', "beans"),
        ("", "has no replies"),
    ],
)
def test_an_invalid_script_is_refused_when_loaded(tmp_path: Path, line: str, why: str) -> None:
    with pytest.raises(ProviderError, match=why):
        script(tmp_path, line)


def test_the_error_for_a_missing_script_names_it(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match="nowhere") as caught:
        providers.find(f"scripted:{tmp_path / 'nowhere'}")
    assert caught.value.kind == "not_found"
