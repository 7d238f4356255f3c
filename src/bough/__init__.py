"""Every conversation with an AI, kept; any point of it, a place to start again."""

TYPE_CHECKING = False  # that of `typing`, which alone takes longer to import than the rest of this
if TYPE_CHECKING:
    from bough import aio
    from bough.engines import connect
    from bough.errors import (
        Ambiguous,
        BoughError,
        Busy,
        ConfigError,
        Conflict,
        Corrupt,
        FormatError,
        Full,
        ImporterError,
        Invalid,
        NotFound,
        ProviderError,
        Refused,
        SchemaTooNew,
        StorageError,
        ToolError,
    )
    from bough.model import (
        Block,
        Finding,
        Headline,
        Hit,
        Media,
        Message,
        Node,
        Other,
        Save,
        SessionInfo,
        Size,
        Text,
        Thinking,
        ToolCall,
        ToolResult,
        Totals,
        TrashEntry,
        TurnInfo,
        Usage,
        assistant,
        system,
        tool_call,
        tool_result,
        user,
    )
    from bough.model.keys import cli_key, delegate_key, discord_key, parse_key, telegram_key
    from bough.model.tree import Tree
    from bough.protocols import (
        MessageDB,
        MessagesDeleter,
        MessagesGetter,
        MessagesLister,
        MessagesSaver,
        get_dialog,
    )
    from bough.recorder import Kept, Recorder
    from bough.session import Session
    from bough.store import Store
    from bough.turn import Turn

__version__ = "0.1.0"

__all__ = [
    "Ambiguous",
    "Block",
    "BoughError",
    "Busy",
    "ConfigError",
    "Conflict",
    "Corrupt",
    "Finding",
    "FormatError",
    "Full",
    "Headline",
    "Hit",
    "ImporterError",
    "Invalid",
    "Kept",
    "Media",
    "Message",
    "MessageDB",
    "MessagesDeleter",
    "MessagesGetter",
    "MessagesLister",
    "MessagesSaver",
    "Node",
    "NotFound",
    "Other",
    "ProviderError",
    "Recorder",
    "Refused",
    "Save",
    "SchemaTooNew",
    "Session",
    "SessionInfo",
    "Size",
    "StorageError",
    "Store",
    "Text",
    "Thinking",
    "ToolCall",
    "ToolError",
    "ToolResult",
    "Totals",
    "TrashEntry",
    "Tree",
    "Turn",
    "TurnInfo",
    "Usage",
    "aio",
    "assistant",
    "cli_key",
    "connect",
    "delegate_key",
    "discord_key",
    "get_dialog",
    "parse_key",
    "system",
    "telegram_key",
    "tool_call",
    "tool_result",
    "user",
]

_MODULE_OF = {
    name: module
    for module, names in {
        "errors": "Ambiguous BoughError Busy ConfigError Conflict Corrupt FormatError Full ImporterError Invalid "
        "NotFound ProviderError Refused SchemaTooNew StorageError ToolError",
        "engines": "connect",
        "model.blocks": "Block Media Other Text Thinking ToolCall ToolResult tool_call",
        "model.keys": "cli_key delegate_key discord_key parse_key telegram_key",
        "model.messages": "Message Save assistant system tool_result user",
        "model.nodes": "Finding Headline Hit Node SessionInfo Size TrashEntry TurnInfo",
        "model.tree": "Tree",
        "model.usage": "Totals Usage",
        "protocols": "MessageDB MessagesDeleter MessagesGetter MessagesLister MessagesSaver get_dialog",
        "recorder": "Kept Recorder",
        "session": "Session",
        "store": "Store",
        "turn": "Turn",
    }.items()
    for name in names.split()
}


if not TYPE_CHECKING:  # a type checker knows every name, and should know which are none

    def __getattr__(name: str) -> object:
        """Load a public name together with its module when it is first used, so that nobody waits for the others."""
        from importlib import import_module

        if name == "aio":
            return import_module("bough.aio")
        if name not in _MODULE_OF:
            raise AttributeError(f"module 'bough' has no attribute {name!r}")
        globals()[name] = found = getattr(import_module(f"bough.{_MODULE_OF[name]}"), name)
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
