"""The release checklist: `make release` runs all of it, `python -m scripts.release NAME…` some. Nothing is published.

Each step is a function; its docstring is the line of the checklist. The first step that fails ends the run.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parent.parent
DIST = ROOT / "dist"
BIN = Path(sys.executable).parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
SMOKE = {
    "": "import bough; bough.connect(':memory:').session('cli:a').save_turn([bough.user('q'), bough.assistant('a')])",
    "cli": "bough --help",
    "run": "bough run --help; python -c 'from bough.providers import find; find(\"openai:x\")' || test $? = 1",
    "prices": "import bough.prices; assert bough.prices",
    "local": "bough local --help",
    "mcp": "import mcp, bough.agent",
    "postgres": "import psycopg, bough.db.postgres.driver",
    "telegram": "bough bot --help",
    "discord": "bough bot --help; python -c 'import discord'",
    "parquet": "import duckdb, bough",
    "server": "bough serve --help; python -c 'import bough.server.app'",
    "all": "bough --version",
}
"""What shows that an extra, installed alone, has what it needs: a program of Python, or commands."""

NEEDED = (
    "bough/py.typed",
    "bough/__init__.pyi",
    "bough/db/queries.sql",
    "man/man1/bough.1",
    "completions/bough",
    "site-functions/_bough",
    "bough.fish",
    "licenses/LICENSE",
)
"""What a wheel has, beside its modules: the ends of names."""
UV_AND_PIPX = {"UV_TOOL_DIR": "tools", "UV_TOOL_BIN_DIR": "bin", "PIPX_HOME": "pipx", "PIPX_BIN_DIR": "bin"}


def run(*words: str | Path, **options: object) -> str:
    """What a command prints. Raises `SystemExit` with its output if it fails."""
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    if done.returncode:
        raise SystemExit(f"$ {' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
    return str(done.stdout)


def versions() -> None:
    """pyproject.toml, the package and CITATION.cff have the same version, and the changelog a section for it."""
    version = PROJECT["version"]
    for name, pattern in {
        "src/bough/__init__.py": rf'__version__ = "{version}"',
        "CITATION.cff": rf"version: {version}",
    }.items():
        if pattern not in (ROOT / name).read_text("utf-8"):
            raise SystemExit(f"{name} does not say {version}.")
    if not re.search(rf"^## ({re.escape(version)}|Unreleased)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M):
        raise SystemExit(f"The changelog has no section for {version}.")


def build() -> None:
    """The wheel and the source archive are built in an environment of their own, the wheel from the archive."""
    shutil.rmtree(DIST, ignore_errors=True)
    run(BIN / "python", "-m", "build", "--outdir", DIST, ROOT)


def check() -> None:
    """twine and check-wheel-contents accept them, and the wheel has types, statements, man page and completions."""
    run(BIN / "twine", "check", "--strict", *DIST.iterdir())
    run(BIN / "check-wheel-contents", wheel())
    names = zipfile.ZipFile(wheel()).namelist()
    for needed in NEEDED:
        if not any(name.endswith(needed) for name in names):
            raise SystemExit(f"The wheel has no {needed}.")
    if strays := [name for name in names if re.search(r"(^|/)(tests|bench|__pycache__)/|\.db$", name)]:
        raise SystemExit(f"The wheel has {strays[0]}.")


def extras() -> None:
    """Each extra, installed alone from the wheel into a fresh environment, imports and runs what it is for."""
    for extra in ("", *(name for name in PROJECT["optional-dependencies"] if name in SMOKE)):
        install(extra)
        sys.stdout.write(f"    {extra or 'no extra'}\n")


def install(extra: str, python: str = sys.executable) -> None:
    """Installs the wheel with one extra into a new environment and tries it."""
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        if python == sys.executable:
            venv.create(home / "venv", with_pip=True)
        else:
            run(python, "-m", "venv", home / "venv")
        bin = home / "venv" / "bin"
        run(
            bin / "python",
            "-m",
            "pip",
            "install",
            "--quiet",
            f"bough[{extra}] @ {wheel().as_uri()}" if extra else wheel(),
        )
        environment = {"PATH": f"{bin}:/usr/bin:/bin", "HOME": name}
        commands = SMOKE[extra]
        if not commands.startswith("bough"):
            run(bin / "python", "-c", commands, env=environment, cwd=home)
        else:
            run("bash", "-euc", commands, env=environment, cwd=home)


def pythons() -> None:
    """The wheel works on every Python that it names and that is found here as python3.N."""
    for minor in re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["classifiers"])):
        if found := shutil.which(f"python{minor}"):
            install("server", found)
            sys.stdout.write(f"    {found}\n")
        else:
            sys.stdout.write(f"    python{minor} is not here: not tried\n")


def tools() -> None:
    """uv and pipx install the wheel as a command of its own, where they are."""
    with tempfile.TemporaryDirectory() as name:
        places = {"HOME": name, "PATH": "/usr/bin:/bin"}
        for variable, folder in UV_AND_PIPX.items():
            places[variable] = f"{name}/{folder}"
        for words in (["uv", "tool", "install"], ["pipx", "install"]):
            program = shutil.which(words[0], path=f"{BIN}:/usr/local/bin:/usr/bin:/bin")
            if program is None:
                sys.stdout.write(f"    {words[0]} is not here: not tried\n")
                continue
            run(program, *words[1:], f"bough[cli] @ {wheel().as_uri()}", env=places)
            run(f"{name}/bin/bough", "--version", env=places)
            shutil.rmtree(f"{name}/bin")
            sys.stdout.write(f"    {words[0]}\n")


def site() -> None:
    """The manual builds without a broken link."""
    run(BIN / "mkdocs", "build", "--strict", cwd=ROOT)


def tests() -> None:
    """make test is green."""
    run("make", "test", cwd=ROOT)


def wheel() -> Path:
    """The wheel that was built."""
    found = list(DIST.glob("*.whl"))
    if len(found) != 1:
        raise SystemExit("There is no wheel in dist, or more than one: python -m scripts.release build")
    return found[0]


STEPS: tuple[Callable[[], None], ...] = (versions, tests, site, build, check, extras, pythons, tools)
AFTERWARDS = (
    "Left for a person: date the section of the changelog, tag the commit, `twine upload dist/*`, push the tag."
)


def main(names: list[str]) -> None:
    """Run the steps with these names, or all."""
    known = {step.__name__: step for step in STEPS}
    if wrong := [name for name in names if name not in known]:
        raise SystemExit(f"There is no step {wrong[0]!r}; there are {', '.join(known)}.")
    for step in [known[name] for name in names] or STEPS:
        sys.stdout.write(f"{step.__name__}: {step.__doc__}\n")
        sys.stdout.flush()
        step()
    sys.stdout.write(f"{AFTERWARDS}\n" if not names else "")


if __name__ == "__main__":
    main(sys.argv[1:])
