"""A bot that is killed neither loses a question nor answers it twice."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

from tests.channels.bot_process import BotProcess
from tests.channels.conftest import Talk, until


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
