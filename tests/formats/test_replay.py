"""The tool that replays recordings reads VCR's YAML and JSON and HAR files, and reports what fails."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from bough.model import Json
from tests.formats.recordings import exchanges
from tests.formats.replay import main, replay

URL = "https://api.openai.com/v1/chat/completions"
ASKED = {"model": "x", "messages": [{"role": "user", "content": "hi"}]}
REPLY = {
    "id": "c",
    "object": "chat.completion",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "a"}}],
}


def vcr(asked: Json, body: str, url: str = URL) -> Json:
    request = {"method": "POST", "uri": url, "body": json.dumps(asked)}
    return {"interactions": [{"request": request, "response": {"status": {"code": 200}, "body": {"string": body}}}]}


def write_all(root: Path) -> None:
    chunk = {
        "id": "c",
        "choices": [{"index": 0, "delta": {"role": "assistant", "content": "a"}, "finish_reason": "stop"}],
    }
    (root / "whole.json").write_text(json.dumps(vcr(ASKED, json.dumps(REPLY))))
    (root / "stream.yaml").write_text(json.dumps(vcr(ASKED, f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n")))
    (root / "packed.yaml.gz").write_bytes(gzip.compress(json.dumps(vcr(ASKED, json.dumps(REPLY))).encode()))
    entry = {
        "request": {"method": "POST", "url": URL, "postData": {"text": json.dumps(ASKED)}},
        "response": {"status": 200, "content": {"text": json.dumps(REPLY)}},
    }
    (root / "browser.har").write_text(json.dumps({"log": {"entries": [entry]}}))
    (root / "other.yaml").write_text("a: [1, 2")


def test_every_kind_of_recording_is_read(tmp_path: Path) -> None:
    write_all(tmp_path)
    assert [one.file.name for one in exchanges(tmp_path)] == [
        "browser.har",
        "packed.yaml.gz",
        "stream.yaml",
        "whole.json",
    ]
    found = replay(tmp_path)
    assert found.failures == []
    assert found.counts["openai.chat"]["exchanges"] == 4
    assert found.counts["openai.chat"]["reply"] == 4


def test_what_fails_is_named_and_is_the_exit_status(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    orphan = {"model": "x", "messages": [{"role": "tool", "tool_call_id": "t", "content": "3"}]}
    (tmp_path / "a.json").write_text(json.dumps(vcr(orphan, json.dumps(REPLY))))
    assert main([str(tmp_path)]) == 1
    assert "accepted: " in capsys.readouterr().out
    assert main([str(tmp_path / "missing")]) == 2
