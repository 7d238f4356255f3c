"""The commands of a chat."""

from __future__ import annotations

from typing import Any

from tests.channels.conftest import Talk


def ask(talk: Talk, text: str) -> str:
    """What the bot says to a message."""
    count = len(talk.telegram.sent())
    talk.telegram.say(text)
    return talk.answered(count + 1)[-1]


def buttons(talk: Talk) -> list[tuple[str, str]]:
    """The buttons of the newest message: their labels, and the commands that they give."""
    markup: dict[str, Any] = talk.telegram.sent()[-1].get("reply_markup", {})
    return [(one["text"], one["callback_data"]) for row in markup.get("inline_keyboard", []) for one in row]


def press(talk: Talk, label: str) -> str:
    """Press the button with a label below the newest message; what the bot says."""
    count, number = len(talk.telegram.sent()), talk.telegram.sent()[-1]["message_id"]
    (command,) = (command for text, command in buttons(talk) if label in text)
    talk.telegram.press(number, command)
    return talk.answered(count + 1)[-1]


def test_help_lists_the_commands_that_telegram_was_told(talk: Talk) -> None:
    with talk.running():
        text = ask(talk, "/help")
    (told,) = talk.telegram.called("setMyCommands")
    names = [one["command"] for one in told["commands"]]
    assert names[:3] == ["new", "clear", "history"]
    assert all(f"/{name}: " in text for name in names)


def test_a_command_that_does_not_exist_is_said_with_the_nearest_one(talk: Talk) -> None:
    with talk.running():
        assert "Did you mean /history?" in ask(talk, "/histroy")


def test_new_keeps_the_former_conversation_under_a_name(talk: Talk) -> None:
    with talk.running():
        ask(talk, "one")
        assert "kept as" in ask(talk, "/new")
        assert ask(talk, "/new") == "This one is new already."
        ask(talk, "two")
    assert talk.dialog() == ["two", "echo of two"]
    assert len(talk.store.sessions()) == 2


def test_clear_empties_the_conversation_into_the_trash(talk: Talk) -> None:
    with talk.running():
        ask(talk, "one")
        assert "in the trash" in ask(talk, "/clear")
    assert talk.dialog() == []
    assert talk.store.trash()


def test_history_shows_the_last_messages(talk: Talk) -> None:
    with talk.running():
        assert "empty" in ask(talk, "/history")
        ask(talk, "one")
        ask(talk, "two")
        text = ask(talk, "/history 2")
        assert "two" in text
        assert "one" not in text
        assert "not a number" in ask(talk, "/history many")


def test_fork_makes_a_session_that_a_terminal_continues(talk: Talk) -> None:
    with talk.running():
        ask(talk, "one")
        text = ask(talk, "/fork")
        key = text.split("--session ")[1].strip("`")
        ask(talk, "two")
    assert talk.dialog(key) == ["one", "echo of one"]
    assert len(talk.dialog()) == 4


def test_branches_are_buttons_that_go_there(talk: Talk) -> None:
    with talk.running():
        assert "one branch" in ask(talk, "/branches")
        ask(talk, "one")
        first = talk.telegram.sent()[1]["message_id"]
        ask(talk, "two")
        talk.telegram.say("three", reply_to=first)
        talk.answered(5)
        assert "2 branches" in ask(talk, "/branches")
        assert any(label.startswith("● ") and "three" in label for label, _ in buttons(talk))
        assert "Here now" in press(talk, "two")
    assert talk.dialog() == ["one", "echo of one", "two", "echo of two"]


def test_model_shows_the_models_as_buttons_and_stores_the_chosen_one(talk: Talk) -> None:
    talk.configure('allow = ["7"]\nmodels = ["echo:echo", "echo:other"]')
    with talk.running():
        ask(talk, "one")
        assert "echo:echo" in ask(talk, "/model")
        assert "echo:other" in press(talk, "echo:other")
        ask(talk, "two")
        assert "⚠" in ask(talk, "/model nonsense:model")
    assert talk.model.requests[-1]["model"] == "other"
    assert talk.store.session("telegram:7").info.model == "echo:other"


def test_system_shows_sets_and_removes_the_prompt(talk: Talk) -> None:
    with talk.running():
        ask(talk, "one")
        assert ask(talk, "/system") == "There is no system prompt."
        assert "Be brief." in ask(talk, "/system Be brief.")
        ask(talk, "two")
        assert talk.model.requests[-1]["messages"][0]["content"] == "Be brief."
        assert ask(talk, "/system -") == "There is no system prompt."


def test_usage_counts_the_conversation_and_the_day(talk: Talk) -> None:
    with talk.running():
        ask(talk, "one")
        text = ask(talk, "/usage")
    assert "10 tokens in, 5 out" in text
    assert "15 tokens" in text


def test_compact_summarizes_and_keeps_the_history(talk: Talk) -> None:
    talk.configure(rest="[conversation]\nkeep_turns = 1")
    with talk.running():
        assert "nothing to summarize" in ask(talk, "/compact")
        for word in ("one", "two", "three"):
            ask(talk, word)
        assert "Summarized" in ask(talk, "/compact")
        assert "one" in ask(talk, "/history 50")


def test_search_finds_words_of_this_conversation_and_goes_there(talk: Talk) -> None:
    with talk.running():
        ask(talk, "about oaks")
        ask(talk, "about elms")
        assert "needs words" in ask(talk, "/search")
        assert "Nothing was found" in ask(talk, "/search beeches")
        assert "oaks" in ask(talk, "/search oaks")
        goal = buttons(talk)[-1][0]
        press(talk, goal)
    assert len(talk.dialog()) <= 2


def test_export_sends_the_conversation_as_a_file(talk: Talk) -> None:
    with talk.running():
        assert "empty" in ask(talk, "/export")
        ask(talk, "one")
        talk.telegram.say("/export")
        talk.answered(3)
    assert len(talk.telegram.called("sendDocument")) == 1
    document = talk.telegram.sent()[-1]["document"]
    assert b"echo of one" in (talk.telegram.file(document["file_id"]) or b"")


def test_undo_takes_the_last_turn_off_and_names_the_way_back(talk: Talk) -> None:
    with talk.running():
        ask(talk, "one")
        ask(talk, "two")
        back = ask(talk, "/undo").split(": ")[1]
        assert talk.dialog() == ["one", "echo of one"]
        ask(talk, back)
    assert talk.dialog() == ["one", "echo of one", "two", "echo of two"]
