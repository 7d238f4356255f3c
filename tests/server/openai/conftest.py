"""Servers with scripted models, on each backend, and the official client."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import openai
import pytest

from tests.conftest import BACKENDS
from tests.server.serving import Serving, serving

SCRIPTS = {
    "m": ["one", "two", "three"],
    "slow": ['{"blocks": [{"type": "text", "text": "a b c d e f g h i j"}], "delay": 0.1}'],
    "tools": [
        '{"blocks": [{"type": "thinking", "text": "hm, the sea"}, {"type": "text", "text": "I look."},'
        ' {"type": "tool_call", "name": "look", "arguments": {"at": "sea"}}],'
        ' "usage": {"input_tokens": 5, "output_tokens": 3}}',
        "It is blue.",
    ],
    "broken": ['{"error": "rate_limit", "message": "too many"}'],
    "cut": ['{"blocks": [{"type": "text", "text": "never the end"}], "cut": 2}'],
}


def scripted(directory: Path) -> str:
    """Writes the scripts; the configuration with their names as models."""
    directory.mkdir(exist_ok=True)
    for name, lines in SCRIPTS.items():
        (directory / f"{name}.script").write_text("\n".join(lines))
    aliases = "\n".join(f'{name} = "scripted:{directory / name}.script"' for name in SCRIPTS)
    return f'[run]\nmodel = "scripted:{directory}/m.script"\n[server.models]\n{aliases}\n'


@pytest.fixture(scope="module", params=BACKENDS)
def api(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A server with an empty store."""
    directory = tmp_path_factory.mktemp("api")
    db = None
    if request.param == "postgres":
        db = f"{request.getfixturevalue('postgres')}?namespace=api-{uuid4()}"
    with serving(directory, "-v", db=db, config=scripted(directory)) as running:
        yield running


def official(server: Serving) -> openai.OpenAI:
    """The official client, without retries, which would hide errors."""
    return openai.OpenAI(base_url=f"{server.url}/v1", api_key=server.token, max_retries=0)


@pytest.fixture
def client(api: Serving) -> Iterator[openai.OpenAI]:
    with official(api) as made:
        yield made
