"""API keys are sent to their provider and appear nowhere else."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

import bough
import bough.providers.connection
from bough import providers
from bough.errors import ProviderError

from .servers import Act, drop, serving, status, stream
from .wires import CHAT, WIRES

KEY, HEADER, PASSWORD = "zk-7Qx9secretsecret", "header-4Wz8secretsecret", "pass2Lm5secretsecret"
ECHOES: list[Act] = [
    status(401, {"error": {"message": f"Incorrect API key provided: {KEY} of {HEADER}, {PASSWORD}."}}),
    status(400, "x" * 380 + KEY),
    status(404, {"error": {"message": f"Bearer {KEY}"}}),
    stream([f"not json {KEY}"]),
    stream([{"error": {"message": f"{KEY} {HEADER}"}}]),
    stream([*CHAT.events[:4], {"error": {"message": f"{KEY} {HEADER}"}}]),
    status(200, {"error": {"message": KEY}}),
    drop,
]


@pytest.mark.parametrize("echo", ECHOES)
@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.type)
def test_a_key_is_in_no_error_no_log_no_repr_and_no_store(
    echo: Act, wire: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(providers.connection, "BACKOFF", 0)
    caplog.set_level(logging.DEBUG)
    with serving(echo) as server:
        address = server.address.replace("//", f"//ada:{PASSWORD}@")
        table = {"base_url": address, "api_key": KEY, "headers": {"X-Gate": HEADER}, "type": wire.type}
        mine = providers.find("mine:m", {"mine": table})
        shown = [repr(mine)]
        with bough.connect(tmp_path / "b.db") as store, pytest.raises(ProviderError) as caught:
            with store.session("cli:default").turn("hello") as turn:
                answer = mine.ask(turn.context(mine.format).payload)
                shown.append(repr(answer))
                list(answer)
    assert server.heard[0].headers["x-gate"] == HEADER
    shown += [str(caught.value), repr(caught.value), caplog.text]
    shown += [path.read_bytes().decode("latin-1") for path in tmp_path.iterdir()]
    for secret in (KEY, HEADER, PASSWORD):
        assert not any(secret[:8] in text for text in shown)


def test_every_text_in_the_form_of_a_key_is_masked() -> None:
    body = {"error": {"message": "Incorrect API key provided: sk-proj*****wxyz or 'sk-ant-abcdefgh'. Find yours."}}
    with serving(status(401, body)) as server:
        with pytest.raises(ProviderError) as caught:
            providers.find("mine:m", {"mine": {"base_url": server.address}}).ask([])
    assert str(caught.value) == "mine does not accept the key (401): Incorrect API key provided: … or … Find yours."


def test_a_key_is_not_sent_to_a_redirected_address() -> None:
    with serving(stream(CHAT.events)) as elsewhere:
        with serving(status(307, "", Location=f"{elsewhere.address}/v1/chat/completions")) as server:
            with pytest.raises(ProviderError):
                providers.find("mine:m", {"mine": {"base_url": server.address, "api_key": KEY}}).ask([])
        assert elsewhere.heard == []
