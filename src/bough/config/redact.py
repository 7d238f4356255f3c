"""Remove keys, passwords and headers from settings that are shown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bough.config import Setting

HIDDEN = "(hidden)"
USERINFO = re.compile(r"(\w+://)[^/@\s]+@")
ASSIGNED = re.compile(r"(?i)((?:key|token|secret|password|auth)[\w-]*=)\S+")
QUERY = re.compile(r"(\w+://[^\s?]+\?)\S+")


def redact(setting: Setting) -> Any:
    """The value without secrets."""
    if setting.key.secret:
        given = setting.value
        return dict.fromkeys(given, HIDDEN) if isinstance(given, dict) else HIDDEN if given else given
    return _without_passwords(setting.value)


def _without_passwords(given: Any) -> Any:
    if isinstance(given, list):
        return [_without_passwords(item) for item in given]
    if not isinstance(given, str):
        return given
    given = ASSIGNED.sub(rf"\1{HIDDEN}", given)
    return QUERY.sub(rf"\1{HIDDEN}", USERINFO.sub(rf"\1{HIDDEN}@", given))
