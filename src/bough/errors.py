"""The exceptions that bough raises, as a tree.

    BoughError
    ├── NotFound         no such message, session, turn or trash entry
    │   └── CursorExpired    the changes after a cursor are not kept any more
    ├── Ambiguous        a prefix that fits more than one id
    ├── Conflict         the session was changed by another writer
    ├── Busy             another writer holds the session or the file
    ├── Refused          valid, but against the rules of the store
    ├── Invalid          an argument that is not valid
    ├── ConfigError      a configuration that cannot be used
    ├── FormatError      a provider's payload that cannot be read, or written without loss
    ├── ImporterError    a file that cannot be imported
    ├── ProviderError    a model that did not answer
    ├── ChannelError     a chat service that did not do what was asked
    ├── ToolError        a tool, or an MCP server, that cannot be used
    └── StorageError     the database failed
        ├── SchemaTooNew     written by a newer bough
        ├── Corrupt          the file, or its content, is damaged
        └── Full             no space left

Each class has a `code`, which the edges map to exit statuses and HTTP statuses. The default message is the docstring.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

ProviderErrorKind: TypeAlias = Literal[
    "key",  # no key, or one that is not accepted
    "rate_limit",  # too many requests, or no credit
    "down",  # not reachable, or failed
    "refused",  # the request was not accepted, or is against the rules of the provider
    "not_found",  # no such model, address or model file
    "context_too_long",  # longer than the context window of the model
    "cut",  # the reply ended early; the part received is kept
    "other",
]

ChannelErrorKind: TypeAlias = Literal[
    "rate_limit",  # too many requests; `retry_after` says when to try again
    "unreachable",  # no answer: the request may have been carried out
    "message_gone",  # the message was deleted
    "chat_gone",  # the chat was left, or its owner has blocked the bot
    "too_large",  # a file
    "token",  # not accepted
    "conflict",  # another process uses the token
    "rejected",  # not accepted as it is
]


class BoughError(Exception):
    """An error in bough."""

    code = "error"

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())


class NotFound(BoughError):
    """Not found."""

    code = "not_found"


class CursorExpired(NotFound):
    """The changes after that cursor are not kept any more; read again, and go on from the newest one."""

    code = "cursor_expired"


class Ambiguous(BoughError):
    """The prefix fits more than one id; type more of it."""

    code = "ambiguous"


class Conflict(BoughError):
    """The session was changed by another writer; what was saved is kept as a side branch."""

    code = "conflict"


class Busy(BoughError):
    """Another writer holds the session or the file; try again in a moment."""

    code = "busy"


class Refused(BoughError):
    """This is against the rules of the store; nothing was changed."""

    code = "refused"


class Invalid(BoughError):
    """The argument is not valid; nothing was changed."""

    code = "invalid"


class ConfigError(BoughError):
    """The configuration cannot be used; `bough config path` prints its path."""

    code = "config"


class FormatError(BoughError):
    """The payload cannot be read, or cannot be written without loss."""

    code = "format"


class ImporterError(BoughError):
    """The file cannot be imported; nothing was written."""

    code = "import"


class ProviderError(BoughError):
    """The model did not answer."""

    code = "provider"

    def __init__(
        self,
        message: str | None = None,
        *,
        kind: ProviderErrorKind = "other",
        status: int | None = None,
        retry_after: float | None = None,
        passing: bool = False,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.status = status
        """The HTTP status, if there was a response."""
        self.retry_after = retry_after
        """Seconds to wait, as the provider asks."""
        self.passing = passing
        """Whether the same request may succeed later."""


class ChannelError(BoughError):
    """The chat service did not do what was asked."""

    code = "channel"

    def __init__(
        self, message: str | None = None, kind: ChannelErrorKind = "rejected", retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.retry_after = retry_after
        """Seconds to wait, as the service asks."""


class ToolError(BoughError):
    """The tool cannot be used."""

    code = "tool"


class StorageError(BoughError):
    """The database failed; everything acknowledged before is kept."""

    code = "storage"


class SchemaTooNew(StorageError):
    """This file was written by a newer bough; upgrade bough to open it. The file was not changed."""

    code = "schema_too_new"


class Corrupt(StorageError):
    """The file is damaged; keep a copy of it and run `verify()`."""

    code = "corrupt"


class Full(StorageError):
    """The disk is full; this write was rolled back, everything before it is kept."""

    code = "full"


class FormatWarning(UserWarning):
    """A reply, or a part of one, that no format understands; it is kept verbatim."""
