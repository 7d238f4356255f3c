"""`bough conversations …`: the commands that list, show and change stored conversations."""

from __future__ import annotations

from bough.cli.registry import Commands

COMMANDS = {
    "list": ("list_", "List conversations, the most recently active last."),
    "show": ("show", "Print the dialog up to a message or the head of a session."),
    "delete": ("delete", "Delete messages or sessions; they go to the trash."),
    "restore": ("restore", "List the trash, or restore from it."),
    "clean": ("clean", "Move conversations that have not been used for long to the trash."),
    "title": ("title", "Give a conversation a title."),
    "label": ("label", "Put a label on a message."),
}
ALIASES = {"ls": "list", "print": "show", "view": "show", "rm": "delete", "remove": "delete", "rename": "title"}

command = Commands(
    "conversations",
    COMMANDS,
    ALIASES,
    default="list",
    help="List, show, delete, clean, restore, title and label conversations. Without a command: list.",
    epilog="Aliases: conversation, convo; of list: ls; of show: print, view; of delete: rm.",
)
