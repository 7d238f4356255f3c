"""Environments, downloads, and counts of a pytest run."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("SUITES_CACHE", ROOT / ".venv" / "suites")).resolve()


@dataclass(frozen=True)
class Counts:
    """What came of a suite."""

    name: str
    passed: int
    skipped: int
    failed: tuple[str, ...]

    def __str__(self) -> str:
        total = self.passed + self.skipped + len(self.failed)
        lines = [f"{self.name}: {self.passed} of {total} passed, {self.skipped} skipped, {len(self.failed)} failed"]
        return "\n".join([*lines, *(f"  {one}" for one in self.failed)])


def environment(name: str, requirements: Sequence[str]) -> Path:
    """The interpreter of an environment with these requirements and bough, made once."""
    home = CACHE / f"venv-{name}"
    python, stamp = home / "bin" / "python", home / ".requirements"
    wanted = "\n".join([*requirements, str(ROOT)])
    if not stamp.exists() or stamp.read_text("utf-8") != wanted:
        subprocess.run([sys.executable, "-m", "venv", home], check=True)
        pip = [python, "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, "--upgrade", "pip"], check=True)
        subprocess.run([*pip, *requirements, "--editable", f"{ROOT}[postgres,prices]"], check=True)
        stamp.write_text(wanted, "utf-8")
    return python


def source(python: Path, name: str, version: str) -> Path:
    """The unpacked source distribution of a package, with its tests; downloaded once."""
    where = CACHE / "sources"
    root = where / f"{name.replace('-', '_')}-{version}"
    if not root.exists():
        where.mkdir(parents=True, exist_ok=True)
        options = ["--quiet", "--no-deps", "--no-binary", name, "--dest", where]
        command = [python, "-m", "pip", "download", *options, f"{name}=={version}"]
        subprocess.run(command, check=True)
        with tarfile.open(root.with_name(f"{root.name}.tar.gz")) as archive:
            archive.extractall(where, filter="data")
    return root


def variables(*paths: Path, **more: str) -> Mapping[str, str]:
    """The environment variables of a run: these directories can be imported from, this package too."""
    return {**os.environ, **more, "PYTHONPATH": os.pathsep.join(map(str, [*paths, ROOT]))}


def run(python: Path, *arguments: object, variables: Mapping[str, str], cwd: Path = ROOT) -> str:
    """What a program of an environment prints. Raises `CalledProcessError`."""
    command = [str(python), *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env=variables, check=True, capture_output=True, text=True).stdout


def pytest(name: str, python: Path, root: Path, plugin: str | None, arguments: Sequence[str], **more: str) -> Counts:
    """Runs tests of a source distribution with a plugin of this package."""
    report = CACHE / f"{name.replace(' ', '-')}.xml"
    report.unlink(missing_ok=True)
    options = ["-q", "-p", "no:cacheprovider", f"--junitxml={report}", "--tb=line"]
    plugins = ["-p", f"suites.{plugin}"] if plugin else []
    command = [str(python), "-m", "pytest", *options, *plugins, *arguments]
    done = subprocess.run(command, cwd=root, env=variables(root, **more), capture_output=True, text=True, check=False)
    if not report.exists():
        raise SystemExit(f"{name}: no report\n{done.stdout[-4000:]}{done.stderr[-2000:]}")
    passed, skipped, failed = 0, 0, []
    for case in ET.parse(report).getroot().iter("testcase"):
        kinds = {child.tag for child in case}
        if kinds & {"failure", "error"}:
            failed.append(f"{case.get('classname')}::{case.get('name')}")
        elif "skipped" in kinds:
            skipped += 1
        else:
            passed += 1
    return Counts(name, passed, skipped, tuple(failed))
