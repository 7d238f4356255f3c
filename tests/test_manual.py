"""The manual is correct: what its pages show is run as a reader would run it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pages import ROOT, run_page

DOCS = ROOT / "docs"
GUIDES = sorted(path.stem for path in (DOCS / "guides").glob("*.md"))


@pytest.mark.parametrize("page", ["index", "tutorial", *(f"guides/{name}" for name in GUIDES)])
def test_a_page_does_what_it_shows(page: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    server = "postgresql://bough@db.example/chats"
    needs_server = server in (DOCS / f"{page}.md").read_text("utf-8")
    replace = {server: request.getfixturevalue("empty")} if needs_server else {}
    run_page(DOCS / f"{page}.md", tmp_path, replace)
