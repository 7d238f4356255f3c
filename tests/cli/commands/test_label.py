"""`bough label`: written, read and removed."""

from __future__ import annotations

import json

from tests.cli.bough_process import Shell


def test_a_label_is_written_and_read(kept: Shell, ids: dict[str, str]) -> None:
    assert kept("convo", "label", ids["call"], "a look").out == "a look\n"
    assert kept("label", ids["call"]).out == "a look\n"
    assert json.loads(kept("label", ids["call"], "--remove", "--json").out) == {"id": ids["call"], "label": None}
