"""What running turns have received of a reply can be read by any process."""

from __future__ import annotations

import bough
from bough.model.turns import RunningReply


def test_the_received_part_of_a_reply_is_read_while_it_is_written(store: bough.Store) -> None:
    session = store.session("cli:a")
    assert store.running_replies() == []
    with session.turn("how?") as turn:
        assert store.running_replies() == []
        turn.sketch("like th")
        (found,) = store.running_replies("cli:a")
        assert found == RunningReply(turn.id, None, "cli:a", bough.assistant("like th"))
        assert store.running_replies("cli:b") == []
        turn.add(bough.assistant("like this"))
        assert store.running_replies() == []


def test_so_is_that_of_another_answer(store: bough.Store) -> None:
    session = store.session("cli:a")
    question, _ = session.save_turn(["how?", "so"])
    with session.answer() as turn:
        turn.sketch("or li")
        (found,) = store.running_replies()
        assert (found.turn_id, found.parent_id, found.message.text) == (turn.id, question, "or li")
        turn.add(bough.assistant("or like this"))
