"""Who holds a lease, and whether they are still alive.

An owner is written as `place/process/started/token`: the place is a machine since it was booted (and a container in
it), so that a process of this place can be looked up, and one of another place cannot. A store that other machines use
too marks its places: there, two machines of one name are not one machine that was booted again.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import lru_cache

from bough.model.ids import mint

SHARED = "+"

_holders: set[str] = set()
"""The owners of this process that are at work. A turn that could not even be ended has let go."""


def new_owner(shared: bool = False) -> str:
    """A name for one holder in this process, in a store that other machines share or do not."""
    return f"{SHARED if shared else ''}{_place()}/{os.getpid()}/{_stat(os.getpid())[1]}/{mint(10)}"


def hold(owner: str) -> None:
    """Says that an owner of this process is about to write."""
    _holders.add(owner)


def let_go(owner: str) -> None:
    """Says that an owner of this process will write no more."""
    _holders.discard(owner)


def is_dead(owner: str) -> bool:
    """Whether the owner has certainly gone. One on another machine is never certain."""
    try:
        place, process, started, _ = owner.rsplit("/", 3)
    except ValueError:
        return False
    if place.removeprefix(SHARED) != _place():
        return place.split("@")[0] == _place().split("@")[0] and _boot() not in place
    if int(process) == os.getpid():
        return owner not in _holders
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False  # it is there, and not ours
    state, began = _stat(int(process))
    return started != began or state in ("Z", "X")


@lru_cache(maxsize=1)
def _boot() -> str:
    with suppress(OSError):
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    return "unknown"


@lru_cache(maxsize=1)
def _place() -> str:
    from socket import gethostname

    container = ""
    with suppress(OSError):
        container = os.readlink("/proc/self/ns/pid")
    return f"{gethostname()}@{_boot()}@{container}"


def _stat(process: int) -> tuple[str, str]:
    """The state of a process, and when it began, so that a number used again is not taken for the same process."""
    with suppress(OSError, IndexError):
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        return fields[0], fields[19]
    return "?", "?"
