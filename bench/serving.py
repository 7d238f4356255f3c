"""What `bough serve` adds to a request, compared with the same request straight to the provider."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import httpx2

from bench.measure import Result, Scale, Work, contest

STREAMS = 100
"""At the same time."""


def measure(scale: Scale, directory: Path) -> Iterator[Result]:
    streams = min(STREAMS, scale.conversations)
    with provider() as upstream, server(directory, upstream) as (process, api):
        with httpx2.Client(trust_env=False, timeout=60) as client:
            straight = asking(client, f"{upstream}/chat/completions", chat())
            for name, path, body in (
                ("stored response", "responses", {"model": "up:m", "input": "hello", "stream": True}),
                ("chat completion", "chat/completions", chat("up:m")),
            ):
                found = contest(2 * scale.rounds, asking(client, f"{api.url}/{path}", body, api.token), straight)
                yield Result(f"a streamed {name} through `bough serve`, to the provider alone", found.ratio,
                             detail=found.detail())  # fmt: skip
            made = client.post(f"{api.url}/responses", json={"model": "up:m", "input": "hello"}, headers=api.headers)
            id = made.json()["id"]
            times = [timed(lambda: client.get(f"{api.url}/responses/{id}", headers=api.headers)) for _ in range(50)]
            yield Result("`GET` of a stored response", median(times) * 1000, " ms")
            yield chain(client, api, 10 * scale.rounds)
        seconds = asyncio.run(together(api, streams))
        yield Result(f"{streams} streams at the same time through `bough serve`: requests in a second",
                     streams / seconds, "")  # fmt: skip
        yield Result(f"peak memory of `bough serve` after {streams} streams", memory(process.pid), " MB")


def chat(model: str = "m") -> dict[str, Any]:
    return {"model": model, "messages": [{"role": "user", "content": "hello"}], "stream": True}


class Api:
    """A running server."""

    def __init__(self, url: str, token: str) -> None:
        self.url = f"{url}/v1"
        self.token = token
        self.headers = {"Authorization": f"Bearer {token}"}


@contextmanager
def provider() -> Iterator[str]:
    with subprocess.Popen([sys.executable, "-m", "bench.upstream"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


@contextmanager
def server(directory: Path, upstream: str) -> Iterator[tuple[subprocess.Popen[str], Api]]:
    config, token = directory / "serving.toml", directory / "token"
    config.write_text(f'[providers.up]\nbase_url = "{upstream}"\n')
    words = ["--config", str(config), "--db", str(directory / "serving.db"), "serve", "--port", "0"]
    command = [sys.executable, "-m", "bough", *words, "--token-file", str(token)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            url = process.stdout.readline().split()[-1]
            yield process, Api(url, token.read_text().strip())
        finally:
            process.kill()


def asking(client: httpx2.Client, url: str, body: dict[str, Any], token: str = "none") -> Callable[[int], Work]:
    def ask() -> None:
        with client.stream("POST", url, json=body, headers={"Authorization": f"Bearer {token}"}) as response:
            assert response.status_code == 200, response.read()
            for _ in response.iter_raw():
                pass

    return lambda _: ask


def timed(work: Work) -> float:
    began = perf_counter()
    work()
    return perf_counter() - began


def chain(client: httpx2.Client, api: Api, length: int) -> Result:
    """The time of the last tenth of a chain of responses, to that of the first."""
    previous, times = None, []
    for _ in range(length):
        body = {"model": "up:m", "input": "on", "previous_response_id": previous, "truncation": "disabled"}
        began = perf_counter()
        previous = client.post(f"{api.url}/responses", json=body, headers=api.headers).json()["id"]
        times.append(perf_counter() - began)
    tenth = max(1, length // 10)
    first, last = median(times[:tenth]), median(times[-tenth:])
    return Result(f"the last of {length:,} chained responses, to the first", last / first,
                  detail=f"{last * 1000:.1f} ms : {first * 1000:.1f} ms")  # fmt: skip


async def together(api: Api, count: int) -> float:
    """Seconds for so many streams at the same time."""
    limits = httpx2.Limits(max_connections=count)
    async with httpx2.AsyncClient(trust_env=False, timeout=120, limits=limits) as client:

        async def one(number: int) -> None:
            body = {"model": "up:m", "input": f"hello {number}", "stream": True}
            async with client.stream("POST", f"{api.url}/responses", json=body, headers=api.headers) as response:
                text = (await response.aread()).decode()
                assert "response.completed" in text, text[-300:]

        began = perf_counter()
        await asyncio.gather(*(one(number) for number in range(count)))
        return perf_counter() - began


def memory(process: int) -> float:
    """The peak of the memory of a process, in megabytes."""
    status = Path(f"/proc/{process}/status").read_text("utf-8")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1024
