"""A bot with real parts on loopback: a service, a model, a store."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import bough
from bough import Node, Store
from bough.agent import Stop
from bough.channels.bot import Bot
from bough.channels.delivery import PLACEHOLDER
from bough.channels.settings import ChannelSettings
from bough.channels.telegram.service import Telegram
from bough.config import load
from bough.runtime.agents import Runtime
from tests.channels.echo_model import EchoModel
from tests.channels.fake_telegram import TOKEN, FakeTelegram

PATIENCE = 20.0


def until(true: Callable[[], Any], what: str = "") -> Any:
    """Wait until something is true."""
    ends_at = time.monotonic() + PATIENCE
    while time.monotonic() < ends_at:
        if found := true():
            return found
        time.sleep(0.01)
    raise AssertionError(f"It did not happen in {PATIENCE:g} s. {what}")


class Talk:
    """A running bot on Telegram, its store, and the people who talk to it."""

    def __init__(self, telegram: FakeTelegram, model: EchoModel, directory: Path, where: dict[str, Any]) -> None:
        self.telegram = telegram
        self.model = model
        self.config = directory / "config.toml"
        self._where = where
        self.store: Store = bough.connect(**where)
        self.configure()

    def configure(self, channel: str = 'allow = ["7"]', rest: str = "") -> None:
        """Write the configuration; `channel` are the lines of `[channels.telegram]`."""
        self.config.write_text(
            f'[run]\nmodel = "echo:echo"\n[providers.echo]\ntype = "openai"\nbase_url = "{self.model.url}"\n'
            f'api_key = "k"\n[channels.telegram]\nbase_url = "{self.telegram.url}"\n{channel}\n{rest}\n'
        )

    @contextmanager
    def running(self) -> Iterator[Stop]:
        """Run the bot, in threads, with a store of its own."""
        config, stop, ready = load(self.config), Stop(), threading.Event()
        service = Telegram(TOKEN, self.telegram.url)
        settings = ChannelSettings.of(config, "telegram")
        failed: list[BaseException] = []
        with bough.connect(**self._where) as store, Runtime(config) as runtime:

            def run() -> None:
                try:
                    Bot(store, runtime, [(service, settings)], stop).run(lambda _: ready.set())
                except BaseException as error:
                    failed.append(error)
                    ready.set()

            thread = threading.Thread(target=run, daemon=True)
            thread.start()
            assert ready.wait(PATIENCE)
            try:
                yield stop
            finally:
                stop.set(by_user=False)
                thread.join(PATIENCE)
                assert not thread.is_alive()
        for error in failed:
            raise error

    def answered(self, count: int, chat: int = 7) -> list[str]:
        """The bot's messages in a chat, once there are so many and nothing is open."""

        def is_complete() -> bool:
            texts = self.telegram.texts(chat)
            return len(texts) >= count and PLACEHOLDER not in texts and not self.open()

        until(is_complete, "The bot has sent fewer messages, or not finished them.")
        return self.telegram.texts(chat)

    def open(self) -> list[Any]:
        """The events that are not done."""
        return self.store.db.rows("open_channel_events", "telegram")

    def path(self, key: str = "telegram:7") -> list[Node]:
        return self.store.session(key).path()

    def dialog(self, key: str = "telegram:7") -> list[str]:
        """The texts of a session."""
        return [node.message.text for node in self.path(key)]

    def close(self) -> None:
        assert self.store.verify() == []
        self.store.close()


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
