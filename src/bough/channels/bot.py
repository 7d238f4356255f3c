"""A bot: channels that receive events, workers that answer them, until it is stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from bough.agent import Stop
from bough.channels.channel import Channel, log
from bough.channels.commands import COMMANDS
from bough.channels.handling import handle
from bough.channels.leadership import RENEW_SECONDS, Leadership
from bough.channels.receiver import Receiver
from bough.channels.workers import Workers
from bough.errors import BoughError

if TYPE_CHECKING:
    from bough.channels.service import ChatService
    from bough.channels.settings import ChannelSettings
    from bough.runtime.agents import Runtime
    from bough.store import Store


class Bot:
    """Runs channels until `stop` is set."""

    def __init__(
        self, store: Store, runtime: Runtime, services: Sequence[tuple[ChatService, ChannelSettings]], stop: Stop
    ) -> None:
        self._stop = stop
        self._channels = [ChannelRunner(Channel(one, store, runtime, settings, stop)) for one, settings in services]

    def run(self, ready: Callable[[str], None] = lambda _: None) -> None:
        """Run the channels; `ready` is called with the name of each that receives. Raises the first error of one."""
        threads = [
            threading.Thread(target=self._run, args=(runner, ready), name=runner.name, daemon=True)
            for runner in self._channels
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for runner in self._channels:
            if runner.error is not None:
                raise runner.error

    def _run(self, runner: ChannelRunner, ready: Callable[[str], None]) -> None:
        try:
            runner.run(ready)
        except BoughError as error:
            runner.error = error
            self._stop.set(by_user=False)


class ChannelRunner:
    """Runs one channel, whenever no other process does."""

    def __init__(self, channel: Channel) -> None:
        self.name = channel.service.name
        self.error: BoughError | None = None
        self._channel = channel
        self._leadership = Leadership(channel.store, self.name)

    def run(self, ready: Callable[[str], None]) -> None:
        """Wait for the lease, answer what was left open, and receive until the stop. Raises `ChannelError`."""
        channel = self._channel
        try:
            while not channel.stop.is_set:
                if self._leadership.take():
                    self._lead(ready)
                    return
                channel.stop.wait(RENEW_SECONDS)
        finally:
            channel.service.close()

    def _lead(self, ready: Callable[[str], None]) -> None:
        channel = self._channel
        workers = Workers(partial(handle, channel))
        renewing = threading.Thread(target=self._renew, name=f"{self.name} lease", daemon=True)
        renewing.start()
        try:
            channel.inbox.prune()
            workers.add(channel.inbox.open())
            channel.service.announce([(command.name, command.about) for command in COMMANDS.values()])
            channel.service.receive(Receiver(channel, workers, ready), channel.stop)
        finally:
            workers.close()
            self._leadership.give_up()

    def _renew(self) -> None:
        while not self._channel.stop.wait(RENEW_SECONDS):
            try:
                if not self._leadership.take():
                    log.error("%s: another process runs this channel now; this one stops.", self.name)
                    self._channel.stop.set(by_user=False)
            except BoughError as error:  # the lease lasts longer than one renewal
                log.warning("%s: the lease was not renewed: %s", self.name, error)
