"""Every conversation with an AI, kept; any point of it, a place to start again."""

__version__ = "0.1.0"

# Names are loaded at their first use. Type checkers and editors read `__init__.pyi`; a test compares the two.
_MODULE_OF = {
    name: module
    for module, names in {
        "errors": "Ambiguous BoughError Busy ChannelError ConfigError Conflict Corrupt CursorExpired FormatError Full "
        "ImporterError Invalid NotFound ProviderError Refused SchemaTooNew StorageError ToolError",
        "answers": "Answers",
        "engines": "connect",
        "model.blocks": "Block Media Other Text Thinking ToolCall ToolResult tool_call",
        "model.branches": "Branch Comparison Segment PathWindow",
        "model.keys": "cli_key delegate_key discord_key parse_key telegram_key",
        "model.messages": "Message Save assistant system tool_result user",
        "model.nodes": "Change Document Finding Headline Hit Node Pin SessionInfo Size TrashEntry TurnInfo Undoable",
        "model.previews": "SessionPreview",
        "model.search": "Facet Facets Hits IndexStatus Query Term",
        "model.search_query": "parse_query",
        "model.traces": "Trace",
        "model.tree": "Tree",
        "model.turns": "SaveTurn",
        "model.usage": "ReplyInfo Totals Usage",
        "model.values": "asdict replace",
        "protocols": "MessageDB MessagesDeleter MessagesGetter MessagesLister MessagesSaver get_dialog",
        "recorder": "Kept Recorder",
        "session": "Session",
        "store": "Store",
        "turn": "Turn",
    }.items()
    for name in names.split()
}

__all__ = sorted(["aio", *_MODULE_OF])  # noqa: PLE0605


def __getattr__(name: str) -> object:
    """Loads the module of a public name when the name is first used."""
    from importlib import import_module

    if name == "aio":
        return import_module("bough.aio")
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'bough' has no attribute {name!r}")
    globals()[name] = found = getattr(import_module(f"bough.{_MODULE_OF[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
