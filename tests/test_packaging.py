"""What is installed and shipped is what the code says: man page, completions, container, versions."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from scripts import release, share

from bough.cli.registry import ROOT as COMMANDS
from tests.pages import ROOT

EXTRAS = set(release.PROJECT["optional-dependencies"])
FOR_DEVELOPERS = {"test", "lint", "docs", "peers", "release", "dev"}


@pytest.mark.parametrize("path", share.files())
def test_what_the_wheel_shares_is_printed_by_the_commands(path: str) -> None:
    assert (share.SHARE / path).read_text("utf-8") == share.files()[path], "run make docs"


def test_the_man_page_is_roff_that_any_reader_takes() -> None:
    page = share.files()["man/man1/bough.1"]
    assert page.isascii()
    requests = set(re.findall(r"^\.\w*", page, re.MULTILINE))
    assert requests <= {".", ".TH", ".SH", ".SS", ".B", ".PP", ".TP", ".nf", ".fi"}
    if groff := shutil.which("groff"):
        done = subprocess.run([groff, "-man", "-ww", "-z"], input=page, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


def test_the_release_knows_the_version_and_every_extra() -> None:
    release.versions()
    assert set(release.SMOKE) - {""} == EXTRAS - FOR_DEVELOPERS


def test_the_page_about_installing_lists_every_extra() -> None:
    rows = re.findall(r"^\| (`.*?) \|", (ROOT / "docs/install.md").read_text("utf-8"), re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == EXTRAS - FOR_DEVELOPERS


def test_the_container_uses_extras_options_and_variables_that_exist() -> None:
    text = (ROOT / "Dockerfile").read_text("utf-8")
    extras = re.search(r"bough\[([\w,]+)\]", text)
    assert extras
    assert set(extras[1].split(",")) <= EXTRAS
    for copied in re.findall(r"^COPY (?!--)(.+) \S+$", text, re.MULTILINE):
        assert all((ROOT / name).exists() for name in copied.split())
    words = re.search(r'^CMD \["bough", "(\w+)", (.+)\]$', text, re.MULTILINE)
    assert words
    serve = COMMANDS.get_command(COMMANDS.make_context("bough", ["--help"], resilient_parsing=True), words[1])
    assert serve
    known = {option for parameter in serve.params for option in parameter.opts}
    assert set(re.findall(r'"(--[\w-]+)"', words[2])) <= known
    service = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))["services"]["bough"]
    assert "BOUGH_DB" in service["environment"]


@pytest.mark.parametrize("path", [*ROOT.glob(".github/**/*.yml"), ROOT / "CITATION.cff"], ids=lambda path: path.name)
def test_a_form_is_yaml(path: Path) -> None:
    assert yaml.safe_load(path.read_text("utf-8"))


@pytest.mark.soak
def test_the_wheel_is_built_checked_and_installed_with_each_extra() -> None:
    release.build()
    release.check()
    release.extras()
    release.pythons()
    release.tools()
