"""The token of this machine, in a file that only its user can read."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress

from bough.errors import Refused
from bough.locations import data_directory

NAME = "server-token"
PREFIX = "bough_"


def default_path() -> str:
    """The token file in the user's data directory."""
    return os.path.join(data_directory(), NAME)


def read_or_create(path: str) -> str:
    """The token in a file, which is created with a new one if there is none.

    Raises `Refused` for a symbolic link, a file of another user, one that others can read, and one without a token.
    """
    path = os.path.expanduser(path)
    with suppress(FileExistsError):
        return _create(path)
    return _read(path)


def new_token() -> str:
    """A random token of 256 bits."""
    return PREFIX + secrets.token_urlsafe(32)


def _create(path: str) -> str:
    os.makedirs(os.path.dirname(path) or ".", mode=0o700, exist_ok=True)
    token = new_token()
    # Written under another name first: a second server that starts now must not read half a token.
    draft = f"{path}.{os.getpid()}"
    file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        with os.fdopen(file, "w") as opened:
            opened.write(token + "\n")
            opened.flush()
            os.fsync(opened.fileno())
        os.link(draft, path)
    finally:
        os.unlink(draft)
    return token


def _read(path: str) -> str:
    try:
        file = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except OSError as error:
        raise Refused(f"The token file {path} cannot be used: {error.strerror}. Remove it, or name another.") from None
    with os.fdopen(file) as opened:
        found = os.fstat(opened.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise Refused(f"The token file {path} is not a plain file; name another.")
        if hasattr(os, "geteuid") and (found.st_uid != os.geteuid() or found.st_mode & 0o077):
            raise Refused(
                f"The token file {path} can be read by other users of this machine, or belongs to one. Remove it: "
                "the next start creates a new one. Tokens that were copied from it stop working."
            )
        token = opened.read(1000).strip()
    if len(token) < 20 or not token.isascii() or not token.isprintable() or " " in token:
        raise Refused(f"There is no token in {path}; remove the file, and the next start creates one.")
    return token
