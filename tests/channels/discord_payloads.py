"""What Discord says of people and guilds, as far as its clients want it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

GUILD, BOT, ROLE = "100", "42", "43"
TEXT, DIRECT, THREAD = 0, 1, 11
"""Types of channels."""
EVERYTHING = "2147483647"
"""All permissions."""
MEMBER = {
    "roles": [], "joined_at": "2026-01-01T00:00:00.000000+00:00", "deaf": False, "mute": False, "flags": 0,
    "nick": None, "avatar": None, "pending": False, "premium_since": None, "communication_disabled_until": None,
}  # fmt: skip


def person(number: str, name: str = "Ann", *, bot: bool = False) -> dict[str, Any]:
    return {
        "id": number, "username": name.lower(), "discriminator": "0", "global_name": name, "avatar": None, "bot": bot,
        "flags": 0, "verified": True, "mfa_enabled": False, "locale": "en-US", "email": None, "system": False,
    }  # fmt: skip


def placed(message: dict[str, Any]) -> dict[str, Any]:
    """The fields that say where a message is."""
    return {name: message[name] for name in ("channel_id", "guild_id") if name in message}


def moment() -> str:
    return datetime.now(UTC).isoformat()


def guild(bot: dict[str, Any], channels: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The guild, with its channels and threads."""
    of_kind: dict[int, list[Any]] = {TEXT: [], THREAD: [], DIRECT: []}
    for channel in channels:
        of_kind[channel["type"]].append(channel)
    everyone = {
        "id": GUILD, "name": "@everyone", "color": 0, "hoist": False, "position": 0, "permissions": EVERYTHING,
        "managed": False, "mentionable": False, "icon": None, "unicode_emoji": None, "flags": 0,
        "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
    }  # fmt: skip
    role = everyone | {"id": ROLE, "name": "bough", "managed": True, "tags": {"bot_id": BOT}}
    return {
        **dict.fromkeys(NOTHING.split()), **dict.fromkeys(ZERO.split(), 0), **{name: [] for name in EMPTY.split()},
        "id": GUILD, "name": "Garden", "owner_id": "7", "region": "x", "afk_timeout": 300, "joined_at": moment(),
        "preferred_locale": "en-US", "premium_progress_bar_enabled": False, "widget_enabled": False,
        "max_members": 100, "approximate_member_count": 2, "large": False, "unavailable": False, "member_count": 2,
        "roles": [everyone, role], "members": [{"user": bot, **MEMBER}],
        "channels": of_kind[TEXT], "threads": of_kind[THREAD],
    }  # fmt: skip


NOTHING = """icon splash discovery_splash afk_channel_id application_id system_channel_id rules_channel_id banner
vanity_url_code description public_updates_channel_id max_presences incidents_data widget_channel_id"""
ZERO = """verification_level default_message_notifications explicit_content_filter mfa_level nsfw_level premium_tier
system_channel_flags premium_subscription_count max_video_channel_users max_stage_video_channel_users"""
EMPTY = """features emojis stickers voice_states presences stage_instances guild_scheduled_events soundboard_sounds"""
