"""A bot with real parts on loopback: a service, a model, a store."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest

import bough
from bough import Node, Store
from bough.agent import Stop
from bough.channels.bot import Bot
from bough.channels.delivery import PLACEHOLDER
from bough.channels.services import open_service
from bough.channels.settings import ChannelSettings
from bough.config import load
from bough.runtime.agents import Runtime
from tests.channels.echo_model import EchoModel
from tests.channels.fake_discord import FakeDiscord
from tests.channels.fake_telegram import FakeTelegram

PATIENCE = 20.0


def until(true: Callable[[], Any], what: str = "") -> Any:
    """Wait until something is true."""
    ends_at = time.monotonic() + PATIENCE
    while time.monotonic() < ends_at:
        if found := true():
            return found
        time.sleep(0.01)
    raise AssertionError(f"It did not happen in {PATIENCE:g} s. {what}")


class Fake(Protocol):
    """A chat service on loopback."""

    name: str

    @property
    def settings(self) -> str: ...

    def texts(self, chat: Any) -> list[str]: ...


class Conversations:
    """A running bot on chat services, its store, and the people who talk to it."""

    def __init__(self, fakes: Sequence[Fake], model: EchoModel, directory: Path, where: dict[str, Any]) -> None:
        self.model = model
        self.config = directory / "config.toml"
        self._fakes = fakes
        self._where = where
        self.store: Store = bough.connect(**where)
        self.configure()

    def configure(self, channel: str = 'allow = ["7"]', rest: str = "") -> None:
        """Write the configuration; `channel` are lines of every `[channels.NAME]`."""
        tables = "\n".join(f"[channels.{fake.name}]\n{fake.settings}\n{channel}" for fake in self._fakes)
        self.config.write_text(
            f'[run]\nmodel = "echo:echo"\n[providers.echo]\ntype = "openai"\nbase_url = "{self.model.url}"\n'
            f'api_key = "k"\n{tables}\n{rest}\n'
        )

    @contextmanager
    def running(self) -> Iterator[Stop]:
        """Run the bot, in threads, with a store of its own."""
        config, stop, ready = load(self.config), Stop(), threading.Semaphore(0)
        settings = [ChannelSettings.of(config, fake.name) for fake in self._fakes]
        services = [(open_service(one), one) for one in settings]
        failed: list[BaseException] = []
        with bough.connect(**self._where) as store, Runtime(config) as runtime:

            def run() -> None:
                try:
                    Bot(store, runtime, services, stop).run(lambda _: ready.release())
                except BaseException as error:
                    failed.append(error)
                    for _ in services:
                        ready.release()

            thread = threading.Thread(target=run, daemon=True)
            thread.start()
            for _ in services:
                assert ready.acquire(timeout=PATIENCE)
            try:
                yield stop
            finally:
                stop.set(by_user=False)
                thread.join(PATIENCE)
                assert not thread.is_alive()
        for error in failed:
            raise error

    def open(self) -> list[Any]:
        """The events that are not done."""
        return [row for fake in self._fakes for row in self.store.db.rows("open_channel_events", fake.name)]

    def answered_in(self, fake: Fake, count: int, chat: Any) -> list[str]:
        """The bot's messages in a chat, once there are so many and nothing is open."""

        def is_complete() -> bool:
            texts = fake.texts(chat)
            return len(texts) >= count and PLACEHOLDER not in texts and not self.open()

        until(is_complete, f"The bot has sent fewer messages, or not finished them: {fake.texts(chat)}")
        return fake.texts(chat)

    def path(self, key: str) -> list[Node]:
        return self.store.session(key).path()

    def dialog(self, key: str) -> list[str]:
        """The texts of a session."""
        return [node.message.text for node in self.path(key)]

    def close(self) -> None:
        assert self.store.verify() == []
        self.store.close()


class Talk(Conversations):
    """A bot on Telegram."""

    def __init__(self, telegram: FakeTelegram, model: EchoModel, directory: Path, where: dict[str, Any]) -> None:
        self.telegram = telegram
        super().__init__([telegram], model, directory, where)

    def answered(self, count: int, chat: int = 7) -> list[str]:
        return self.answered_in(self.telegram, count, chat)

    def path(self, key: str = "telegram:7") -> list[Node]:
        return super().path(key)

    def dialog(self, key: str = "telegram:7") -> list[str]:
        return super().dialog(key)


class DiscordTalk(Conversations):
    """A bot on Discord."""

    def __init__(self, discord: FakeDiscord, model: EchoModel, directory: Path, where: dict[str, Any]) -> None:
        self.discord = discord
        super().__init__([discord], model, directory, where)

    def answered(self, count: int, chat: str = "97") -> list[str]:
        return self.answered_in(self.discord, count, chat)

    def say(self, text: str, **fields: Any) -> str:
        """Somebody sends a direct message."""
        return self.discord.say(text, self.discord.direct(), **fields)

    def dialog(self, key: str = "discord:dm:7") -> list[str]:
        return super().dialog(key)


@pytest.fixture
def telegram() -> Iterator[FakeTelegram]:
    with FakeTelegram() as service:
        yield service


@pytest.fixture
def model() -> Iterator[EchoModel]:
    with EchoModel() as model:
        yield model


@pytest.fixture
def talk(telegram: FakeTelegram, model: EchoModel, tmp_path: Path) -> Iterator[Talk]:
    talk = Talk(telegram, model, tmp_path, {"where": tmp_path / "s.db"})
    yield talk
    talk.close()


@pytest.fixture
def discord(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeDiscord]:
    monkeypatch.setattr("bough.channels.discord.client.READY_SECONDS", 0.1)
    with FakeDiscord() as service:
        yield service


@pytest.fixture
def chat(discord: FakeDiscord, model: EchoModel, tmp_path: Path) -> Iterator[DiscordTalk]:
    chat = DiscordTalk(discord, model, tmp_path, {"where": tmp_path / "s.db"})
    yield chat
    chat.close()
