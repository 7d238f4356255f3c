"""Pieces of answers, as the live events have them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bough.providers.types import Piece


def delta(piece: Piece, session: str, turn: str | None, index: int = 0) -> dict[str, Any]:
    """The data of `turn.delta`: a piece of an answer that this server receives."""
    return {"session": session, "turn": turn, "index": index, "kind": piece.kind, "text": piece.text,
            "place": piece.place, "call_id": piece.call_id}  # fmt: skip
