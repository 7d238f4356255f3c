"""`bough delete`: messages and sessions go to the trash."""

from __future__ import annotations

import json

import pytest

from tests.cli.bough_process import Shell
from tests.cli.history import stored_ids


@pytest.mark.parametrize("words", [("conversation", "delete"), ("convo", "rm"), ("delete",)])
def test_a_message_with_descendants_is_refused_and_cascade_is_named(
    kept: Shell, ids: dict[str, str], words: tuple[str, ...]
) -> None:
    before = stored_ids(kept)
    done = kept(*words, ids["metres"])
    assert (done.status, done.out) == (5, "")
    assert "--cascade" in done.err
    assert "recursive" not in done.err
    leaf = kept(*words, ids["birch"])
    assert f"1 message follows {ids['birch']!r}" in leaf.err
    assert "`bough delete cli:birches` deletes the conversation cli:birches" in leaf.err
    assert stored_ids(kept) == before


def test_a_leaf_and_a_session_are_deleted_by_their_names(kept: Shell, ids: dict[str, str]) -> None:
    gone = json.loads(kept("delete", ids["loose"][:5], "telegram:42", "--json").out)
    assert gone == {"messages": [ids["loose"]], "sessions": ["telegram:42"], "cascade": False}
    assert not stored_ids(kept) & {ids["loose"], ids["fine"], ids["hostile"]}
    assert json.loads(kept("restore", "telegram:42", "--json").out)[0]["messages"][0] == ids["hostile"]


def test_if_one_of_several_is_missing_none_is_deleted(kept: Shell, ids: dict[str, str]) -> None:
    done = kept("delete", ids["loose"], "nnnnnn")
    assert done.status == 3
    assert "Nothing was deleted." in done.err
    assert ids["loose"] in stored_ids(kept)
    assert kept("restore", "nnnnnn").status == 3
    assert kept("delete").status == 2
