"""`bough doctor`: what is checked, and what a failed check says."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.bough_process import Shell


def test_everything_is_checked_and_no_key_is_shown(kept: Shell) -> None:
    done = kept("doctor", OPENAI_API_KEY="sk-secret-value")
    assert done.status == 0, done.out
    assert "OPENAI_API_KEY" in done.out
    assert "sk-secret-value" not in done.out + done.err
    checks = {one["name"]: one["verdict"] for one in json.loads(kept("doctor", "--json").out)}
    assert {"bough", "SQLite", "store", "file", "disk", "configuration", "keys"} <= checks.keys()


def test_problems_are_reported_and_fail(kept: Shell, sh: Shell, tmp_path: Path) -> None:
    kept.db.chmod(0o644)
    done = kept("doctor")
    assert done.status == 1
    assert "chmod 600" in done.out
    (tmp_path / "junk").write_text("junk " * 1000)
    broken = sh("--db", "junk", "doctor")
    assert broken.status == 1
    assert "✗ store" in broken.out
    wrong = tmp_path / "c.toml"
    wrong.write_text("[run]\nmodle = 'x'\n")
    output = kept("--config", str(wrong), "doctor").out
    assert "✗ settings" in output
    assert output.count(str(wrong)) == 1
    directory = sh("--db", str(tmp_path), "doctor").out
    assert "✗ file           it is a directory; name a file in it" in directory
    assert "chmod" not in directory


def test_the_model_and_what_it_lacks_are_reported(sh: Shell, weights_cache: Path, tmp_path: Path) -> None:
    def checks(**environ: str) -> dict[str, tuple[str, str]]:
        return {
            one["name"]: (one["verdict"], one["detail"]) for one in json.loads(sh("doctor", "--json", **environ).out)
        }

    verdict, detail = checks(BOUGH_CACHE=str(tmp_path))["model"]
    assert (verdict, detail.endswith("bough local install")) == ("hint", True)
    assert checks(BOUGH_CACHE=str(weights_cache))["model"] == ("ok", "local")
    groq = checks(GROQ_API_KEY="gsk-secret")
    assert groq["keys"] == ("ok", "GROQ_API_KEY")
    assert groq["model"][1].startswith("groq:")
