"""Nothing is missed when Discord's gateway is cut, asks for a new connection, forgets the session or dies."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest

from bough import ChannelError
from tests.channels.bot_process import BotProcess
from tests.channels.conftest import DiscordTalk, until
from tests.channels.fake_discord import CHANNEL


def test_a_connection_that_was_cut_is_resumed_with_what_was_missed(chat: DiscordTalk) -> None:
    with chat.running():
        chat.say("one")
        chat.answered(1)
        chat.discord.cut()
        chat.say("while away")
        assert chat.answered(2) == ["echo of one", "echo of while away"]
    assert chat.discord.gateway.identified == 1
    assert chat.discord.gateway.resumed >= 1


def test_a_request_to_reconnect_is_followed(chat: DiscordTalk) -> None:
    with chat.running():
        chat.discord.ask_to_reconnect()
        until(lambda: chat.discord.gateway.resumed)
        chat.say("one")
        assert chat.answered(1) == ["echo of one"]


def test_what_came_before_a_session_was_forgotten_is_read_in_its_order(chat: DiscordTalk) -> None:
    chat.configure(f'allow = ["7", "{CHANNEL}"]')
    with chat.running():
        chat.say("one")
        chat.answered(1)
        chat.discord.gateway.forgets = True
        chat.discord.cut()
        chat.say("two")
        chat.discord.say("<@42> in the channel")
        until(lambda: chat.discord.gateway.identified == 2)
        chat.say("three")
        texts = chat.answered(2)
        chat.answered(1, CHANNEL)
    said = " ".join(texts[1:]).split()
    assert [word for word in said if word in ("two", "three")] == ["two", "three"]
    assert [word for word in " ".join(chat.dialog()[::2]).split() if word] == ["one", "two", "three"]


def test_a_connection_that_is_dead_without_a_word_is_replaced(chat: DiscordTalk, monkeypatch: Any) -> None:
    monkeypatch.setattr("bough.channels.discord.client.HEARTBEAT_SECONDS", 1.0)
    chat.discord.gateway.heartbeat = 0.2
    with chat.running():
        chat.discord.gateway.acknowledges = False
        until(lambda: chat.discord.gateway.resumed)
        chat.discord.gateway.acknowledges = True
        chat.say("one")
        assert chat.answered(1) == ["echo of one"]


@pytest.mark.parametrize(("code", "says"), [(4004, "4004"), (4014, "Message Content intent")])
def test_a_bot_that_discord_refuses_says_why(chat: DiscordTalk, code: int, says: str) -> None:
    chat.discord.gateway.refusal = code
    with pytest.raises(ChannelError, match=says), chat.running():
        until(lambda: chat.discord.gateway.identified)


def test_a_token_that_discord_does_not_know_is_said(chat: DiscordTalk) -> None:
    chat.config.write_text(chat.config.read_text().replace("NDI.abc.def", "NDI.abc.wrong"))
    with pytest.raises(ChannelError, match="token") as caught, chat.running():
        pass
    assert "NDI" not in str(caught.value)


def test_what_was_asked_while_the_bot_was_down_is_answered_after_its_start(chat: DiscordTalk) -> None:
    chat.configure(f'allow = ["7", "{CHANNEL}"]')
    with chat.running():
        chat.say("one")
        chat.answered(1)
        chat.discord.say("<@42> first")
        chat.answered(1, CHANNEL)
    chat.say("two")
    chat.discord.say("<@42> second")
    chat.discord.add_channel("201", "kitchen")
    chat.discord.say("Lovely weather", "201")
    chat.discord.say("<@42> elsewhere", "201", sender="7")
    thread = chat.discord.thread(chat.discord.sent()[0]["id"])
    chat.discord.say("<@42> in a new thread", thread)
    with chat.running():
        assert chat.answered(2) == ["echo of one", "echo of two"]
        assert chat.answered(2, CHANNEL)[1] == "echo of Ann: second"
        assert chat.answered(1, "201") == ["echo of Ann: elsewhere"]
        assert chat.answered(1, thread) == ["echo of Ann: in a new thread"]
    assert chat.dialog(f"discord:thread:{thread}")[::2] == ["Ann: first", "Ann: in a new thread"]


def test_a_first_direct_message_while_the_bot_was_down_is_seen_with_the_next_one(chat: DiscordTalk) -> None:
    chat.configure('allow = ["7", "8"]')
    with chat.running():
        chat.say("one")
        chat.answered(1)
    there = chat.discord.direct("8")
    chat.discord.say("Is anybody there?", there, sender="8")
    with chat.running():
        chat.discord.say("Hello?", there, sender="8")
        assert chat.answered(1, there) == ["echo of Hello?"]  # Discord does not list who has written to a bot


def test_nothing_that_was_said_before_the_first_start_is_answered(chat: DiscordTalk) -> None:
    chat.configure(f'allow = ["7", "{CHANNEL}"]')
    chat.discord.say("<@42> long ago")
    with chat.running():
        chat.discord.say("<@42> now")
        assert chat.answered(1, CHANNEL) == ["echo of Ann: now"]


def test_a_question_that_was_cut_off_is_finished_in_the_same_message(chat: DiscordTalk, tmp_path: Path) -> None:
    chat.model.pause = 0.2
    words = " ".join(f"word{number}" for number in range(12))
    bot = BotProcess(tmp_path, chat.config, str(tmp_path / "s.db"))
    with bot.running():
        until(lambda: b"answers on discord" in (tmp_path / "errors").read_bytes())
        chat.say(f"SAY {words}")
        until(lambda: any("word1" in text for text in chat.discord.texts("97")))
        chat.say("second question")
        bot.end(signal.SIGKILL)
        chat.model.pause = 0
        bot.start()
        assert chat.answered(2) == [words, "echo of second question"]
        assert bot.end(signal.SIGTERM) == 0
