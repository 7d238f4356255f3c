"""Values of channels and writes, as documents of a session.

A small value is a part of the document that refers to it; a larger one is compressed in documents of its own, named by
a digest, so that a value that many checkpoints have is stored once.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from bough.compress import compress_if_it_pays, decompress
from bough.model import Json
from bough.session import Session

PREFIX = "value/"
SMALL = 200
PART = 900_000
"""Bytes in one document."""


def inline(value: tuple[str, bytes]) -> Json:
    """A reference that has the value in it."""
    type, data = value
    packed = compress_if_it_pays(data)
    stored = data if packed is None else packed
    return ["inline", type, base64.b64encode(stored).decode("ascii"), packed is not None]


def refer(value: tuple[str, bytes], known: set[str]) -> tuple[Json, dict[str, bytes]]:
    """A reference to a serialised value, and the documents to write for it, unless its digest is known."""
    type, data = value
    if len(data) <= SMALL:
        return inline(value), {}
    digest = hashlib.blake2b(data, digest_size=16).hexdigest()
    packed = compress_if_it_pays(data)
    stored = data if packed is None else packed
    parts = [stored[at : at + PART] for at in range(0, len(stored), PART)]
    reference = ["document", type, digest, len(parts), packed is not None]
    if digest in known:
        return reference, {}
    return reference, {f"{PREFIX}{digest}/{at:04}": part for at, part in enumerate(parts)}


def digests(references: Iterable[Json]) -> set[str]:
    """The digests of the values that have documents of their own."""
    return {reference[2] for reference in references if reference[0] == "document"}


def names(references: Iterable[Json]) -> list[str]:
    """The names of their documents."""
    wanted = (reference for reference in references if reference[0] == "document")
    return [f"{PREFIX}{digest}/{at:04}" for _, _, digest, count, _ in wanted for at in range(count)]


def read(session: Session, references: Iterable[Json]) -> Callable[[Json], tuple[str, bytes]]:
    """A function that gives the type and the bytes of each of these references. They are read in one statement."""
    wanted = names(references)
    found: Mapping[str, Any] = {}
    if wanted:
        found = {document.name: document.value for document in session.documents(names=wanted)}

    def value(reference: Json) -> tuple[str, bytes]:
        kind, type, content, *_, packed = reference
        parts = (found[name] for name in names([reference]))
        data = base64.b64decode(content) if kind == "inline" else b"".join(parts)
        return type, decompress(data) if packed else data

    return value
