"""`bough search`: words, filters and paging."""

from __future__ import annotations

import json

import bough
from bough import assistant, user
from tests.cli.bough_process import Shell


def test_search_finds_words_with_filters_and_paging(kept: Shell, ids: dict[str, str]) -> None:
    done = kept("search", "oak")
    assert [line[:6] for line in done.out.splitlines()[::2]] == [ids["fine"], ids["picture"], ids["result"]]
    assert "telegram:42" in done.out
    (hit,) = json.loads(kept("search", "oak", "--session", "cli:garden", "--role", "tool_result", "--json").out)
    assert hit["id"] == ids["result"]
    assert hit["snippet"].startswith("oak at 0 m")
    assert kept("search", "hornbeam", "--label", "decision", "--since", "7d").out.startswith(ids["hornbeam"])
    assert kept("search", "oak", "--until", "2001-01-01").err == "Nothing found.\n"
    assert kept("search", "oak", "-n", "1").err == "There may be more: --offset 1.\n"
    assert kept("search", "hornbeam", "OR", "mongolia", "--syntax", "--best").out.count("\n") == 4
    assert kept("search", 'C++ "', "-foo-", "--channel", "cli").status in (0, 2)
    assert kept("search", "oak", "--since", "yesteryear").status == 2
    assert kept("search").status == 2


def test_words_are_found_by_their_beginning_when_none_is_found_whole(kept: Shell, ids: dict[str, str]) -> None:
    done = kept("search", "hornb")
    assert done.out.startswith(ids["hornbeam"])
    assert done.err == "No message has all these words; these have words that begin with them.\n"
    assert json.loads(kept("search", "hornb tak", "--json").out)[0]["snippet"] == "Take hornbeam."
    assert kept("search", "ornbeam").err == "Nothing found.\n"
    assert kept("search", "hornbeam").err == ""


def test_here_finds_only_in_conversations_of_this_directory(kept: Shell, ids: dict[str, str]) -> None:
    with bough.connect(kept.db) as store:
        store.session("cli:own", directory=str(kept.directory)).save_turn([user("an oak here"), assistant("Yes.")])
    (hit,) = json.loads(kept("search", "oak", "--here", "--json").out)
    assert hit["session"] == "cli:own"
