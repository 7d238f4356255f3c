"""Every conversation with an AI, kept; any point of it, a place to start again."""

TYPE_CHECKING = False  # that of `typing`, which alone takes longer to import than the rest of this
if TYPE_CHECKING:
    from bough import aio
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
    from bough.ids import cli_key, delegate_key, discord_key, parse_key, telegram_key
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
    from bough.opening import connect
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
    from bough.tree import Tree
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

_ROOMS = ("errors", "ids", "model", "opening", "session", "store", "tree", "turn", "protocols", "recorder")
"""Where the names are, in the order in which they build on one another."""


if not TYPE_CHECKING:  # a type checker knows every name, and should know which are none

    def __getattr__(name: str) -> object:
        """A public name, loaded with its room when it is first used: nobody waits for what they do not use."""
        if name in __all__:
            from importlib import import_module

            for room in _ROOMS:
                found = vars(import_module(f"bough.{room}")).get(name)
                if found is not None:
                    globals()[name] = found
                    return found
            return import_module(f"bough.{name}")  # a room with a name of its own
        raise AttributeError(f"module 'bough' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
