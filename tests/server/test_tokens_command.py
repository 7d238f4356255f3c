"""`bough tokens` makes, lists and revokes tokens, and shows each once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.server.serving import serving


def tokens(db: Path, *words: str) -> str:
    command = [sys.executable, "-m", "bough", "--db", str(db), "tokens", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


def test_a_token_is_made_used_listed_and_revoked(tmp_path: Path) -> None:
    db = tmp_path / "s.db"
    token = tokens(db, "create", "laptop", "--scope", "read", "--expires", "1d").strip()
    with serving(tmp_path, db=str(db)) as server, server.client(token) as client:
        assert client.get("/metrics").status_code == 200
        (shown,) = json.loads(tokens(db, "list", "--json"))
        assert (shown["name"], shown["scopes"], shown["expires_at"] > shown["created_at"]) == ("laptop", ["read"], True)
        assert token not in tokens(db, "list")
        tokens(db, "revoke", shown["id"])
        assert client.get("/metrics").status_code == 401
    assert json.loads(tokens(db, "list", "--json")) == []
