"""Pages of lists, as OpenAI's clients follow them."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.requests import Request

from bough.model import Json
from bough.model.values import value
from bough.server.openai.parameters import number
from bough.server.openai.refusals import invalid

MOST, USUAL = 100, 20


@value
class PageRequest:
    """Which part of a list a client asks for."""

    after: str | None
    limit: int
    descending: bool


def page_request(request: Request, *, descending: bool = True) -> PageRequest:
    """The page in the query. Raises `HttpProblem`."""
    order = request.query_params.get("order") or ("desc" if descending else "asc")
    if order not in ("asc", "desc"):
        raise invalid("order", f"order is asc or desc, not {order!r:.40}.")
    limit = number(request, "limit", USUAL, 1, MOST)
    return PageRequest(request.query_params.get("after") or None, limit, order == "desc")


def page_of(items: Sequence[dict[str, Json]], asked: PageRequest) -> dict[str, Json]:
    """A page of items, which are given the oldest first. Raises `HttpProblem` for an unknown `after`."""
    ordered = list(reversed(items)) if asked.descending else list(items)
    if asked.after is not None:
        place = next((place for place, item in enumerate(ordered) if item["id"] == asked.after), None)
        if place is None:
            raise invalid("after", f"There is no item {asked.after!r} in this list.")
        ordered = ordered[place + 1 :]
    return listing(ordered[: asked.limit], has_more=len(ordered) > asked.limit)


def listing(data: Sequence[dict[str, Json]], *, has_more: bool = False) -> dict[str, Json]:
    """A page as it is sent."""
    ids = [item.get("id") for item in data]
    first, last = (ids[0], ids[-1]) if ids else (None, None)
    return {"object": "list", "data": list(data), "first_id": first, "last_id": last, "has_more": has_more}
