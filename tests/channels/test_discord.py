"""People talk to the bot on Discord."""

from __future__ import annotations

from tests.channels.conftest import DiscordTalk, until
from tests.channels.fake_discord import CHANNEL, ApiError, limited

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 8


def test_a_direct_message_is_answered_below_it_and_stored(chat: DiscordTalk) -> None:
    with chat.running():
        number = chat.say("Hello")
        assert chat.answered(1) == ["echo of Hello"]
    (sent,) = chat.discord.sent("97")
    assert sent["message_reference"]["message_id"] == number
    assert sent["allowed_mentions"]["parse"] == []
    assert chat.dialog() == ["Hello", "echo of Hello"]
    question, answer = chat.path("discord:dm:7")
    assert chat.store.find_external("discord", f"97:{number}") == question.id
    assert chat.store.find_external("discord", f"97:{sent['id']}") == answer.id


def test_every_message_that_is_made_has_a_nonce_that_discord_enforces(chat: DiscordTalk) -> None:
    with chat.running():
        chat.say("Hello")
        chat.answered(1)
        chat.say("/export")
        chat.answered(2)
    made = chat.discord.called("POST", "/messages")
    assert len(made) == 2
    assert all(body["enforce_nonce"] and 0 < len(body["nonce"]) <= 25 for body in made)


def test_a_channel_is_answered_where_the_bot_is_addressed(chat: DiscordTalk) -> None:
    chat.configure(f'allow = ["{CHANNEL}"]')
    with chat.running():
        chat.discord.say("Lovely weather")
        chat.discord.say("<@42> how are you?")
        assert chat.answered(1, CHANNEL) == ["echo of Ann: how are you?"]
        answer = chat.discord.sent()[0]["id"]
        chat.discord.say("And you?", sender="9", name="Bob", reply_to=answer)
        assert chat.answered(2, CHANNEL)[1] == "echo of Bob: And you?"
        chat.discord.say("<@&43> and the role?", mention_roles=["43"])
        chat.answered(3, CHANNEL)
    assert chat.dialog(f"discord:channel:{CHANNEL}")[::2] == [
        "Ann: how are you?",
        "Bob: And you?",
        "Ann: <@&43> and the role?",
    ]


def test_bots_webhooks_and_system_messages_are_not_answered(chat: DiscordTalk) -> None:
    chat.configure(f'allow = ["7", "{CHANNEL}"]')
    with chat.running():
        chat.discord.say("<@42> I am a webhook", webhook_id="77")
        chat.discord.say("<@42> joined", type=7)
        chat.discord.say("<@42> I am a bot", author={**chat.discord.bot, "id": "43"})
        chat.discord.say("<@42> hello")
        assert chat.answered(1, CHANNEL) == ["echo of Ann: hello"]


def test_a_thread_begins_at_the_message_that_it_was_made_at(chat: DiscordTalk) -> None:
    chat.configure(f'allow = ["{CHANNEL}"]')
    with chat.running():
        chat.discord.say("<@42> one")
        chat.answered(1, CHANNEL)
        thread = chat.discord.thread(chat.discord.sent()[0]["id"])
        chat.discord.say("<@42> two")
        chat.answered(2, CHANNEL)
        chat.discord.say("<@42> in the thread", thread)
        chat.answered(1, thread)
    assert chat.dialog(f"discord:thread:{thread}")[::2] == ["Ann: one", "Ann: in the thread"]
    assert chat.dialog(f"discord:channel:{CHANNEL}")[::2] == ["Ann: one", "Ann: two"]


def test_a_thread_at_a_message_that_is_not_known_begins_anew(chat: DiscordTalk) -> None:
    chat.configure(f'allow = ["{CHANNEL}"]')
    with chat.running():
        thread = chat.discord.thread(chat.discord.say("Lovely weather"))
        chat.discord.say("<@42> hello", thread)
        chat.answered(1, thread)
    assert len(chat.dialog(f"discord:thread:{thread}")) == 2


def test_a_reply_to_an_older_answer_branches_there(chat: DiscordTalk) -> None:
    with chat.running():
        chat.say("one")
        chat.answered(1)
        first = chat.discord.sent("97")[0]["id"]
        chat.say("two")
        chat.answered(2)
        chat.say("three", reply_to=first)
        assert "↩ Continuing from there" in chat.answered(4)[2]
    assert chat.dialog() == ["one", "echo of one", "three", "echo of three"]


def test_an_edit_is_a_sibling_and_a_preview_is_no_edit(chat: DiscordTalk) -> None:
    with chat.running():
        number = chat.say("frist")
        chat.answered(1)
        chat.discord.preview(number)
        chat.discord.reword(number, "first")
        assert chat.answered(2)[1] == "echo of first"
        chat.discord.preview(number)
        chat.say("second")
        chat.answered(3)
    assert chat.dialog() == ["first", "echo of first", "second", "echo of second"]
    assert len(chat.store.forest()) == 2


def test_a_message_that_was_deleted_is_marked_and_a_reaction_is_a_label(chat: DiscordTalk) -> None:
    with chat.running():
        number = chat.say("Hello")
        chat.answered(1)
        chat.discord.react(chat.discord.sent("97")[0]["id"], "👍")
        chat.discord.remove(number)
        until(lambda: [node.label for node in chat.path("discord:dm:7")] == ["deleted", "👍"])
    assert chat.dialog() == ["Hello", "echo of Hello"]


def test_a_slash_command_is_confirmed_and_answered(chat: DiscordTalk) -> None:
    with chat.running():
        assert {"new", "stop", "branches"} <= {command["name"] for command in chat.discord.commands}
        chat.say("Hello")
        chat.answered(1)
        number = chat.discord.slash("history", "1", channel="97")
        assert "echo of Hello" in chat.answered(2)[1]
    assert chat.discord.confirmed[number]["data"]["content"] == "/history 1"


def test_a_slash_command_of_a_stranger_is_neither_confirmed_nor_answered(chat: DiscordTalk) -> None:
    with chat.running():
        number = chat.discord.slash("history", sender="8")
        chat.say("Hello")
        chat.answered(1)
    assert number not in chat.discord.confirmed
    assert chat.discord.sent() == []


def test_the_branches_are_buttons(chat: DiscordTalk) -> None:
    with chat.running():
        chat.say("one")
        chat.answered(1)
        first = chat.discord.sent("97")[0]["id"]
        chat.say("two")
        chat.answered(2)
        chat.say("three", reply_to=first)
        chat.answered(4)
        chat.say("/branches")
        chat.answered(5)
        menu = chat.discord.sent("97")[4]
        number = chat.discord.press(menu["id"], "two")
        chat.answered(6)
    assert chat.discord.confirmed[number]["type"] == 6
    assert chat.dialog() == ["one", "echo of one", "two", "echo of two"]


def test_a_picture_and_a_text_file_are_part_of_the_question(chat: DiscordTalk) -> None:
    with chat.running():
        chat.say("What is it?", files={"a.png": PNG, "notes.txt": b"oak\n"})
        assert "image_url" in chat.answered(1)[0]
    assert [block.tag for block in chat.path("discord:dm:7")[0].message.blocks] == ["media", "text", "text"]


def test_a_long_answer_is_several_messages_and_tables_are_columns(chat: DiscordTalk) -> None:
    rows = "\n".join(f"| tree{number} | {number} |" for number in range(40))
    with chat.running():
        chat.say(f"SAY | name | height |\n|---|---|\n{rows}\n\n" + "word " * 600)
        texts = chat.answered(2)
    assert texts[0].startswith("```\nname")
    assert all(len(text) <= 2000 for text in texts)


def test_an_answer_that_was_lost_is_not_sent_twice(chat: DiscordTalk) -> None:
    chat.discord.faults.append(("POST", "/messages", "late"))
    with chat.running():
        chat.say("Hello")
        assert chat.answered(1) == ["echo of Hello"]
    assert len(chat.discord.called("POST", "/messages")) == 2


def test_limits_of_discord_delay_the_answer_and_lose_nothing(chat: DiscordTalk) -> None:
    chat.discord.bucket = (1, 0.4)
    chat.discord.faults.append(("POST", "/messages", limited(0.3)))
    chat.model.pause = 0.05
    with chat.running():
        chat.say("SAY " + " ".join(str(number) for number in range(30)))
        assert chat.answered(1) == [" ".join(str(number) for number in range(30))]


def test_a_message_that_was_deleted_under_the_answer_is_sent_again(chat: DiscordTalk) -> None:
    chat.model.pause = 0.1
    with chat.running():
        chat.say("SAY one two three four five six seven eight nine ten eleven twelve")
        until(lambda: chat.discord.sent("97"))
        chat.discord.messages.pop(chat.discord.sent("97")[0]["id"])
        assert chat.answered(1) == ["one two three four five six seven eight nine ten eleven twelve"]


def test_an_answer_in_a_thread_that_was_archived_opens_it_again(chat: DiscordTalk) -> None:
    chat.configure(f'allow = ["{CHANNEL}"]')
    chat.model.pause = 0.1
    with chat.running():
        thread = chat.discord.thread(chat.discord.say("Lovely weather"))
        chat.discord.say("<@42> SAY one two three four five six seven eight", thread)
        until(lambda: chat.discord.sent(thread))
        chat.discord.channels[thread]["thread_metadata"]["archived"] = True
        assert chat.answered(1, thread) == ["echo of Ann: SAY one two three four five six seven eight"]


def test_somebody_who_does_not_let_the_bot_write_is_given_up(chat: DiscordTalk) -> None:
    chat.discord.faults.append(("POST", "/messages", ApiError(403, 50007, "Cannot send messages to this user")))
    with chat.running():
        chat.say("Hello")
        until(lambda: chat.discord.called("POST", "/messages") and not chat.open())
        chat.say("Hello again")
        assert chat.answered(1) == ["echo of Hello again"]
