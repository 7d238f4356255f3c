"""`bough compare`: two branches from where they part, word by word."""

from __future__ import annotations

import json
import re

import bough
from bough import assistant, user
from bough.cli.commands.compare import marked, wrapped
from tests.cli.bough_process import Shell
from tests.cli.terminal import seen


def branches(sh: Shell) -> tuple[list[str], list[str]]:
    with bough.connect(sh.db) as store:
        one = store.session("cli:one")
        common = one.save_turn([user("How far apart?"), assistant("Depends.")])
        other = one.fork(key="cli:other")
        return (
            common + one.save_turn([user("Oaks"), assistant("Twelve metres, and in rows.")]),
            common + other.save_turn([user("Oaks"), assistant("Ten metres, and not in rows.")]),
        )


def test_differing_words_are_marked_and_common_messages_counted(sh: Shell) -> None:
    one, other = branches(sh)
    out = sh("compare", "one", "other").out
    assert out.splitlines()[0] == f"2 messages in common, up to {one[1]}"
    assert f"  USER {one[2]} = USER {other[2]}" in out
    assert "- [-Twelve-] metres, and in rows." in out
    assert "+ {+Ten+} metres, and {+not+} in rows." in out
    as_json = json.loads(sh("compare", one[3], other[3], "--json").out)
    assert as_json["common"] == one[:2]
    assert [node["id"] for node in as_json["b"]] == other[2:]
    assert "These are the same." in sh("compare", "one", "one").out
    assert "up to" in sh("compare", one[1], "other").out


def test_on_a_terminal_they_are_side_by_side(sh: Shell) -> None:
    branches(sh)
    screen = re.sub(r"\x1b\[[0-9;]*m", "", seen(sh, "compare", "one", "other"))
    (line,) = [line for line in screen.splitlines() if "Twelve" in line]
    assert re.fullmatch(r"Twelve metres, and in rows\. +│ Ten metres, and not in rows\. *", line)


def test_columns_have_the_width_in_cells_of_any_script() -> None:
    lines = [text for text, _ in wrapped([("森林" * 10, False), (" ", False), ("a" * 15, True)], 8, "red")]
    assert lines[0] == "森林森林"
    assert lines[-1] == "aaaaaaa "


def test_a_message_without_a_counterpart_has_no_differences() -> None:
    assert marked(None, None) == ([], [])
