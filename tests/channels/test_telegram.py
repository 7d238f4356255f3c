"""People talk to the bot on Telegram."""

from __future__ import annotations

import time

from tests.channels.conftest import Talk, until
from tests.channels.fake_telegram import ApiError

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 8


def test_a_question_is_answered_below_it_and_stored(talk: Talk) -> None:
    with talk.running():
        number = talk.telegram.say("Hello")
        assert talk.answered(1) == ["echo of Hello"]
    (sent,) = talk.telegram.sent()
    assert sent["reply_to_message"]["message_id"] == number
    assert talk.dialog() == ["Hello", "echo of Hello"]
    question, answer = talk.path()
    assert talk.store.find_external("telegram", f"7:{number}") == question.id
    assert talk.store.find_external("telegram", f"7:{sent['message_id']}") == answer.id


def test_a_stranger_is_not_answered_and_nothing_of_them_is_stored(talk: Talk) -> None:
    talk.configure("")
    with talk.running():
        talk.telegram.say("Hello")
        talk.telegram.say("/help")
        until(lambda: len(talk.telegram.called("getUpdates")) >= 2)
    assert talk.telegram.sent() == []
    assert talk.store.sessions() == []
    assert talk.store.db.rows("open_channel_events", "telegram") == []


def test_a_code_lets_a_stranger_in(talk: Talk) -> None:
    from bough.channels.members import Members

    talk.configure("")
    code = Members(talk.store, "telegram").make_code()
    with talk.running():
        talk.telegram.say(f"/start {code}")
        until(talk.telegram.sent)
        talk.telegram.say("Hello")
        assert talk.answered(2)[1] == "echo of Hello"
        talk.telegram.say(f"/start {code}", chat=8, sender=8)
        talk.telegram.say("Hello", chat=8, sender=8)
        talk.telegram.say("again")
        talk.answered(3)
    assert talk.telegram.sent(8) == []


def test_a_group_is_answered_where_the_bot_is_addressed(talk: Talk) -> None:
    talk.configure('allow = ["-5"]')
    with talk.running():
        talk.telegram.say("Lovely weather", chat=-5)
        talk.telegram.say("@bough_bot how are you?", chat=-5)
        assert talk.answered(1, -5) == ["echo of Ann: how are you?"]
        answer = talk.telegram.sent(-5)[0]["message_id"]
        talk.telegram.say("And you?", chat=-5, reply_to=answer, sender=9, name="Bob")
        assert talk.answered(2, -5)[1] == "echo of Bob: And you?"
        talk.telegram.say("/help@other_bot", chat=-5)
    assert talk.dialog("telegram:-5")[::2] == ["Ann: how are you?", "Bob: And you?"]


def test_a_topic_is_a_conversation_of_its_own(talk: Talk) -> None:
    talk.configure('allow = ["-5"]')
    with talk.running():
        talk.telegram.say("@bough_bot one", chat=-5, topic=31)
        talk.telegram.say("@bough_bot two", chat=-5)
        talk.answered(2, -5)
    assert talk.dialog("telegram:-5:31")[0] == "Ann: one"
    assert talk.dialog("telegram:-5")[0] == "Ann: two"
    assert {one.get("message_thread_id") for one in talk.telegram.sent(-5)} == {31, None}


def test_a_reply_to_an_older_answer_branches_there_and_the_chat_goes_on_from_it(talk: Talk) -> None:
    with talk.running():
        talk.telegram.say("one")
        talk.answered(1)
        first = talk.telegram.sent()[0]["message_id"]
        talk.telegram.say("two")
        talk.answered(2)
        left = talk.path()[-1].id
        talk.telegram.say("three", reply_to=first)
        texts = talk.answered(4)
        assert texts[2] == f"↩ Continuing from there. The former branch is kept: /branches {left}"
        assert talk.dialog() == ["one", "echo of one", "three", "echo of three"]
        talk.telegram.say("four")
        talk.answered(5)
        assert talk.dialog()[-2:] == ["four", "echo of four"]
        talk.telegram.say(f"/branches {left}")
        talk.answered(6)
        assert talk.dialog() == ["one", "echo of one", "two", "echo of two"]


def test_a_reply_to_a_message_that_is_not_known_quotes_it(talk: Talk) -> None:
    with talk.running():
        before = talk.telegram.say("said before the bot came", is_past=True)
        talk.telegram.say("What about this?", reply_to=before)
        talk.answered(1)
    assert "> said before the bot came\n\nWhat about this?" in talk.dialog()


def test_an_edit_is_a_sibling_of_the_question(talk: Talk) -> None:
    with talk.running():
        number = talk.telegram.say("frist")
        talk.answered(1)
        talk.telegram.reword(number, "first")
        assert talk.answered(2)[1] == "echo of first"
        assert talk.dialog() == ["first", "echo of first"]
        answer = talk.telegram.sent()[1]["message_id"]
        talk.telegram.say("second", reply_to=answer)
        talk.answered(3)
    assert talk.dialog() == ["first", "echo of first", "second", "echo of second"]
    assert len(talk.store.forest()) == 2


def test_an_edit_in_the_middle_branches_below_the_message_before_it(talk: Talk) -> None:
    with talk.running():
        talk.telegram.say("one")
        talk.answered(1)
        number = talk.telegram.say("tow")
        talk.answered(2)
        talk.telegram.say("three")
        talk.answered(3)
        talk.telegram.reword(number, "two")
        talk.answered(4)
        assert talk.dialog() == ["one", "echo of one", "two", "echo of two"]
        talk.telegram.reword(number, "TWO")
        talk.answered(5)
    assert talk.dialog() == ["one", "echo of one", "TWO", "echo of TWO"]
    (tree,) = talk.store.forest()
    assert [below.node.message.text for below in tree.children[0].children] == ["tow", "two", "TWO"]


def test_messages_that_come_during_an_answer_are_answered_together(talk: Talk) -> None:
    talk.model.pause = 0.15
    with talk.running():
        talk.telegram.say("one")
        until(lambda: talk.model.requests)
        for word in ("two", "three", "four"):
            talk.telegram.say(word)
        talk.answered(2)
    assert [node.message.text for node in talk.path()] == [
        "one",
        "echo of one",
        "two\nthree\nfour",
        "echo of two three four",
    ]


def test_the_album_of_two_pictures_is_one_question(talk: Talk) -> None:
    with talk.running():
        talk.telegram.say(photo=PNG, caption="What is it?", media_group_id="A")
        talk.telegram.say(photo=PNG, media_group_id="A")
        assert talk.answered(1) == ["echo of [image_url] What is it? [image_url]"]
    assert [block.tag for block in talk.path()[0].message.blocks] == ["media", "text", "media"]


def test_a_text_file_and_its_caption_are_the_question(talk: Talk) -> None:
    with talk.running():
        talk.telegram.say(document=b"oak\nbeech\n", caption="Which trees?")
        talk.answered(1)
    assert talk.dialog()[0] == '<file name="notes.txt">\noak\nbeech\n\n</file>\nWhich trees?'


def test_a_file_that_cannot_be_had_is_named_in_the_question(talk: Talk) -> None:
    with talk.running():
        talk.telegram.say(document=b"x", size=30 << 20, caption="Read this")
        talk.answered(1)
    assert "'notes.txt' could not be read" in talk.dialog()[0]


def test_stop_ends_the_answer_at_once_and_keeps_what_had_come(talk: Talk) -> None:
    talk.model.pause = 0.2
    with talk.running():
        talk.telegram.say("SAY one two three four five six seven eight nine ten eleven twelve")
        until(lambda: any("one two" in text for text in talk.telegram.texts()))
        talk.telegram.say("never asked")
        began = time.monotonic()
        talk.telegram.say("/stop")
        texts = talk.answered(2)
        assert time.monotonic() - began < 5
    assert texts[0].endswith("Stopped.")
    assert "twelve" not in texts[0]
    assert texts[1] == "Stopped."
    (turn,) = talk.store.turns("telegram:7")
    assert turn.status == "stopped"
    assert len(talk.dialog()) == 2


def test_stop_without_an_answer_says_so(talk: Talk) -> None:
    with talk.running():
        talk.telegram.say("/stop")
        assert talk.answered(1) == ["Nothing is being answered."]


def test_an_error_of_the_model_is_said_and_retry_asks_again(talk: Talk) -> None:
    talk.model.failing = True
    with talk.running():
        talk.telegram.say("Hello")
        (text,) = talk.answered(1)
        assert "on holiday" in text
        assert talk.dialog() == []
        talk.model.failing = False
        talk.telegram.say("/retry")
        assert talk.answered(2)[1] == "echo of Hello"
        assert talk.dialog() == ["Hello", "echo of Hello"]
        talk.telegram.say("/retry")
        talk.answered(3)
    assert [len(below.children) for below in talk.store.forest()] == [2]


def test_a_long_answer_is_split_without_breaking_its_fence(talk: Talk) -> None:
    code = "\n".join(f"line {number} of the program" for number in range(400))
    with talk.running():
        talk.telegram.say(f"SAY ```python\n{code}\n```\nThat is all.")
        texts = talk.answered(3)
    assert "".join(texts).replace("\n", "").replace("That is all.", "") == code.replace("\n", "")
    answer = talk.path()[-1].id
    for sent in talk.telegram.sent():
        assert talk.store.find_external("telegram", f"7:{sent['message_id']}") == answer


def test_flood_control_delays_the_answer_and_loses_nothing(talk: Talk) -> None:
    talk.telegram.flood = (0.3, 0.3)
    talk.model.pause = 0.02
    with talk.running():
        talk.telegram.say("SAY " + " ".join(str(number) for number in range(40)))
        assert talk.answered(1) == [" ".join(str(number) for number in range(40))]


def test_a_text_that_telegram_cannot_parse_is_sent_plain(talk: Talk) -> None:
    with talk.running():
        talk.telegram.faults.append(("editMessageText", ApiError(400, "Bad Request: can't parse entities: x")))
        talk.telegram.say("SAY **bold** word")
        talk.answered(1)
    plain = [call["text"] for call in talk.telegram.called("editMessageText") if "parse_mode" not in call]
    assert plain
    assert plain[0].startswith("**bold**")


def test_a_message_that_was_deleted_under_the_answer_is_sent_again(talk: Talk) -> None:
    talk.model.pause = 0.1
    with talk.running():
        talk.telegram.say("SAY one two three four five six seven eight nine ten eleven twelve")
        until(talk.telegram.sent)
        with talk.telegram._changed:
            del talk.telegram.messages[7, talk.telegram.sent()[0]["message_id"]]
        texts = talk.answered(1)
    assert texts == ["one two three four five six seven eight nine ten eleven twelve"]


def test_somebody_who_has_blocked_the_bot_is_given_up(talk: Talk) -> None:
    with talk.running():
        talk.telegram.faults.append(("sendMessage", ApiError(403, "Forbidden: bot was blocked by the user")))
        talk.telegram.say("Hello")
        until(lambda: talk.telegram.called("sendMessage") and not talk.open())
        talk.telegram.say("Hello again")
        assert talk.answered(1) == ["echo of Hello again"]


def test_an_update_that_is_delivered_twice_is_answered_once(talk: Talk) -> None:
    with talk.running():
        talk.telegram.say("Hello")
        talk.answered(1)
        update = {"message": talk.telegram.messages[7, 1]}
        talk.telegram.push(update)
        talk.telegram.say("Bye")
        assert talk.answered(2) == ["echo of Hello", "echo of Bye"]


def test_a_limit_of_the_day_is_said(talk: Talk) -> None:
    talk.configure('allow = ["7"]\ndaily_tokens = 15')
    with talk.running():
        talk.telegram.say("Hello")
        talk.answered(1)
        talk.telegram.say("Again")
        assert "15 tokens is used up" in talk.answered(2)[1]
    assert talk.dialog() == ["Hello", "echo of Hello"]


def test_what_was_said_in_a_terminal_is_shown_before_the_next_answer(talk: Talk) -> None:
    with talk.running():
        talk.telegram.say("Hello")
        talk.answered(1)
        talk.store.session("telegram:7").save_turn(["From the terminal", "Noted."])
        talk.telegram.say("And now?")
        texts = talk.answered(3)
        assert texts[1].splitlines()[0] == "Meanwhile, 2 messages were added elsewhere:"
        assert "From the terminal" in texts[1]
        assert texts[2] == "echo of And now?"
    assert len(talk.dialog()) == 6


def test_a_group_that_becomes_a_supergroup_keeps_its_conversation(talk: Talk) -> None:
    talk.configure('allow = ["-5", "-100", "7"]')
    with talk.running():
        talk.telegram.say("@bough_bot one", chat=-5)
        talk.answered(1, -5)
        talk.telegram.say(chat=-5, migrate_to_chat_id=-100)
        until(lambda: talk.store.find_session("telegram:-100"))
        talk.telegram.say("@bough_bot two", chat=-100)
        talk.answered(1, -100)
    assert talk.dialog("telegram:-100")[0::2] == ["Ann: one", "Ann: two"]


def test_mentions_in_an_answer_are_defused(talk: Talk) -> None:
    with talk.running():
        talk.telegram.say("SAY ask @carol")
        assert talk.answered(1) == ["ask @\u2060carol"]
