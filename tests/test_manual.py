"""The manual is correct: what its pages show is run as a reader would run it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.pages import ROOT, blocks, run_page

DOCS = ROOT / "docs"
GUIDES = sorted(path.stem for path in (DOCS / "guides").glob("*.md"))


@pytest.mark.parametrize("page", ["index", "tutorial", *(f"guides/{name}" for name in GUIDES)])
def test_a_page_does_what_it_shows(page: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    server = "postgresql://bough@db.example/chats"
    needs_server = server in (DOCS / f"{page}.md").read_text("utf-8")
    replace = {server: request.getfixturevalue("empty")} if needs_server else {}
    run_page(DOCS / f"{page}.md", tmp_path, replace)


@pytest.mark.parametrize("checker", [["mypy", "--strict", "--config-file="], ["pyright"]], ids=["mypy", "pyright"])
def test_the_programs_of_the_manual_have_the_right_types(checker: list[str], tmp_path: Path) -> None:
    for page in ("index", "tutorial", *(f"guides/{name}" for name in GUIDES)):
        for block in blocks(DOCS / f"{page}.md"):
            if block.title and block.language == "python":
                (tmp_path / f"{Path(page).name}_{block.title}").write_text(block.text)
    words = [sys.executable, "-m", *checker, *sorted(path.name for path in tmp_path.glob("*.py"))]
    words += ["--pythonpath", sys.executable] if checker[0] == "pyright" else []
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
