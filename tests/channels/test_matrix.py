"""People talk to the bot on Matrix: a third service, in one file over the same core."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bough import ChannelError
from tests.channels.conftest import Conversations, until
from tests.channels.echo_model import EchoModel
from tests.channels.fake_matrix import ME, ROOM, FakeMatrix

KEY = "matrix:!direct:here"


@pytest.fixture
def matrix() -> Iterator[FakeMatrix]:
    with FakeMatrix() as service:
        yield service


@pytest.fixture
def talk(matrix: FakeMatrix, model: EchoModel, tmp_path: Path) -> Iterator[Conversations]:
    talk = Conversations([matrix], model, tmp_path, {"where": tmp_path / "s.db"})
    talk.configure(f'allow = ["@ann:here", "{ROOM}"]')
    yield talk
    talk.close()


def test_a_question_is_answered_and_stored_and_nothing_that_was_said_before(
    talk: Conversations, matrix: FakeMatrix
) -> None:
    matrix.say("long ago")
    with talk.running():
        number = matrix.say("Hello")
        assert talk.answered_in(matrix, 1, "!direct:here") == ["echo of Hello"]
        matrix.say("from a stranger", sender="@eve:here")
        matrix.say("Bye")
        talk.answered_in(matrix, 2, "!direct:here")
    assert talk.dialog(KEY) == ["Hello", "echo of Hello", "Bye", "echo of Bye"]
    assert talk.store.find_external("matrix", f"!direct:here:{number}") == talk.path(KEY)[0].id


def test_a_reply_branches_an_edit_is_a_sibling_and_a_deleted_message_is_marked(
    talk: Conversations, matrix: FakeMatrix
) -> None:
    with talk.running():
        first = matrix.say("one")
        talk.answered_in(matrix, 1, "!direct:here")
        second = matrix.say("two")
        talk.answered_in(matrix, 2, "!direct:here")
        matrix.say("> <@ann:here> one\n\nthree", content={"m.relates_to": {"m.in_reply_to": {"event_id": first}}})
        talk.answered_in(matrix, 4, "!direct:here")
        assert talk.dialog(KEY) == ["one", "echo of one", "three", "echo of three"]
        matrix.reword(second, "TWO")
        talk.answered_in(matrix, 5, "!direct:here")
        assert talk.dialog(KEY) == ["one", "echo of one", "TWO", "echo of TWO"]
        matrix.add("!direct:here", "@ann:here", "m.room.redaction", {}, redacts=first)
        until(lambda: talk.path(KEY)[0].label == "deleted")


def test_a_room_is_answered_where_the_bot_is_named_and_a_thread_is_a_session(
    talk: Conversations, matrix: FakeMatrix
) -> None:
    with talk.running():
        matrix.say("Lovely weather", ROOM)
        root = matrix.say(f"{ME}: hello", ROOM)
        assert talk.answered_in(matrix, 1, ROOM) == ["echo of ann: hello"]
        relation = {"rel_type": "m.thread", "event_id": root, "is_falling_back": True}
        matrix.say(f"{ME} deeper", ROOM, content={"m.relates_to": relation, "m.mentions": {"user_ids": [ME]}})
        talk.answered_in(matrix, 2, ROOM)
    said = ["ann: hello", "echo of ann: hello", "ann: deeper", "echo of ann: deeper"]
    assert talk.dialog(f"matrix:{ROOM}:{root}") == said
    assert len(talk.dialog(f"matrix:{ROOM}")) == 2


def test_limits_and_lost_answers_neither_lose_nor_double(talk: Conversations, matrix: FakeMatrix) -> None:
    matrix.faults += [("/sync", 502), ("/send/", "late"), ("/send/", 429)]
    with talk.running():
        matrix.say("Hello")
        assert talk.answered_in(matrix, 1, "!direct:here") == ["echo of Hello"]


def test_what_was_asked_while_the_bot_was_down_is_answered_after_its_start(
    talk: Conversations, matrix: FakeMatrix
) -> None:
    with talk.running():
        matrix.say("one")
        talk.answered_in(matrix, 1, "!direct:here")
    matrix.say("two")
    with talk.running():
        assert talk.answered_in(matrix, 2, "!direct:here") == ["echo of one", "echo of two"]


def test_a_command_and_its_menu_are_text(talk: Conversations, matrix: FakeMatrix) -> None:
    with talk.running():
        matrix.say("/help")
        assert "/branches: " in talk.answered_in(matrix, 1, "!direct:here")[0]


def test_a_token_that_the_homeserver_does_not_know_is_said(talk: Conversations, matrix: FakeMatrix) -> None:
    talk.config.write_text(talk.config.read_text().replace("syt_secret", "syt_wrong"))
    with pytest.raises(ChannelError, match="M_UNKNOWN_TOKEN") as caught, talk.running():
        until(lambda: matrix.calls)
    assert "syt" not in str(caught.value)


def test_files_come_with_questions_and_with_answers(talk: Conversations, matrix: FakeMatrix) -> None:
    matrix.files["here/tree"] = b"oak\n"
    with talk.running():
        matrix.say("notes.txt", content={"msgtype": "m.file", "url": "mxc://here/tree"})
        talk.answered_in(matrix, 1, "!direct:here")
        matrix.say("/export")
        talk.answered_in(matrix, 2, "!direct:here")
    assert "oak" in talk.dialog(KEY)[0]
    assert b"oak" in matrix.files["here/1"]
