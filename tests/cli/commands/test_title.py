"""`bough title`: written and read."""

from __future__ import annotations

import json

from tests.cli.bough_process import Shell


def test_a_title_is_written_and_read(kept: Shell, ids: dict[str, str]) -> None:
    assert kept("title", "garden").out == "Planting oaks\n"
    assert kept("convo", "title", ids["call"], "Oaks", "and ashes").out == "Oaks and ashes\n"
    assert json.loads(kept("title", "cli:garden", "--json").out)["title"] == "Oaks and ashes"
    lost = kept("title", ids["loose"], "x")
    assert lost.status == 3
    assert "bough fork" in lost.err
