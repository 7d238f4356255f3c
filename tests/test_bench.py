"""The benchmarks run. How fast anything is, no test says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
SUBJECTS = (
    "append a turn", "append at", "load a path", "new process", "last 50", "fork", "most recent", "build the index",
    "newest first", "best first", "bytes on disk", "one picture", "one file", "one session", "import bough",
    "PostgreSQL: append", "PostgreSQL: load", "PostgreSQL: 64 sessions",
    "bough --version", "conversations ls", "of Claude Code", "of ChatGPT", "peak memory",
    "calls into bough: `save_turn`", "calls into bough: `run`",
)  # fmt: skip


def test_every_benchmark_prints_what_it_measured() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench", "--quick"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    rows = [line.split("|")[1:-1] for line in done.stdout.splitlines()[2:]]
    for name, measured, *_ in rows:
        assert re.fullmatch(r" -?[\d,]+(\.\d+)?(×| ms| B| MB| MB/s)? ", measured), name
    for subject in SUBJECTS:
        assert any(subject in row[0] for row in rows), subject


def test_a_quick_run_leaves_the_published_table_alone() -> None:
    page = ROOT / "docs" / "performance.md"
    before = page.read_bytes()
    subprocess.run([sys.executable, "-m", "bench", "--quick", "import"], cwd=ROOT, capture_output=True, check=True)
    assert page.read_bytes() == before


def test_the_walk_prints_calls_files_and_a_call_tree() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench.walk", "path", "save_turn", "--tree", "3"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"^path +\d+ +\d+ +\d+$", done.stdout, re.MULTILINE)
    assert re.search(r"^save_turn +\d+ +\d+ +\d+$", done.stdout, re.MULTILINE)
    assert re.search(r"^  Store\.load_path  \(store\.py\)$", done.stdout, re.MULTILINE)
