"""Completion in editors, by Jedi, which most of them use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import bough

jedi: Any = pytest.importorskip("jedi")
SOURCE = Path(bough.__file__).parent


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import bough\nbough.", {"Store", "connect", "user", "MessagesSaver", "aio"}),
        ("import bough\nstore = bough.connect()\nstore.", {"session", "save_messages", "search"}),
        ("import bough\nwith bough.connect() as s:\n    s.session('a').", {"save_turn", "turn", "fork"}),
        ("from bough import ", {"Store", "connect", "user"}),
    ],
)
def test_editors_complete_public_names(code: str, expected: set[str]) -> None:
    project = jedi.Project(SOURCE.parent.parent, added_sys_path=[str(SOURCE.parent)])
    assert expected <= {completion.name for completion in jedi.Script(code, project=project).complete()}
