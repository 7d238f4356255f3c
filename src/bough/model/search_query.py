"""The query language of search boxes: words, "phrases", -exclusions, beginnings*, and operators such as role:user.

It is parsed here for the command line and for every other surface, so that all of them understand the same.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from bough.errors import Invalid
from bough.model.messages import ROLES
from bough.model.nodes import STATUSES
from bough.model.search import HAS, Query, Term
from bough.model.times import parse_time

_TOKEN = r'(?P<minus>-?)(?:(?P<name>[A-Za-z]+):(?!//|:|\s|$))?(?:"(?P<quoted>[^"]*)(?:"|$)|(?P<bare>\S+))'
_COST = re.compile(r"(>=|<=|>|<|=)?\$?(\d+(?:\.\d+)?|\.\d+)")
Operator = Callable[[str], dict[str, Any]]


def parse_query(text: str, now: float | None = None) -> Query:
    """The query that a person typed.

    An operator that is not known, or whose value is not, is a word like any other, and `notes` says so. `now` is the
    time in seconds from which ages such as `after:7d` count.
    """
    terms: list[Term] = []
    filters: dict[str, Any] = {}
    notes: list[str] = []
    for found in re.finditer(_TOKEN, text):
        name, token = (found["name"] or "").lower(), found[0]
        if name and not found["minus"]:
            try:
                _add(filters, _filter(name, found["quoted"] or found["bare"] or "", now))
                continue
            except Invalid as error:
                notes.append(f"{token} was searched as words: {error}")
        elif name in OPERATORS:
            notes.append(f"{token} was searched as words: only words can be excluded.")
        terms.append(_term(token) if name else _term(token, found["quoted"], found["bare"], bool(found["minus"])))
    return Query(tuple(terms), notes=tuple(notes), **filters)


def _term(token: str, quoted: str | None = None, bare: str | None = None, excluded: bool = False) -> Term:
    if quoted is not None:
        return Term(quoted, "phrase", excluded)
    if bare is None or (excluded and not re.match(r"\w", bare)):  # `--flag` is a word
        return Term(token)
    if len(bare) > 1 and bare.endswith("*"):
        return Term(bare[:-1], "beginning", excluded)
    return Term(bare, "word", excluded)


def _add(filters: dict[str, Any], more: dict[str, Any]) -> None:
    """Adds a filter. `has` adds up, and of two others the later counts."""
    if "has" in more:
        more = {"has": tuple(dict.fromkeys((*filters.get("has", ()), *more["has"])))}
    filters.update(more)


def _filter(name: str, given: str, now: float | None) -> dict[str, Any]:
    if name not in OPERATORS:
        raise Invalid(f"there is no operator {name}:, only {', '.join(OPERATORS)}.")
    if name in ("before", "after"):
        return {"until" if name == "before" else "since": parse_time(given, now)}
    return OPERATORS[name](given)


def _text(field: str) -> Operator:
    return lambda given: {field: given}


def _choice(field: str, allowed: tuple[str, ...], aliases: dict[str, str]) -> Operator:
    def choose(given: str) -> dict[str, Any]:
        chosen = aliases.get(given.lower(), given.lower())
        if chosen not in allowed:
            raise Invalid(f"{given!r:.40} is none of {', '.join((*allowed, *aliases))}.")
        return {field: (chosen,) if field == "has" else chosen}

    return choose


def _cost(given: str) -> dict[str, Any]:
    found = _COST.fullmatch(given)
    if not found:
        raise Invalid("a cost is written as cost:>1, cost:>=0.5 or cost:<2, in dollars.")
    sign, cost = found[1] or "=", float(found[2])
    least = {">": math.nextafter(cost, math.inf), ">=": cost, "=": cost}.get(sign)
    most = {"<": math.nextafter(cost, -math.inf), "<=": cost, "=": cost}.get(sign)
    return {name: bound for name, bound in (("min_cost", least), ("max_cost", most)) if bound is not None}


OPERATORS: dict[str, Operator] = {
    "role": _choice("role", ROLES, {"tool": "tool_result"}),
    "model": _text("model"),
    "source": _text("channel"),
    "in": _text("session"),
    "project": _text("directory"),
    "tool": _text("tool"),
    "label": _text("label"),
    "before": _text("until"),
    "after": _text("since"),
    "cost": _cost,
    "has": _choice("has", HAS, {"images": "image", "media": "file"}),
    "is": _choice("status", STATUSES, {"open": "running"}),
}
"""The operators, and what each one makes of its value."""
