"""What goes wrong on Telegram: connections, limits, strangers, edits and stops at the wrong moment."""

from __future__ import annotations

import signal
import socket
import time
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.channels.bot_process import BotProcess
from tests.channels.conftest import Talk, until
from tests.channels.echo_model import EchoModel
from tests.channels.fake_telegram import ApiError, FakeTelegram

SECRET = "X-Telegram-Bot-Api-Secret-Token"


def test_a_poll_that_another_program_has_ended_is_repeated(talk: Talk) -> None:
    conflict = ApiError(409, "Conflict: terminated by other getUpdates request", retry_after=0.05)
    talk.telegram.faults += [("getUpdates", conflict)] * 2
    with talk.running():
        talk.telegram.say("Hello")
        assert talk.answered(1) == ["echo of Hello"]


@pytest.mark.parametrize("fault", ["drop", "late", ApiError(502, "Bad Gateway")])
def test_a_poll_that_fails_loses_no_message(talk: Talk, fault: ApiError | str) -> None:
    talk.telegram.faults.append(("getUpdates", fault))
    talk.telegram.say("Hello")
    with talk.running():
        assert talk.answered(1) == ["echo of Hello"]


def test_a_backlog_is_answered_after_the_start(talk: Talk) -> None:
    for chat in (7, 8):
        for word in ("one", "two"):
            talk.telegram.say(word, chat=chat, sender=7)
    with talk.running():
        talk.answered(1)
        talk.answered(1, 8)
    assert " ".join(talk.dialog()[::2]).split() == ["one", "two"]
    assert " ".join(talk.dialog("telegram:8")[::2]).split() == ["one", "two"]


def test_a_webhook_wants_the_secret_and_delivers_each_update_once(talk: Talk) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}/"
    talk.configure(f'allow = ["7"]\nwebhook_url = "{url}"\nwebhook_secret = "s3cret"\nwebhook_port = {port}')
    with talk.running():
        number = talk.telegram.say("Hello")
        assert talk.answered(1) == ["echo of Hello"]
        talk.telegram.push({"message": talk.telegram.messages[7, number]})
        for body, secret, status in ((b"{}", "wrong", 403), (b"", "", 403)):
            with pytest.raises(HTTPError) as caught:
                urlopen(Request(url, body, {SECRET: secret}), timeout=5)
            assert caught.value.code == status
            caught.value.close()
        with urlopen(Request(url, b"no json", {SECRET: "s3cret"}), timeout=5) as skipped:
            assert skipped.status == 200
        talk.telegram.say("Bye")
        assert talk.answered(2) == ["echo of Hello", "echo of Bye"]


def test_a_webhook_that_cannot_store_an_update_gets_it_again(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    from bough import StorageError
    from bough.channels.inbox import Inbox

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    talk.configure(
        f'allow = ["7"]\nwebhook_url = "http://127.0.0.1:{port}/"\nwebhook_secret = "s3cret"\nwebhook_port = {port}'
    )
    put, failures = Inbox.put, iter([True])

    def fail_once(inbox: Inbox, event: object) -> bool:
        if next(failures, False):
            raise StorageError("The disk is away.")
        return put(inbox, event)  # type: ignore[arg-type]

    monkeypatch.setattr(Inbox, "put", fail_once)
    with talk.running():
        talk.telegram.say("Hello")
        assert talk.answered(1) == ["echo of Hello"]


def test_a_placeholder_whose_confirmation_was_lost_does_not_double_the_answer(talk: Talk) -> None:
    talk.telegram.faults.append(("sendMessage", "late"))
    with talk.running():
        talk.telegram.say("Hello")
        until(lambda: "echo of Hello" in talk.telegram.texts() and not talk.open())
    assert sorted(talk.telegram.texts()) == ["echo of Hello", "…"]  # Telegram cannot recognise a repetition


def test_a_long_wait_that_telegram_asks_for_ends_with_the_bot_and_the_answer_is_shown_later(talk: Talk) -> None:
    talk.telegram.faults += [("editMessageText", ApiError(429, "Too Many Requests", retry_after=238))] * 2
    with talk.running():
        talk.telegram.say("Hello")
        until(lambda: talk.store.find_session("telegram:7") and talk.dialog())
        began = time.monotonic()
    assert time.monotonic() - began < 15
    talk.telegram.faults.clear()
    with talk.running():
        assert talk.answered(1) == ["echo of Hello"]
    assert talk.dialog() == ["Hello", "echo of Hello"]


def test_messages_of_other_bots_and_of_unknown_kinds_are_passed_over(talk: Talk) -> None:
    talk.configure('allow = ["7", "-5", "9"]')
    with talk.running():
        other: dict[str, Any] = {"from": {"id": 9, "is_bot": True, "first_name": "Other"}}
        talk.telegram.say("@bough_bot hello", chat=-5, **other)
        talk.telegram.say(chat=7, dice={"emoji": "🎲", "value": 3})
        talk.telegram.push({"message": {"broken": True}})
        talk.telegram.say("Hello")
        assert talk.answered(1) == ["echo of Hello"]
    assert talk.telegram.sent(-5) == []


def test_characters_outside_the_basic_plane_count_twice_where_an_answer_is_split(talk: Talk) -> None:
    with talk.running():
        talk.telegram.say("SAY " + "🌳" * 4000)
        texts = talk.answered(3)
    assert "".join(texts) == "🌳" * 4000
    assert all(len(text.encode("utf-16-le")) // 2 <= 4096 for text in texts)


def test_an_edit_of_a_message_that_is_waiting_changes_the_question(talk: Talk) -> None:
    talk.model.pause = 0.2
    with talk.running():
        talk.telegram.say("one two three")
        until(lambda: talk.model.requests)
        number = talk.telegram.say("frist")
        talk.telegram.reword(number, "first")
        assert talk.answered(2)[1] == "echo of first"
    assert talk.dialog()[2:] == ["first", "echo of first"]


def test_an_edit_of_the_message_that_is_being_answered_is_a_sibling_with_its_own_answer(talk: Talk) -> None:
    talk.model.pause = 0.2
    with talk.running():
        number = talk.telegram.say("frist of all")
        until(lambda: talk.model.requests)
        talk.telegram.reword(number, "first of all")
        assert talk.answered(2) == ["echo of frist of all", "echo of first of all"]
    assert talk.dialog() == ["first of all", "echo of first of all"]
    assert len(talk.store.forest()) == 2


def test_a_reply_that_waits_keeps_the_message_that_it_replies_to(talk: Talk) -> None:
    with talk.running():
        talk.telegram.say("one")
        talk.answered(1)
        first = talk.telegram.sent()[0]["message_id"]
        talk.model.pause = 0.2
        talk.telegram.say("two")
        until(lambda: len(talk.model.requests) == 2)
        talk.telegram.say("plain")
        talk.telegram.say("below one", reply_to=first)
        talk.answered(5)
    assert talk.dialog() == ["one", "echo of one", "below one", "echo of below one"]


def test_a_reply_to_a_message_that_is_in_the_trash_quotes_it(talk: Talk) -> None:
    with talk.running():
        talk.telegram.say("one")
        talk.answered(1)
        first = talk.telegram.sent()[0]["message_id"]
        talk.telegram.say("/clear")
        talk.answered(2)
        talk.telegram.say("What was that?", reply_to=first)
        talk.answered(3)
    assert talk.dialog()[0] == "> echo of one\n\nWhat was that?"


def test_stop_before_the_first_word_keeps_the_question_alone(talk: Talk) -> None:
    talk.model.pause = 3.0
    with talk.running():
        talk.telegram.say("Hello")
        until(lambda: talk.model.requests)
        talk.telegram.say("/stop")
        texts = talk.answered(2)
        assert texts == ["Stopped.", "Stopped."]
        talk.model.pause = 0
        talk.telegram.say("Again")
        assert talk.answered(3)[2] == "echo of Again"
    assert talk.dialog()[0] == "Hello"


def test_an_answer_without_text_says_so(talk: Talk) -> None:
    with talk.running():
        talk.telegram.say("SAY ")
        (text,) = talk.answered(1)
    assert text == "(The answer has no text.)"


def test_two_processes_on_one_store_share_a_token_and_one_takes_over(
    telegram: FakeTelegram, model: EchoModel, tmp_path: Path, anywhere: dict[str, Any], somewhere: Path | str
) -> None:
    talk = Talk(telegram, model, tmp_path, anywhere)
    first = BotProcess(tmp_path, talk.config, str(somewhere))
    second = BotProcess(tmp_path, talk.config, str(somewhere))
    with first.running():
        first.wait_ready(1)
        with second.running():
            telegram.say("one")
            talk.answered(1)
            first.end(signal.SIGKILL)
            telegram.say("two")
            assert talk.answered(2) == ["echo of one", "echo of two"]
            assert second.end(signal.SIGTERM) == 0
    assert telegram.conflicts == 0
    talk.close()
