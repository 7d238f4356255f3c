"""Checks and preparations of a file before SQLite opens it."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from bough.db import StrPath
from bough.errors import NotFound, StorageError

NETWORK = {
    "9p", "afs", "ceph", "cifs", "drvfs", "fuse.sshfs", "fuse.s3fs", "fuse.rclone", "glusterfs", "fuse.glusterfs",
    "lustre", "ncpfs", "nfs", "nfs4", "smb3", "smbfs", "vboxsf", "virtiofs",
}  # fmt: skip
MOUNTS = "/proc/self/mountinfo"


def check_directory(path: StrPath) -> None:
    """Raises `StorageError` for a directory, and `NotFound` for a path in a missing directory."""
    if os.path.isdir(path):
        raise StorageError(f"{str(path)!r} is a directory; name a file in it.")
    if not os.path.isdir(directory := directory_of(path)):
        raise NotFound(f"The directory {directory!r} does not exist; make it first. Nothing was created.")


def directory_of(path: StrPath) -> str:
    return os.path.dirname(path) or "."


def make_private(directory: str) -> None:
    """Creates a directory with mode 0700, and its parents. An existing one stays as it is."""
    try:
        os.makedirs(directory, mode=0o700, exist_ok=True)
    except OSError as error:
        raise StorageError(
            f"The directory {directory!r} cannot be made: {error.strerror}. Keep conversations elsewhere: "
            "--db FILE, or $BOUGH_DB."
        ) from None


def create_private(path: StrPath) -> None:
    """Creates an empty file with mode 0600, which SQLite's side files inherit. An existing one stays as it is."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return
    except OSError as error:
        raise StorageError(f"{str(path)!r} cannot be created: {error.strerror}.") from None


def is_writable(path: StrPath) -> bool:
    """Whether the file and its directory, where the WAL goes, can be written. A new file counts as writable."""
    return not os.path.exists(path) or (os.access(path, os.W_OK) and os.access(directory_of(path), os.W_OK))


def identity(path: StrPath) -> tuple[int, int] | None:
    """The device and inode of a file; None if it does not exist."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def has_pending_wal(path: StrPath) -> bool:
    """Whether the file has a WAL that is not empty."""
    try:
        return os.stat(f"{path}-wal").st_size > 0
    except OSError:
        return False


def is_network(path: StrPath, mounts: str = MOUNTS) -> bool:
    """Whether the file is on a network file system. Unknown (no list of mounts here) counts as local."""
    if not sys.platform.startswith("linux"):
        return False
    best, kind = "", ""
    with suppress(OSError):
        place = directory_of(os.path.realpath(path))
        with open(mounts, encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read().splitlines()
        for line in lines:
            mount, _, rest = line.partition(" - ")
            point = mount.split(" ")[4].replace("\\040", " ")  # the kernel escapes spaces
            inside = place == point or place.startswith(point.rstrip("/") + "/")
            if inside and len(point) >= len(best):  # of two mounts on one point the later one is visible
                best, kind = point, rest.split(" ")[0]
    return kind in NETWORK
