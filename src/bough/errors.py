"""What can go wrong, as a tree.

    BoughError
    ├── NotFound         no such message, session, turn or trash entry
    ├── Ambiguous        a prefix that fits more than one id
    ├── Conflict         the session moved on in the meantime
    ├── Busy             another writer holds the session, or the file
    ├── Refused          understood, and against the rules of the store
    ├── Invalid          an argument that makes no sense
    ├── ConfigError      a configuration that cannot be followed
    ├── FormatError      a provider's payload that cannot be read, or written without loss
    ├── ImporterError    a file that cannot be imported
    ├── ProviderError    a model that did not answer
    ├── ToolError        a tool, or a server of tools, that cannot be used
    └── StorageError     the database failed
        ├── SchemaTooNew     written by a newer bough
        ├── Corrupt          the file, or what it says, is damaged
        └── Full             no space left

Each class has a `code`; the edges map codes to exit statuses and HTTP statuses. Without arguments an error says
its docstring.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

ProviderTrouble: TypeAlias = Literal[
    "key",  # no key, or one that is not accepted
    "rate_limit",  # too many requests, or no credit left
    "down",  # cannot be reached, or failed on its own side
    "refused",  # understood, and not answered: against its rules, or a request it does not accept
    "not_found",  # no such model, address, file or weights
    "context_too_long",  # more than the model can read
    "cut",  # the answer stopped in the middle; what came is kept
    "other",
]


class BoughError(Exception):
    """Something went wrong in bough."""

    code = "error"

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())


class NotFound(BoughError):
    """There is nothing by that name."""

    code = "not_found"


class Ambiguous(BoughError):
    """That prefix fits more than one id; type more of it."""

    code = "ambiguous"


class Conflict(BoughError):
    """The session moved on in the meantime; what was saved is kept as a side branch."""

    code = "conflict"


class Busy(BoughError):
    """Another writer is at work there; try again in a moment."""

    code = "busy"


class Refused(BoughError):
    """That is against the rules of the store; nothing was changed."""

    code = "refused"


class Invalid(BoughError):
    """That argument makes no sense here; nothing was changed."""

    code = "invalid"


class ConfigError(BoughError):
    """The configuration cannot be followed; `bough config path` says where it is."""

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
        kind: ProviderTrouble = "other",
        status: int | None = None,
        retry_after: float | None = None,
        passing: bool = False,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.status = status
        """The HTTP status, where there was one."""
        self.retry_after = retry_after
        """How many seconds the provider asks us to wait."""
        self.passing = passing
        """Whether the same request may succeed later."""


class ToolError(BoughError):
    """The tool cannot be used."""

    code = "tool"


class StorageError(BoughError):
    """The database failed; what was acknowledged before is kept."""

    code = "storage"


class SchemaTooNew(StorageError):
    """This file was written by a newer bough; upgrade bough to open it. The file was left alone."""

    code = "schema_too_new"


class Corrupt(StorageError):
    """The file is damaged; keep a copy of it and run `verify()`."""

    code = "corrupt"


class Full(StorageError):
    """No space is left on the disk; nothing of this write was kept, everything before it is."""

    code = "full"
