"""A bot that is killed neither loses a question nor answers it twice."""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bough.channels.delivery import PLACEHOLDER
from bough.channels.receiver import Receiver
from tests.channels.bot_process import BotProcess
from tests.channels.conftest import Talk, until
from tests.channels.fake_telegram import FakeTelegram


def test_a_question_that_was_cut_off_is_finished_in_the_same_message(talk: Talk, tmp_path: Path) -> None:
    talk.model.pause = 0.2
    words = " ".join(f"word{number}" for number in range(12))
    bot = BotProcess(tmp_path, talk.config, str(tmp_path / "s.db"))
    with bot.running():
        talk.telegram.say(f"SAY {words}")
        until(lambda: any("word1" in text for text in talk.telegram.texts()))
        talk.telegram.say("second question")
        until(lambda: len(talk.open()) == 2)
        bot.end(signal.SIGKILL)
        talk.model.pause = 0
        bot.start()
        assert talk.answered(2) == [words, "echo of second question"]
        assert bot.end(signal.SIGTERM) == 0
    assert [turn.status for turn in talk.store.turns("telegram:7")] == ["complete", "complete"]
    assert talk.dialog() == [f"SAY {words}", words, "second question", "echo of second question"]


def test_a_bot_that_is_stopped_keeps_what_it_was_answering_for_the_next_start(talk: Talk) -> None:
    talk.model.pause = 0.2
    with talk.running():
        talk.telegram.say("SAY one two three four five six seven eight nine ten")
        until(lambda: any("one two" in text for text in talk.telegram.texts()))
    assert len(talk.open()) == 1
    assert talk.dialog() == []
    talk.model.pause = 0
    with talk.running():
        assert talk.answered(1) == ["one two three four five six seven eight nine ten"]


def test_a_stop_that_was_not_carried_out_before_a_crash_is_carried_out_after_it(talk: Talk, tmp_path: Path) -> None:
    talk.model.pause = 0.5
    bot = BotProcess(tmp_path, talk.config, str(tmp_path / "s.db"))
    with bot.running():
        talk.telegram.say("SAY one two three four five six seven eight nine ten")
        until(lambda: any("one two" in text for text in talk.telegram.texts()))
        bot.end(signal.SIGKILL)
        talk.telegram.say("/stop")
        bot.start()
        texts = talk.answered(2)
    assert "ten" not in texts[0]
    assert texts[0].endswith("Stopped.")
    assert len(talk.model.requests) <= 2


def test_an_answer_that_became_shorter_leaves_no_part_of_the_longer_one(talk: Talk, monkeypatch: Any) -> None:
    with talk.running():
        talk.telegram.say("SAY short")
        talk.answered(1)
    # The crash came while a longer answer was shown: two parts, and the event is not done.
    (row,) = talk.store.db.rows("channel_parts", "telegram", "m:7:1")
    stale = talk.telegram.answer("sendmessage", {"chat_id": 7, "text": "stale"})["message_id"]
    talk.store.write(lambda _: talk.store.db.run("put_channel_part", "telegram", "m:7:1", 1, "7", str(stale)))
    talk.store.write(lambda _: talk.store.db.run("set_channel_event", 1, "working", None))
    assert talk.telegram.texts() == ["short", "stale"]
    with talk.running():
        until(lambda: not talk.open())
    assert talk.telegram.texts() == ["short"]
    assert talk.store.db.rows("channel_parts", "telegram", "m:7:1") == [row]


def storm(talk: Talk, directory: Path, seed: int, questions: int, kills: int, chats: int) -> None:
    """Ask in several chats while the bot is killed at random, then compare what was asked and answered."""
    chance, numbers = random.Random(seed), list(range(100, 100 + chats))
    talk.configure(f"allow = {[str(chat) for chat in numbers]}")
    talk.model.pause = 0.03
    bot = BotProcess(directory, talk.config, str(directory / "s.db"))
    asked: list[tuple[int, str]] = []
    with bot.running():
        for kill in range(kills):
            for _ in range(questions // kills):
                chat = chance.choice(numbers)
                asked.append((chat, f"q{len(asked)} " + "x " * chance.randrange(8)))
                talk.telegram.say(asked[-1][1], chat=chat, sender=chat)
                time.sleep(chance.random() * 0.2)
            time.sleep(chance.random() * 1.2)
            if kill < kills - 1:
                bot.end(signal.SIGKILL)
                bot.start()
        until(lambda: not talk.open() and not unanswered(talk.telegram, asked), "Questions are left.")
    check(talk, asked, kills)


def unanswered(telegram: FakeTelegram, asked: list[tuple[int, str]]) -> list[str]:
    """The questions that no message of the bot repeats."""
    found = {chat: " ".join(telegram.texts(chat)).split() for chat in {chat for chat, _ in asked}}
    return [text for chat, text in asked if text.split()[0] not in found[chat]]


def check(talk: Talk, asked: list[tuple[int, str]], kills: int) -> None:
    """Every question is answered once, in its own chat, below itself in the tree."""
    assert unanswered(talk.telegram, asked) == []
    orphans = 0
    for chat in {chat for chat, _ in asked}:
        texts = talk.telegram.texts(chat)
        orphans += texts.count(PLACEHOLDER)
        said = Counter(word for text in texts for word in text.split() if word[0] == "q")
        assert {word: count for word, count in said.items() if count > 1} == {}, texts
        path = talk.path(f"telegram:{chat}")
        assert [node.role for node in path] == ["user", "assistant"] * (len(path) // 2)
        for question, answer in zip(path[::2], path[1::2], strict=True):
            assert answer.message.text.split() == ["echo", "of", *question.message.text.split()]
        in_dialog = [word for node in path[::2] for word in node.message.text.split() if word[0] == "q"]
        assert in_dialog == [text.split()[0] for where, text in asked if where == chat]
    assert orphans <= max(1, kills // 100)


def test_a_short_storm_of_kills_loses_nothing_and_answers_nothing_twice(talk: Talk, tmp_path: Path) -> None:
    storm(talk, tmp_path, seed=5, questions=12, kills=4, chats=3)


@pytest.mark.soak
@pytest.mark.parametrize("seed", [5, 11, 21, 34, 55])
def test_storms_of_kills_lose_nothing_and_answer_nothing_twice(talk: Talk, tmp_path: Path, seed: int) -> None:
    storm(talk, tmp_path, seed, questions=200, kills=100, chats=8)


def test_the_checker_of_storms_notices_a_bot_without_an_inbox(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    # Updates are confirmed, and dropped: what a crash between the two does.
    monkeypatch.setattr(Receiver, "accept", lambda *_: False)
    with talk.running():
        talk.telegram.say("q0")
        until(lambda: len(talk.telegram.called("getUpdates")) >= 2)
    with pytest.raises(AssertionError):
        check(talk, [(7, "q0")], 1)
