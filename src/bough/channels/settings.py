"""Settings of a channel: `[channels.NAME]` of the configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bough.channels.members import SpendingLimits
from bough.model.values import value

if TYPE_CHECKING:
    from bough.config import Config


@value
class ChannelSettings:
    """How one channel is run."""

    name: str
    allow: tuple[str, ...] = ()
    """Ids of people and chats that may talk; nobody if empty."""
    agent: str | None = None
    model: str | None = None
    limits: SpendingLimits = SpendingLimits()
    options: Mapping[str, Any] = {}
    """The other keys, which the service reads."""

    @staticmethod
    def of(config: Config, name: str) -> ChannelSettings:
        """The settings of a channel; without a table of its own, those of nobody's."""
        table = dict(config.table("channels", name)) if name in config.names("channels") else {}
        allow = tuple(str(one) for one in table.pop("allow", ()))
        limits = SpendingLimits(table.pop("daily_tokens", None), table.pop("daily_cost", None))
        return ChannelSettings(name, allow, table.pop("agent", None), table.pop("model", None), limits, table)
