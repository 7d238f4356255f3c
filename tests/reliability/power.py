"""What a power cut may take: cuts at random moments, and a check of what each of them leaves."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sized
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import pytest

import bough
from bough import BoughError, Store

from .checks import assert_sound
from .processes import time_limit

SEED = int(os.environ.get("BOUGH_SEED", "0")) or random.SystemRandom().randrange(1, 10**9)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Path]:
    """A directory where thousands of small files cost nothing."""
    fast = Path("/dev/shm")
    if not (fast.is_dir() and os.access(fast, os.W_OK)):
        yield tmp_path
        return
    place = Path(tempfile.mkdtemp(prefix="bough-", dir=fast))
    yield place
    shutil.rmtree(place)


class Recorded(Protocol):
    """What was done to files, in order."""

    @property
    def ops(self) -> Sized: ...

    def image(self, cut: int, rng: random.Random) -> Mapping[str, bytes]:
        """The files after a power cut just before operation `cut`."""


@dataclass
class History:
    """What was acknowledged, and how far the disk was told about it by then."""

    turns: list[tuple[int, str, str]] = field(default_factory=list)
    """(operations so far, session, turn)"""
    steps: list[tuple[int, str]] = field(default_factory=list)
    """(operations so far, id of a message of a turn that was open then)"""
    deleted: list[tuple[int, str]] = field(default_factory=list)
    order: dict[str, list[str]] = field(default_factory=dict)
    """The turns of each session at the end."""


@dataclass
class Toll:
    """How many cuts did what."""

    cuts: int = 0
    turns: int = 0
    """Acknowledged in the life that was cut."""
    unopenable: int = 0
    unsound: int = 0
    lost: int = 0
    examples: list[str] = field(default_factory=list)

    @property
    def harmed(self) -> int:
        return self.unopenable + self.unsound + self.lost

    def add(self, other: Toll) -> None:
        self.cuts += other.cuts
        self.turns += other.turns
        self.unopenable += other.unopenable
        self.unsound += other.unsound
        self.lost += other.lost
        self.examples += other.examples


def cut_power(place: Path, disk: Recorded, history: History, cuts: int, seed: int) -> Toll:
    """Cuts the power again and again; each time a store is opened on what the disk kept, and checked."""
    toll, rng = Toll(turns=len(history.turns)), random.Random(seed)
    for number in range(cuts):
        cut = rng.randrange(0, len(disk.ops) + 1)
        directory = place / f"cut{number}"
        directory.mkdir()
        for name, content in disk.image(cut, rng).items():
            (directory / name).write_bytes(content)
        toll.cuts += 1
        try:
            with time_limit(), bough.connect(directory / "x.db") as store:
                lost = missing(store, history, cut)
                assert_sound(store)
            if lost:
                toll.lost += 1
                toll.examples.append(f"cut {cut}: lost {lost}")
        except AssertionError as error:
            toll.unsound += 1
            toll.examples.append(f"cut {cut}: {error}")
        except BoughError as error:
            toll.unopenable += 1
            toll.examples.append(f"cut {cut}: {error!r}")
        shutil.rmtree(directory)
    return toll


def missing(store: Store, history: History, cut: int) -> list[str]:
    """Acknowledged turns that are missing after the cut."""
    there: dict[str, list[str]] = {}
    for info in store.sessions():
        path = store.session(info.key).path()
        there[info.key] = [node.message.text.split(" ")[0] for node in path if node.id == node.turn_id]
    lost = [name for at, key, name in history.turns if at <= cut and name not in there.get(key, [])]
    for key, names in there.items():
        assert names == history.order.get(key, [])[: len(names)], "the turns are not in the order of saying"
    known = {node.id for node in store.list_messages()}
    lost += [id_ for at, id_ in history.steps if at <= cut and id_ not in known]
    in_trash = len(store.trash())
    lost += [id_ for at, id_ in history.deleted[in_trash:] if at <= cut]
    lost += [f"{id_} came back" for at, id_ in history.deleted if at <= cut and id_ in known]
    return lost
