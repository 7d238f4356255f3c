"""Checks and preparations of a file before SQLite opens it."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from bough.db import StrPath
from bough.errors import NotFound, Refused, StorageError

NETWORK = {
    "9p", "afs", "ceph", "cifs", "drvfs", "fuse.sshfs", "fuse.s3fs", "fuse.rclone", "glusterfs", "fuse.glusterfs",
    "lustre", "ncpfs", "nfs", "nfs4", "smb3", "smbfs", "vboxsf", "virtiofs",
}  # fmt: skip
MOUNTS = "/proc/self/mountinfo"
PART = ".part"
"""How the name of a file ends that is not complete."""


def check_directory(path: StrPath) -> None:
    """Raises `StorageError` for a directory, `NotFound` for a path in a missing one, `Refused` for a part of a file."""
    if os.fspath(path).endswith(PART):
        raise Refused(f"{str(path)!r} is what an interrupted copy has left behind, not a store; delete it.")
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
    return not os.path.exists(path) or (os.access(path, os.W_OK) and can_write_beside(path))


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


def can_read(path: StrPath) -> bool:
    return os.access(path, os.R_OK)


def can_write_beside(path: StrPath) -> bool:
    """Whether files can be created in the directory of a file."""
    return os.access(directory_of(path), os.W_OK)


def has_log(path: StrPath) -> bool:
    """Whether a program has the file open in WAL mode, or has left content in the WAL."""
    return os.path.exists(f"{path}-shm") or has_pending_wal(path)


def stamp(path: StrPath) -> tuple[object, ...]:
    """What changes when somebody writes the file, or opens it to write."""
    try:
        found = os.stat(path)
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, has_log(path)


def check_names(path: StrPath, read_only: bool = False, mounts: str = MOUNTS) -> None:
    """Raises `Refused` for a file with a second name: each name would have a WAL and locks of its own."""
    try:
        links = os.stat(path).st_nlink
    except OSError:
        return
    if links > 1 and not read_only:
        raise Refused(
            f"{str(path)!r} has {links} names (hard links). Programs that open it by different names would lose each "
            "other's writes. Delete the other names, or use a copy of the file."
        )
    if mount_of(os.path.realpath(path), mounts)[0] == os.path.realpath(path):
        raise Refused(
            f"{str(path)!r} is mounted by itself, so the files that belong to it (-wal, -shm, -lock) stay behind and "
            "writes would be lost. Mount its directory instead."
        )


def new_part(target: StrPath) -> str:
    """Creates an empty private file beside `target`, to be renamed to it when it is complete."""
    part = f"{os.fspath(target)}.{os.urandom(4).hex()}{PART}"
    create_private(part)
    return part


def finish_part(part: str, target: StrPath) -> None:
    """Gives a complete file its name, durably. Raises `Refused` if the name is taken."""
    if os.path.exists(target):
        raise Refused(f"{str(target)!r} was created by somebody else meanwhile; nothing was written.")
    try:
        sync(part)
        os.rename(part, target)
        sync(directory_of(target))
    except OSError as error:
        raise StorageError(f"{str(target)!r} cannot be created: {error.strerror}.") from None


def sync(path: StrPath) -> None:
    """Waits until a file or a directory is on the disk."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def is_network(path: StrPath, mounts: str = MOUNTS) -> bool:
    """Whether the file is on a network file system. Unknown (no list of mounts here) counts as local."""
    return mount_of(directory_of(os.path.realpath(path)), mounts)[1] in NETWORK


def mount_of(place: str, mounts: str = MOUNTS) -> tuple[str, str]:
    """The mount point that a path is on, and the kind of its file system; empty if that is unknown."""
    best, kind = "", ""
    if not sys.platform.startswith("linux"):
        return best, kind
    with suppress(OSError):
        with open(mounts, encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read().splitlines()
        for line in lines:
            mount, _, rest = line.partition(" - ")
            point = mount.split(" ")[4].replace("\\040", " ")  # the kernel escapes spaces
            inside = place == point or place.startswith(point.rstrip("/") + "/")
            if inside and len(point) >= len(best):  # of two mounts on one point the later one is visible
                best, kind = point, rest.split(" ")[0]
    return best, kind
