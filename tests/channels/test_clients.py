"""The most used clients of Telegram and Discord talk to the services on loopback that the other tests use.

`make soak` installs them: hikari and python-telegram-bot.
"""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Any

import pytest

from tests.channels.fake_discord import TOKEN as DISCORD_TOKEN
from tests.channels.fake_discord import FakeDiscord
from tests.channels.fake_telegram import TOKEN, ApiError, FakeTelegram

pytestmark = pytest.mark.soak


async def until(true: Any) -> Any:
    for _ in range(1000):
        if found := true():
            return found
        await asyncio.sleep(0.02)
    raise AssertionError("It did not happen in 20 s.")


@pytest.mark.filterwarnings("ignore:Deprecated since version")
def test_python_telegram_bot_is_served(telegram: FakeTelegram) -> None:
    asyncio.run(drive_telegram(telegram))


async def drive_telegram(telegram: FakeTelegram) -> None:
    from telegram import Bot, InlineKeyboardButton, InlineKeyboardMarkup
    from telegram.error import BadRequest, RetryAfter

    async with Bot(TOKEN, base_url=f"{telegram.url}/bot", base_file_url=f"{telegram.url}/file/bot") as bot:
        assert bot.username == "bough_bot"
        telegram.say("Hello", photo=b"picture")
        (update,) = await bot.get_updates(timeout=1)
        assert update.message is not None
        file = await update.message.photo[0].get_file()
        assert bytes(await file.download_as_bytearray()) == b"picture"
        assert await bot.get_updates(offset=update.update_id + 1, timeout=0) == ()
        buttons = InlineKeyboardMarkup([[InlineKeyboardButton("Go", callback_data="branches x")]])
        sent = await bot.send_message(7, "<b>one</b>", parse_mode="HTML", reply_markup=buttons)
        assert (await bot.edit_message_text("two", 7, sent.message_id)).text == "two"
        with pytest.raises(BadRequest, match="not modified"):
            await bot.edit_message_text("two", 7, sent.message_id)
        with pytest.raises(BadRequest, match="parse entities"):
            await bot.send_message(7, "<b>one", parse_mode="HTML")
        with pytest.raises(BadRequest, match="too long"):
            await bot.send_message(7, "x" * 4097)
        telegram.faults.append(("sendMessage", ApiError(429, "Too Many Requests: retry after 3", retry_after=3)))
        with pytest.raises(RetryAfter):
            await bot.send_message(7, "three")
        await bot.send_document(7, b"content", filename="a.md")
        assert await bot.delete_message(7, sent.message_id)


def test_hikari_is_served(discord: FakeDiscord) -> None:
    asyncio.run(drive_hikari(discord))


async def drive_hikari(discord: FakeDiscord) -> None:
    hikari: Any = import_module("hikari")
    bot = hikari.GatewayBot(
        DISCORD_TOKEN, rest_url=discord.api_url, banner=None, logs=None,
        intents=hikari.Intents.ALL_UNPRIVILEGED | hikari.Intents.MESSAGE_CONTENT,
    )  # fmt: skip

    async def answer(event: Any) -> None:
        if not event.is_bot:
            await event.message.respond(f"echo of {event.content}", reply=True)

    bot.subscribe(hikari.MessageCreateEvent, answer)
    await bot.start(check_for_updates=False)
    try:
        await asyncio.to_thread(discord.say, "one")
        await until(lambda: discord.texts() == ["echo of one"])
        await asyncio.to_thread(discord.cut)
        await asyncio.to_thread(discord.say, "two")
        await until(lambda: discord.texts() == ["echo of one", "echo of two"])
        assert discord.gateway.resumed or discord.gateway.identified > 1
    finally:
        await bot.close()
