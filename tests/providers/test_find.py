"""Finding a provider by its spec, and the default provider."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bough import providers
from bough.errors import ProviderError
from bough.providers.catalog import SERVICES

KEYS = {service.key_env: "sk-key" for service in SERVICES.values() if service.key_env}


@pytest.mark.parametrize(
    ("spec", "name", "model", "format"),
    [
        ("openai:gpt-5", "openai", "gpt-5", "openai.responses"),
        ("openai", "openai", "gpt-5.4-mini", "openai.responses"),
        ("anthropic:claude-haiku-5-5", "anthropic", "claude-haiku-5-5", "anthropic"),
        ("claude-haiku-5-5", "anthropic", "claude-haiku-5-5", "anthropic"),
        ("gpt-5", "openai", "gpt-5", "openai.responses"),
        ("ollama:llama3.2:1b", "ollama", "llama3.2:1b", "openai.chat"),
        ("openrouter:meta/llama:free", "openrouter", "meta/llama:free", "openai.chat"),
        ("openrouter/meta/llama:free", "openrouter", "meta/llama:free", "openai.chat"),
    ],
)
def test_a_spec_consists_of_a_provider_and_a_model(spec: str, name: str, model: str, format: str) -> None:
    found = providers.find(spec, environ=KEYS)
    assert (found.name, found.model, found.format) == (name, model, format)
    assert providers.find(f"{found.name}:{found.model}", environ=KEYS).model == model


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_is_found_by_its_name(name: str) -> None:
    assert providers.find(f"{name}:some-model", environ=KEYS).name == name


def test_a_table_of_the_configuration_names_a_provider_or_changes_a_known_one() -> None:
    settings: dict[str, dict[str, Any]] = {
        "mine": {"base_url": "http://model.test/v1", "type": "anthropic", "model": "m-1", "window": 999},
        "openai": {"type": "openai", "api_key_env": "OTHER"},
    }
    mine = providers.find("mine", settings, {})
    assert (mine.name, mine.model, mine.format, mine.window) == ("mine", "m-1", "anthropic", 999)
    assert providers.find("openai:gpt-5", settings, {"OTHER": "sk-key"}).format == "openai.chat"


def test_the_configuration_may_name_the_dialect_of_a_server() -> None:
    table = {"base_url": "https://models.test/v1", "model": "m"}
    assert getattr(providers.find("mine", {"mine": table}, {}), "dialect", None) is None
    assert getattr(providers.find("mine", {"mine": {**table, "dialect": "vllm"}}, {}), "dialect", None) == "vllm"
    with pytest.raises(ProviderError, match=r"\[providers.mine\] dialect: There is no dialect 'x'; there are openai,"):
        providers.find("mine", {"mine": {**table, "dialect": "x"}}, {})


@pytest.mark.parametrize("base_url", ["http://model.test/v1", "http://model.test"])
def test_a_base_url_in_the_environment_is_used(base_url: str) -> None:
    environ = {**KEYS, "OPENAI_BASE_URL": base_url}
    assert providers.find("openai:gpt-5", environ=environ).format == "openai.chat"


@pytest.mark.parametrize(
    ("spec", "kind", "why"),
    [
        ("openai:gpt-5", "key", "set OPENAI_API_KEY"),
        ("anthropic", "key", "set ANTHROPIC_API_KEY"),
        ("vllm", "not_found", "vllm:MODEL"),
        ("nobody:x", "not_found", r"configure \[providers.nobody\]"),
        ("", "not_found", "Nobody is known as ''"),
        ("some words", "not_found", "Nobody is known as 'some words'"),
    ],
)
def test_the_error_for_an_unknown_provider_states_what_to_do(spec: str, kind: str, why: str) -> None:
    with pytest.raises(ProviderError, match=why) as caught:
        providers.find(spec, environ={})
    assert caught.value.kind == kind


def test_the_error_without_the_http_library_states_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(ProviderError, match=r"pip install 'bough\[run\]'$"):
        providers.find("openai:gpt-5", environ=KEYS)


def test_a_key_that_is_no_valid_header_is_refused_without_showing_it() -> None:
    with pytest.raises(ProviderError, match="copy it again") as caught:
        providers.find("openai:gpt-5", environ={"OPENAI_API_KEY": "sk-pasted…half"})
    assert "pasted" not in str(caught.value)
    providers.find("openai:gpt-5", environ={"OPENAI_API_KEY": " sk-key\n"})


def test_an_unknown_type_is_an_error() -> None:
    with pytest.raises(ProviderError, match="'beans'; there are openai"):
        providers.find("mine:m", {"mine": {"base_url": "http://model.test", "type": "beans"}}, {})


@pytest.mark.parametrize(
    ("environ", "settings", "spec"),
    [
        ({}, {}, "local"),
        ({"OPENAI_API_KEY": "sk-key"}, {}, "openai:gpt-5.4-mini"),
        ({"OPENAI_API_KEY": "sk-key", "ANTHROPIC_API_KEY": "sk-key"}, {}, "anthropic:claude-sonnet-5-5"),
        ({"OPENAI_API_KEY": "sk-key"}, {"mine": {"base_url": "http://model.test", "model": "m"}}, "mine:m"),
        ({}, {"openai": {"api_key": "sk-key", "model": "gpt-5"}}, "openai:gpt-5"),
        ({}, {"openai": {"model": "gpt-5"}}, "local"),
        ({"OPENAI_API_KEY": ""}, {"mine": {"base_url": "http://model.test"}}, "local"),
    ],
)
def test_the_default_provider_is_the_one_with_a_key(
    environ: dict[str, str], settings: dict[str, dict[str, str]], spec: str
) -> None:
    assert providers.default(environ, settings) == spec


PLUGIN = """
from bough import ProviderError
class Parrot:
    name, format, window = "parrot", "openai.chat", None
    def __init__(self, model, table):
        self.model = f"{model}+{table}"
def broken(model, table):
    raise ValueError("no seeds")
def hungry(model, table):
    raise ProviderError("The parrot is hungry.", kind="refused")
"""


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package with entry points, as pip leaves it."""
    (tmp_path / "parrots_of_bough.py").write_text(PLUGIN)
    info = tmp_path / "parrots_of_bough-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: parrots-of-bough\nVersion: 1\n")
    points = [("parrot", "Parrot"), ("broken", "broken"), ("hungry", "hungry")]
    lines = [f"{name} = parrots_of_bough:{thing}" for name, thing in points]
    (info / "entry_points.txt").write_text("\n".join(["[bough.providers]", *lines]))
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("plugins")
def test_an_installed_package_can_add_a_provider() -> None:
    found = providers.find("parrot:grey", {"parrot": {"window": 7}})
    assert (found.name, found.model) == ("parrot", "grey+{'window': 7}")


@pytest.mark.usefixtures("plugins")
def test_the_error_of_a_broken_package_names_it() -> None:
    with pytest.raises(
        ProviderError, match="parrots_of_bough:broken, which should answer to 'broken', failed: no seeds"
    ):
        providers.find("broken")
    with pytest.raises(ProviderError, match="hungry") as caught:
        providers.find("hungry:x")
    assert caught.value.kind == "refused"


def test_finding_a_script_imports_no_http_library() -> None:
    script = "import sys; from bough import providers; providers.default({}); providers.find(sys.argv[1]); "
    script += "print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script, f"scripted:{__file__}"], capture_output=True, text=True, check=True
    )
    assert not {"httpx2", "xllamacpp", "genai_prices", "importlib.metadata"} & set(done.stdout.split())
