"""The client of discord.py, on an event loop in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

import aiohttp
import discord
import yarl

from bough.errors import ChannelError, ChannelErrorKind

T = TypeVar("T")

ANSWER_SECONDS = 45.0
LONGEST_WAIT = 30.0
"""Seconds that discord.py itself waits for a limit to end; a longer wait is an error, which says how long."""
READY_SECONDS = 1.0
"""How long the first guilds are waited for, after the last one."""
HEARTBEAT_SECONDS = 60.0
"""Seconds without a heartbeat after which the gateway counts as dead."""
UNKNOWN_CHANNEL, UNKNOWN_MESSAGE, TOO_LARGE = 10003, 10008, 40005
"""Codes of Discord's errors."""


def use_addresses(api_url: str | None, gateway_url: str | None) -> None:
    """Use a Discord elsewhere. discord.py has the two addresses in attributes of its classes only."""
    from discord.gateway import DiscordWebSocket
    from discord.http import Route

    if api_url:
        Route.BASE = api_url.rstrip("/")
    if gateway_url:
        DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(gateway_url)


class DiscordClient:
    """One client. Its coroutines are called from any thread."""

    def __init__(self, token: str, api_url: str | None = None, gateway_url: str | None = None) -> None:
        use_addresses(api_url, gateway_url)
        discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False  # it does not speak
        self._token = token
        self._lock = threading.Lock()
        self._is_logged_in = False
        self._loop = asyncio.new_event_loop()
        intents = discord.Intents(
            guilds=True, messages=True, message_content=True, reactions=True
        )  # fmt: skip
        self.client = discord.Client(
            intents=intents, allowed_mentions=discord.AllowedMentions.none(), guild_ready_timeout=READY_SECONDS,
            chunk_guilds_at_startup=False, max_messages=None, max_ratelimit_timeout=LONGEST_WAIT,
            heartbeat_timeout=HEARTBEAT_SECONDS,
        )  # fmt: skip
        self._thread = threading.Thread(target=self._loop.run_forever, name="discord", daemon=True)
        self._thread.start()

    def call(self, work: Callable[[discord.Client], Coroutine[Any, Any, T]]) -> T:
        """The result of a coroutine. Raises `ChannelError`; after `unreachable` it may have been carried out."""
        self.log_in()
        return self._wait(self.start(work(self.client)))

    def start(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        """Run a coroutine in the background."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def log_in(self) -> None:
        """Check the token, once. Raises `ChannelError`."""
        with self._lock:
            if not self._is_logged_in:
                self._wait(self.start(self._log_in()))
                self._is_logged_in = True

    def close(self) -> None:
        """Close the connections, and end the thread."""
        if not self._thread.is_alive():
            return
        try:
            self._wait(self.start(self.client.close()))
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    async def _log_in(self) -> None:
        try:
            await self.client.login(self._token)
        except BaseException:
            await self.client.http.close()
            self.client.http.connector = discord.utils.MISSING  # the next attempt makes another one
            raise

    def _wait(self, future: Future[T]) -> T:
        try:
            return future.result(ANSWER_SECONDS)
        except TimeoutError:
            future.cancel()
            raise ChannelError(f"Discord did not answer in {ANSWER_SECONDS:g} s.", "unreachable") from None
        except Exception as error:
            raise translated(error) from error


def translated(error: BaseException) -> ChannelError:
    """The error of discord.py as one of bough. Anything that is not an answer of Discord means: not reached."""
    if isinstance(error, ChannelError):
        return error
    if isinstance(error, discord.LoginFailure):
        return ChannelError("Discord does not accept the token.", "token")
    if isinstance(error, discord.PrivilegedIntentsRequired):
        return ChannelError("Discord: enable the Message Content intent in the settings of the bot.", "token")
    if isinstance(error, discord.ConnectionClosed):
        return ChannelError(f"Discord closed the connection ({error.code}).", "token")
    if isinstance(error, discord.RateLimited):
        return ChannelError("Discord: too many requests.", "rate_limit", error.retry_after)
    if isinstance(error, discord.HTTPException):
        return ChannelError(f"Discord: {error.status} {error.text}", kind_of(error))
    if isinstance(error, (OSError, aiohttp.ClientError, asyncio.CancelledError)):
        return ChannelError(f"Discord: {type(error).__name__}", "unreachable")
    return ChannelError(f"Discord: {type(error).__name__}: {error}", "rejected")


def kind_of(error: discord.HTTPException) -> ChannelErrorKind:
    """What an answer of Discord's API means for its caller."""
    if error.code == UNKNOWN_MESSAGE:
        return "message_gone"
    if error.status == 403 or error.code == UNKNOWN_CHANNEL:
        return "chat_gone"
    if error.status == 413 or error.code == TOO_LARGE:
        return "too_large"
    match error.status:
        case 401:
            return "token"
        case 429:
            return "rate_limit"
    return "unreachable" if error.status >= 500 else "rejected"
