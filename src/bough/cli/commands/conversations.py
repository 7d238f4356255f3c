"""`bough conversations …`: the commands that list, show and change stored conversations."""

from __future__ import annotations

from bough.cli import registry

COMMANDS = {
    "list": ("list_", "List conversations, the most recently active last."),
    **{name: registry.COMMANDS[name] for name in ("show", "delete", "restore", "clean", "title", "label")},
}
ALIASES = {"ls": "list", "print": "show", "view": "show", "rm": "delete", "remove": "delete", "rename": "title"}

command = registry.Commands(
    "conversations",
    COMMANDS,
    ALIASES,
    default="list",
    help="List, show, delete, clean, restore, title and label conversations. Without a command: list.",
    epilog="Aliases: conversation, convo; of list: ls; of show: print, view; of delete: rm.",
)
