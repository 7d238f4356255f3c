"""`bough tree`: one whole tree, or what follows a message."""

from __future__ import annotations

import json

from tests.cli.bough_process import Shell


def test_the_tree_of_a_message_is_drawn_whole_and_points_at_it(kept: Shell, ids: dict[str, str]) -> None:
    lines = kept("tree", ids["birch"][:5]).out.splitlines()
    assert lines[0].startswith(ids["oaks"])
    assert next(line for line in lines if ids["birch"] in line).endswith("← here")
    assert ids["capital"] not in kept("tree", "cli:garden").out
    below = kept("tree", ids["birch"], "--below").out.splitlines()
    assert [line.strip()[:6] for line in below] == [ids["birch"], ids["five"], "------"]
    assert [one["id"] for one in json.loads(kept("tree", ids["birch"], "--below", "--json").out)] == [
        ids["birch"],
        ids["five"],
    ]
