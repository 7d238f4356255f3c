"""Trees on a terminal and in a file: folding, and depth."""

from __future__ import annotations

import bough
from bough import Save, assistant, user
from tests.cli.bough_process import Shell
from tests.cli.terminal import COLOURS, seen


def test_a_conversation_that_branches_at_every_step_is_drawn_without_growing_sideways(sh: Shell) -> None:
    with bough.connect(sh.db) as store:
        parent, saves = None, []
        for number in range(2000):
            saves += [Save(user(f"again {number}"), parent), parent := Save(user(str(number)), parent)]
        store.save_messages(saves)
    lines = sh("ls").out.splitlines()
    assert sum(line.strip() != "------" for line in lines) == 4000
    assert max(map(len, lines)) < 130


def test_the_middle_of_a_long_conversation_is_folded_for_people(sh: Shell) -> None:
    with bough.connect(sh.db) as store:
        talk = store.session("cli:long")
        ids = [id for number in range(20) for id in talk.save_turn([user(f"q{number}"), assistant(f"a{number}")])]
        store.label(ids[19], "kept")
    shown = COLOURS.sub("", seen(sh, "ls")).splitlines()
    assert [line[:6] for line in shown] == [
        *ids[:3], "  ⋮ 14", *ids[17:22], "  ⋮ 15", *ids[37:], "------",
    ]  # fmt: skip
    assert len(seen(sh, "ls", "--full").splitlines()) == 41
    assert len(sh("ls").out.splitlines()) == 41
