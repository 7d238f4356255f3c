"""`bough keys`: keys are stored where only their owner reads them, used, and never shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bough.cli.exits import STATUSES
from bough.config import key_store
from bough.providers import default, find
from tests.cli.bough_process import Shell

KEY = "sk-proj-0123456789"


def test_a_key_is_stored_listed_and_removed_and_never_shown(sh: Shell) -> None:
    stored = sh("keys", "set", "openai", stdin=f"{KEY}\n", PYTHON_KEYRING_BACKEND="keyring.backends.fail.Keyring")
    assert (stored.status, stored.out, stored.err) == (0, "", "The key of openai is in the file of keys.\n")
    file = sh.directory / ".config/bough/keys.json"
    assert file.stat().st_mode & 0o777 == 0o600
    (row,) = json.loads(sh("keys", "--json").out)
    assert row == {"provider": "openai", "from": "the file of keys"}
    for words in (["keys"], ["keys", "list", "--json"], ["config"], ["doctor"], ["models"]):
        done = sh(*words)
        assert KEY not in done.out + done.err
    assert sh("keys", "list", OPENAI_API_KEY="sk-other").out.splitlines()[1].split(maxsplit=1)[1] == "$OPENAI_API_KEY"
    assert sh("keys", "remove", "openai").status == 0
    assert KEY not in file.read_text()
    assert sh("keys", "remove", "openai").status == STATUSES["not_found"]
    assert sh("keys").err == "No provider has a key. To store one: bough keys set PROVIDER\n"


def test_what_is_no_key_or_no_provider_is_refused(sh: Shell) -> None:
    assert sh("keys", "set", "openai", stdin="\n").status == 2
    assert sh("keys", "set", "openai", stdin="sk-\x1b[2J\n").status == 2
    done = sh("keys", "set", "opnai", stdin=KEY)
    assert done.status == STATUSES["not_found"]
    assert "anthropic, openai" in done.err


def test_a_stored_key_chooses_the_provider_and_is_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert default({}) == "local"
    assert key_store.set_key("mistral", KEY, in_file=True) == "file"
    assert default({}) == "mistral:mistral-medium-latest"
    provider = find("mistral:x", {}, {})
    assert KEY not in repr(provider)
    provider.close()


def test_a_file_of_keys_that_others_can_read_is_not_used(sh: Shell) -> None:
    sh("keys", "set", "openai", "--file", stdin=KEY)
    file = sh.directory / ".config/bough/keys.json"
    file.chmod(0o644)
    done = sh("keys")
    assert done.status == STATUSES["config"]
    assert f"chmod 600 {file}" in done.err
    file.chmod(0o600)
    file.write_text("[]")
    assert "is damaged" in sh("keys").err


def test_the_keyring_of_the_system_takes_the_key(sh: Shell) -> None:
    ring = sh.directory / "own_ring.py"
    ring.write_text(
        "import json, pathlib, keyring.backend\n"
        "FILE = pathlib.Path(__file__).with_name('ring.json')\n"
        "class Ring(keyring.backend.KeyringBackend):\n"
        "    priority = 5\n"
        "    def _all(self): return json.loads(FILE.read_text()) if FILE.exists() else {}\n"
        "    def get_password(self, service, user): return self._all().get(user)\n"
        "    def set_password(self, service, user, key): FILE.write_text(json.dumps({**self._all(), user: key}))\n"
        "    def delete_password(self, service, user): FILE.write_text('{}')\n"
    )
    backend = {"PYTHON_KEYRING_BACKEND": "own_ring.Ring", "PYTHONPATH": str(sh.directory)}
    assert sh("keys", "set", "openai", stdin=KEY, **backend).err == "The key of openai is in the keyring.\n"
    assert KEY not in (sh.directory / ".config/bough/keys.json").read_text()
    assert json.loads((sh.directory / "ring.json").read_text()) == {"openai": KEY}
    assert sh("keys", **backend).out.splitlines()[1].split(maxsplit=1)[1] == "the keyring"
    assert sh("keys", "remove", "openai", **backend).status == 0
    assert json.loads((sh.directory / "ring.json").read_text()) == {}
