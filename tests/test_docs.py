"""The documents are correct: their code runs, their links resolve, and the names in them exist."""

from __future__ import annotations

import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "bough"
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def code(page: Path) -> str:
    return "\n".join(re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL))


def test_the_code_of_the_readme_runs(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code(ROOT / "README.md")], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "13.5 feet around." in done.stdout
    assert "girth: 4.1 m" in done.stdout


def test_the_code_of_the_context_page_runs(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code(ROOT / "docs" / "context.md")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "About 210 years." in done.stdout


def test_the_code_of_the_hooks_page_runs(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code(ROOT / "docs" / "hooks.md")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "My key is [redacted: aws-key]." in done.stdout
    assert "created" in done.stdout


def test_the_code_of_the_search_page_runs(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code(ROOT / "docs" / "search.md")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "21 metres" in done.stdout


def test_the_code_of_the_changes_page_runs(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code(ROOT / "docs" / "changes.md")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "added cli:default" in done.stdout
    assert "created cli:fork" in done.stdout


def test_the_code_of_the_costs_page_runs(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code(ROOT / "docs" / "costs.md")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "large 5 0.03\nsmall 20 0.001\n" in done.stdout


@pytest.mark.parametrize(
    ("page", "printed"),
    [("documents", "['measure the oak', 'water it'] 2"), ("keeping", "Birches 2\nTrue\ntelegram:7 is kept\n")],
)
def test_the_code_of_a_page_about_sessions_runs(tmp_path: Path, page: str, printed: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code(ROOT / "docs" / f"{page}.md")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert printed in done.stdout


def test_the_code_of_the_agents_page_runs(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code(ROOT / "docs" / "agents.md")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "complete It takes three people to reach around it." in done.stdout
    assert "The oak is 4.1 m around." in done.stdout


def test_the_code_about_formats_exporting_and_importing_runs(tmp_path: Path) -> None:
    told = [code(ROOT / "docs" / f"{page}.md") for page in ("formats", "exporting", "importing")]
    store = "import bough\nstore = bough.connect('a.db')\nsession = store.session('cli:default')"
    said = "session.save_turn([bough.user('Oak?'), bough.assistant('Yes.')])"
    again = "import_into(bough.connect('b.db'), Path('chat.json'))"
    (tmp_path / "chat.json").write_text('{"messages": [{"role": "user", "content": "Oak?"}]}')
    script = "\n".join([store, said, *told, again])
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Oak?" in (tmp_path / "oak.html").read_text()
    assert "status='new'" in done.stdout


def test_the_first_example_runs(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "first.py")], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "stored once" in done.stdout
    assert "everything is what it was" in done.stdout
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#]+)", page.read_text("utf-8")):
        if not link.startswith("http"):
            assert (page.parent / link).exists(), f"{page.name} links to {link}"


def test_the_readmes_commands_are_targets_of_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for target in re.findall(r"^\$ make (\w+)", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


FILE = re.compile(r"[\w./-]+(/|\.(py|sql|md|toml))")
PLACEHOLDER = re.compile(r"NAME|ENGINE|NNNN")
OF_THE_USER = {"config.toml"}


def names_in(page: str) -> list[str]:
    """The file names and dotted names in backticks, outside of blocks of code."""
    text = re.sub(r"^```.*?^```|<!--.*?-->", "", (ROOT / page).read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    spans = [span for span in re.findall(r"`([^`\n]+)`", text) if not PLACEHOLDER.search(span)]
    return [span for span in spans if FILE.fullmatch(span) or re.fullmatch(r"\w+(\.\w+)+|\w+(/\w+)+", span)]


def exists(name: str) -> bool:
    """Whether a path, or the dotted name of a module, function, class or method, exists in the repository."""
    if name in OF_THE_USER or any((base / name).exists() for base in (ROOT, SOURCE)):
        return True
    for start in ("", "bough.", "bough.store.", "bough.session.", "bough.turn.", *INTERFACES):
        try:
            pkgutil.resolve_name(start + name)
            return True
        except (ImportError, AttributeError, ValueError):
            continue
    return False


INTERFACES = ("bough.importers.types.", "bough.cli.locate.", "bough.db.postgres.driver.")


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_the_names_in_a_page_about_the_code_exist(page: str) -> None:
    names = names_in(page)
    assert len(names) > 20
    assert [name for name in names if not exists(name)] == []


def test_the_files_in_every_page_exist() -> None:
    files = [
        f"/{path.relative_to(ROOT)}"
        for top in ("src", "tests", "bench", "examples")
        for path in ROOT.glob(f"{top}/**/*.py")
    ]
    pages = [page for page in PAGES if page.name != "CHANGELOG.md"]
    named = {
        (page.name, span) for page in pages for span in names_in(str(page.relative_to(ROOT))) if span.endswith(".py")
    }
    assert {(page, span) for page, span in named if not any(file.endswith(f"/{span}") for file in files)} == set()


def test_every_package_is_in_the_architecture() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    packages = [path.parent.relative_to(SOURCE) for path in SOURCE.glob("*/__init__.py")]
    packages += [path.parent.relative_to(SOURCE) for path in SOURCE.glob("db/*/__init__.py")]
    assert [str(package) for package in packages if f"**`{package}/`**" not in text] == []
    modules = [path.name for path in SOURCE.glob("*.py") if path.name != "__main__.py"]
    assert [name for name in modules if name not in text and f"`{name[:-3]}." not in text] == []
