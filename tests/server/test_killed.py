"""A server that is killed under load has kept every response that it acknowledged, once, and nobody is stuck."""

from __future__ import annotations

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import openai
import pytest

import bough
from tests.server.openai.conftest import official, scripted
from tests.server.serving import Serving, serving


def storm(directory: Path, kills: int, clients: int = 4) -> int:
    """Kills servers while clients talk; then checks what they were told. The number of acknowledged responses."""
    acknowledged: list[tuple[str, str]] = []
    chains: list[str | None] = [None] * clients
    config = scripted(directory)

    def talk(api: Serving, number: int, stop: threading.Event) -> None:
        client = official(api)
        while not stop.is_set():
            words = f"{number}:{random.random()}"
            try:
                made = client.responses.create(input=words, previous_response_id=chains[number])
            except (openai.APIConnectionError, openai.InternalServerError, httpx2.HTTPError):
                return
            acknowledged.append((made.id, words))
            chains[number] = made.id

    for _ in range(kills):
        with serving(directory, config=config) as api, ThreadPoolExecutor(clients) as pool:
            stop = threading.Event()
            jobs = [pool.submit(talk, api, number, stop) for number in range(clients)]
            background = official(api).responses.create(model="slow", input="left", background=True)
            time.sleep(random.uniform(0.1, 0.6))
            api.process.kill()
            stop.set()
            for job in jobs:
                job.result(30)
        with serving(directory, config=config) as api:
            assert official(api).responses.retrieve(background.id).status in ("failed", "completed")
    with serving(directory, config=config) as api:
        client = official(api)
        for id, words in acknowledged[-40:]:
            items = client.responses.input_items.list(id, limit=1)
            assert words in str(items.data[0].to_dict(warnings=False))
        for id in filter(None, chains):
            assert client.responses.create(input="on", previous_response_id=id).status == "completed"
    with bough.connect(directory / "s.db") as store:
        said = [node.message.text for node in store.list_messages() if node.role == "user"]
        assert all(said.count(words) == 1 for _, words in acknowledged)
        assert not store.verify()
    return len(acknowledged)


def test_a_server_that_is_killed_loses_and_doubles_nothing(tmp_path: Path) -> None:
    assert storm(tmp_path, kills=2) > 0


@pytest.mark.soak
def test_a_storm_of_kills_loses_and_doubles_nothing(tmp_path: Path) -> None:
    assert storm(tmp_path, kills=200) > 0
