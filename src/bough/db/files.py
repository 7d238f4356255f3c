"""What must be known of a file before SQLite opens it."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from bough.errors import NotFound, StorageError

NETWORK = {
    "9p", "afs", "ceph", "cifs", "drvfs", "fuse.sshfs", "fuse.s3fs", "fuse.rclone", "glusterfs", "fuse.glusterfs",
    "lustre", "ncpfs", "nfs", "nfs4", "smb3", "smbfs", "vboxsf", "virtiofs",
}  # fmt: skip
MOUNTS = "/proc/self/mountinfo"


def check_directory(path: Path) -> None:
    """Raises a clear error for a path at which no database file can be."""
    if path.is_dir():
        raise StorageError(f"{str(path)!r} is a directory; name a file in it.")
    if not path.parent.is_dir():
        raise NotFound(f"The directory {str(path.parent)!r} does not exist; make it first. Nothing was created.")


def create_private(path: Path) -> None:
    """Makes an empty file that only its owner can read; SQLite's side files inherit the mode. An old one stays."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return
    except OSError as error:
        raise StorageError(f"{str(path)!r} cannot be created: {error.strerror}.") from None


def is_writable(path: Path) -> bool:
    """Whether the file and its directory, where the WAL goes, can be written. A new file counts as writable."""
    return not path.exists() or (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))


def identity(path: Path) -> tuple[int, int] | None:
    """Which file a path leads to; None if to no file any more."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def has_pending_wal(path: Path) -> bool:
    """Whether there is something beside the file that belongs to it and is not in it yet."""
    try:
        return os.stat(f"{path}-wal").st_size > 0
    except OSError:
        return False


def is_network(path: Path, mounts: str = MOUNTS) -> bool:
    """Whether the file is on a network file system. Unknown (no list of mounts here) counts as local."""
    if not sys.platform.startswith("linux"):
        return False
    best, kind = "", ""
    with suppress(OSError):
        place = str(path.resolve().parent)
        for line in Path(mounts).read_text("utf-8", "surrogateescape").splitlines():
            mount, _, rest = line.partition(" - ")
            point = mount.split(" ")[4].replace("\\040", " ")
            inside = place == point or place.startswith(point.rstrip("/") + "/")
            if inside and len(point) >= len(best):
                best, kind = point, rest.split(" ")[0]
    return kind in NETWORK
