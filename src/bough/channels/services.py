"""The services by name, made from their settings."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from bough.channels.settings import ChannelSettings
from bough.config.key_store import find_key
from bough.errors import ConfigError

if TYPE_CHECKING:
    from bough.channels.service import ChatService


def open_service(settings: ChannelSettings) -> ChatService:
    """The service of a channel. Raises `ConfigError` for an unknown one, and for one without a token."""
    maker = MAKERS.get(settings.name)
    if maker is None:
        raise ConfigError(f"There is no channel {settings.name!r}; there are {', '.join(MAKERS)}.")
    return maker(settings, token_of(settings))


def token_of(settings: ChannelSettings) -> str:
    """The token of a channel: from the environment, the configuration, a file, or where `bough keys` stores keys."""
    variable = f"BOUGH_{settings.name.upper()}_TOKEN"
    found = os.environ.get(variable) or settings.options.get("token")
    file = settings.options.get("token_file")
    if not found and file:
        try:
            with open(os.path.expanduser(file), encoding="utf-8") as opened:
                found = opened.read().strip()
        except OSError as error:
            raise ConfigError(f"The token of {settings.name} cannot be read from {file}: {error.strerror}.") from None
    found = found or find_key(settings.name)
    if not found:
        raise ConfigError(
            f"{settings.name} needs the token of its bot: set {variable}, or bough keys set {settings.name}"
        )
    return str(found)


def telegram(settings: ChannelSettings, token: str) -> ChatService:
    from bough.channels.telegram.service import Telegram

    options = settings.options
    webhook = {name.removeprefix("webhook_"): one for name, one in options.items() if name.startswith("webhook_")}
    return Telegram(token, options.get("base_url"), webhook if webhook.get("url") else None)


def discord(settings: ChannelSettings, token: str) -> ChatService:
    try:
        from bough.channels.discord.service import Discord
    except ModuleNotFoundError as error:
        raise ConfigError(f"Discord needs discord.py: pip install 'bough[discord]' ({error}).") from None

    return Discord(token, settings.options.get("api_url"), settings.options.get("gateway_url"))


def matrix(settings: ChannelSettings, token: str) -> ChatService:
    from bough.channels.matrix import Matrix

    base_url = settings.options.get("base_url")
    if not base_url:
        raise ConfigError("Matrix needs base_url, the address of the homeserver, in [channels.matrix].")
    return Matrix(token, str(base_url))


MAKERS: dict[str, Callable[[ChannelSettings, str], ChatService]] = {
    "telegram": telegram,
    "discord": discord,
    "matrix": matrix,
}
