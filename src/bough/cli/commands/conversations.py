"""`bough conversations …`: everything that is done with conversations that are kept."""

from __future__ import annotations

from bough.cli.registry import Commands

COMMANDS = {
    "list": ("list_", "List conversations, the most recently active last."),
    "show": ("show", "Print the dialog that leads to a message, or where a session stands."),
    "delete": ("delete", "Delete messages or sessions; they go to the trash."),
    "restore": ("restore", "List what is in the trash, or bring it back."),
    "clean": ("clean", "Move conversations that were not used for long to the trash."),
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
    epilog="Also called: conversation, convo. And list: ls; show: print, view; delete: rm.",
)
