"""The embedded model and its server, with real weights."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import bough
from bough import formats, providers, user
from bough.errors import ProviderError
from bough.providers import local, model_file
from bough.providers.types import Provider

QUESTION = [{"role": "user", "content": "Name three fruits."}]
STORY = [{"role": "user", "content": "Tell me a very long story about the sea."}]


@pytest.fixture
def cache(weights_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BOUGH_CACHE", str(weights_cache))
    return weights_cache


@pytest.fixture(scope="module")
def server(weights_cache: Path) -> local.LocalServer:
    """Held for as long as these tests run, so that the weights are loaded once."""
    return local.load(model_file.place(weights_cache))


@pytest.fixture
def embedded(cache: Path, server: local.LocalServer) -> Iterator[Provider]:
    found = providers.find("local", {"local": {"options": {"temperature": 0}}})
    yield found
    found.close()


def test_the_embedded_model_streams_a_reply_and_counts_tokens(embedded: Provider) -> None:
    answer = embedded.ask(QUESTION, instructions="You are a greengrocer.", max_tokens=24)
    pieces = list(answer)
    assert len(pieces) > 3
    assert {piece.kind for piece in pieces} == {"text"}
    reply = answer.reply()
    assert "".join(piece.text for piece in pieces) == reply["choices"][0]["message"]["content"]
    assert reply["model"] == "SmolLM2-135M-Instruct.Q4_1"
    assert (embedded.name, embedded.model, embedded.window) == ("local", model_file.NAME, local.WINDOW)
    assert (answer.usage.input_tokens or 0) > 10
    assert 0 < (answer.usage.output_tokens or 0) <= 24
    assert answer.usage.cost == 0.0


def test_a_turn_with_the_embedded_model_is_stored_and_continued(embedded: Provider, tmp_path: Path) -> None:
    with bough.connect(tmp_path / "b.db") as store:
        session = store.session("cli:default")
        for question in ("Name a fruit.", "And another one?"):
            with session.turn(question) as turn:
                answer = embedded.ask(turn.context(embedded.format, embedded.window).payload, max_tokens=8)
                list(answer)
                turn.add(answer.reply(), provider=embedded.name, model=embedded.model, usage=answer.usage)
        assert [node.message.role for node in session.path()] == ["user", "assistant"] * 2
        assert session.usage().usage.cost == 0.0


def test_a_stopped_reply_keeps_its_text_and_releases_the_model(embedded: Provider) -> None:
    answer = embedded.ask(STORY, max_tokens=100_000)
    pieces = iter(answer)
    came = "".join(next(pieces).text for _ in range(3))
    answer.close()
    assert list(pieces) == []
    assert answer.reply()["choices"][0]["message"]["content"] == came
    assert list(embedded.ask(QUESTION, max_tokens=4))  # would wait for hours behind the story


def test_a_dialog_longer_than_the_context_window_is_an_error(embedded: Provider) -> None:
    with pytest.raises(ProviderError, match="local cannot read that much") as caught:
        list(embedded.ask([{"role": "user", "content": "sea " * 5000}]))
    assert caught.value.kind == "context_too_long"


def test_providers_of_one_model_share_its_weights(server: local.LocalServer, weights_cache: Path) -> None:
    assert local.load(model_file.place(weights_cache)) is server


@pytest.mark.parametrize("type", ["openai", "openai.responses", "anthropic"])
def test_the_server_of_the_model_speaks_every_protocol(server: local.LocalServer, tmp_path: Path, type: str) -> None:
    table = {"base_url": server.base_url, "api_key": server.key, "type": type, "options": {"temperature": 0}}
    mine = providers.find("mine:smol", {"mine": table})
    with bough.connect(tmp_path / "b.db") as store, closing(mine):
        session = store.session("cli:default")
        with session.turn("Name three fruits.") as turn:
            answer = mine.ask(turn.context(mine.format).payload, instructions="You are a greengrocer.", max_tokens=24)
            pieces = [piece.text for piece in answer if piece.kind == "text"]
            turn.add(answer.reply(), usage=answer.usage)
        assert session.path()[-1].message.text == "".join(pieces)
        assert len(pieces) > 3
        assert (session.usage().usage.input_tokens or 0) > 10
        assert 0 < (session.usage().usage.output_tokens or 0) <= 24


@pytest.mark.parametrize("type", ["openai", "openai.responses", "anthropic"])
def test_the_server_of_the_model_refuses_requests_without_its_key(server: local.LocalServer, type: str) -> None:
    mine = providers.find("mine:smol", {"mine": {"base_url": server.base_url, "api_key": "guessed", "type": type}})
    with pytest.raises(ProviderError, match="does not accept the key") as caught:
        mine.ask(formats.get(mine.format).encode([user("hello")]).payload)
    assert caught.value.kind == "key"


INTERRUPTED = """
import os, signal, sys
from bough import providers
answer = providers.find("local:" + sys.argv[1]).ask([{"role": "user", "content": "Tell me a long story."}])
try:
    for number, piece in enumerate(answer):
        if number == 3:
            os.kill(os.getpid(), signal.SIGINT)
except KeyboardInterrupt:
    print(repr(answer.reply()["choices"][0]["message"]["content"]))
"""


def test_ctrl_c_keeps_the_partial_reply_and_llama_cpp_prints_nothing(weights_cache: Path) -> None:
    words = [sys.executable, "-c", INTERRUPTED, str(model_file.place(weights_cache))]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 1
    assert len(done.stdout) > 5


def test_the_code_of_the_page_about_providers_runs(weights_cache: Path, tmp_path: Path) -> None:
    page = Path(__file__).parents[2] / "docs" / "providers.md"
    (code,) = re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "BOUGH_CACHE": str(weights_cache)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_an_invalid_model_file_is_refused_without_output(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "junk.gguf").write_bytes(b"junk" * 100)
    provider = providers.find(f"local:{tmp_path / 'junk.gguf'}")
    with pytest.raises(ProviderError, match=r"junk\.gguf' cannot be loaded") as caught:
        provider.ask(QUESTION)
    assert caught.value.kind == "refused"
    assert capfd.readouterr() == ("", "")


def test_the_error_for_missing_weights_or_packages_states_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOUGH_CACHE", str(tmp_path))
    with pytest.raises(ProviderError, match=r"bough local install$") as caught:
        providers.find("local")
    assert caught.value.kind == "not_found"
    with pytest.raises(ProviderError, match=r"There is no file 'nowhere\.gguf'"):
        providers.find("local:nowhere.gguf")
    for package in ("xllamacpp", "httpx2"):
        with monkeypatch.context() as without:
            without.setitem(sys.modules, package, None)
            for spec in ("local", "local:nowhere.gguf"):
                with pytest.raises(ProviderError, match=r"pip install 'bough\[local\]'$"):
                    providers.find(spec)
