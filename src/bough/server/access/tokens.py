"""Tokens that a server's operator gives to others: only their hashes are stored.

They are rows of the namespace that the server was started with, and name the namespace that they open. So a request
without a valid token never reaches another namespace.
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Iterable
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from bough.errors import NotFound
from bough.model.ids import ALPHABET
from bough.model.times import span
from bough.model.values import value
from bough.server.access.scopes import Access, check_scopes
from bough.server.access.token_file import PREFIX

if TYPE_CHECKING:
    from bough.model.times import Span
    from bough.store import Store

ID_LENGTH = 8
PARTS = re.compile(rf"{PREFIX}([{ALPHABET}]{{{ID_LENGTH}}})_([\w-]{{43}})")


class TokenRow(NamedTuple):
    """A row of `server_tokens`."""

    id: str
    name: str
    tenant: str | None
    scopes: str
    hash: bytes
    created_at: int
    expires_at: int | None


@value
class TokenInfo:
    """A token, without its secret."""

    id: str
    name: str
    tenant: str | None
    """The namespace that it opens; None is that of the server."""
    scopes: tuple[str, ...]
    created_at: int
    expires_at: int | None


def create(
    store: Store, name: str, scopes: Iterable[str], *, tenant: str | None = None, expires: Span | None = None
) -> tuple[TokenInfo, str]:
    """Store a new token; the token itself is returned once and cannot be shown again. Raises `Invalid`."""
    chosen = " ".join(sorted(check_scopes(scopes)))
    id = "".join(secrets.choice(ALPHABET) for _ in range(ID_LENGTH))
    secret = secrets.token_urlsafe(32)

    def work(now: int) -> TokenRow:
        ends = None if expires is None else now + span(expires, "expires")
        row = TokenRow(id, name, tenant, chosen, sha256(secret.encode()).digest(), now, ends)
        store.db.run("insert_server_token", *row)
        return row

    return info(store.write(work)), f"{PREFIX}{id}_{secret}"


def all_of(store: Store) -> list[TokenInfo]:
    """All tokens, newest first, also those that have expired."""
    return [info(TokenRow(*row)) for row in store.db.rows("server_tokens")]


def revoke(store: Store, id: str) -> TokenInfo:
    """Delete a token: it stops working at once. Raises `NotFound`."""

    def work(now: int) -> TokenInfo:  # noqa: ARG001
        row = store.db.row("server_token", id)
        if row is None:
            raise NotFound(f"There is no token {id!r}; `bough tokens list` shows them.")
        store.db.run("delete_server_token", id)
        return info(TokenRow(*row))

    return store.write(work)


def find(store: Store, token: str) -> tuple[str, Access] | None:
    """The id of a token and what it allows; None for one that is unknown or has expired."""
    parts = PARTS.fullmatch(token)
    if parts is None:
        return None
    id, secret = parts.groups()
    row = store.db.row("server_token", id)
    if row is None or not hmac.compare_digest(TokenRow(*row).hash, sha256(secret.encode()).digest()):
        return None
    access = access_of(store, TokenRow(*row))
    return None if access is None else (id, access)


def by_id(store: Store, id: str) -> Access | None:
    """What a token allows now, for the cookie that was made from it."""
    row = store.db.row("server_token", id)
    return None if row is None else access_of(store, TokenRow(*row))


def access_of(store: Store, row: TokenRow) -> Access | None:
    if row.expires_at is not None and row.expires_at <= store.clock():
        return None
    return Access(row.name, frozenset(row.scopes.split()), row.tenant)


def info(row: TokenRow) -> TokenInfo:
    return TokenInfo(row.id, row.name, row.tenant, tuple(row.scopes.split()), row.created_at, row.expires_at)
