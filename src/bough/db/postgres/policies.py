"""Row-level policies: which rows of the tables a role sees.

Every policy is permissive and complete in itself. An engine that distributes the tables may keep only that kind on its
shards, where several are OR-ed, so that a restrictive one would confine nobody.
"""

from __future__ import annotations

from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, cast

from psycopg import errors, sql

from bough.db.postgres.naming import TABLES
from bough.db.postgres.pool import Connection
from bough.errors import Refused

if TYPE_CHECKING:
    from typing import LiteralString

GENERAL = "one_namespace"
"""The policy of the schema, for everybody who is not confined."""
GROUP = "bough_confined"
"""The role whose members the general policy leaves out. It is made when the first role is confined."""
IS_NAMED = "namespace = pg_catalog.current_setting('bough.namespace', true)"
TRUSTED = """
    SELECT r.rolname FROM pg_catalog.pg_roles r, pg_catalog.pg_class c
    WHERE c.oid = 'bough.state'::regclass AND pg_catalog.pg_has_role($1, r.oid, 'member') AND r.rolname <> $1
      AND r.rolname <> $2 AND (r.rolsuper OR r.rolbypassrls OR r.oid = c.relowner
        OR pg_catalog.has_table_privilege(r.oid, c.oid, 'SELECT, INSERT, UPDATE, DELETE'))
    UNION ALL
    SELECT r.rolname FROM pg_catalog.pg_roles r, pg_catalog.pg_class c
    WHERE c.oid = 'bough.state'::regclass AND r.rolname = $1 AND (r.rolsuper OR r.rolbypassrls OR r.oid = c.relowner)
"""
"""The roles with other rights on the tables that a role is or may become."""
MISSING = """
    SELECT t.relname, p.polname, p.polpermissive, roles.names, pg_catalog.pg_get_expr(p.polqual, p.polrelid),
           own.oid IS NOT NULL
    FROM pg_catalog.pg_policy p
    CROSS JOIN LATERAL (SELECT coalesce(array_agg(rolname::text), '{}') AS names FROM pg_catalog.pg_roles r
                        WHERE r.oid = ANY (p.polroles)) roles
    CROSS JOIN pg_catalog.pg_class t
    LEFT JOIN pg_catalog.pg_policy own ON own.polrelid = t.oid AND own.polname = p.polname
    WHERE p.polrelid = 'bough.state'::regclass AND t.relnamespace = 'bough'::regnamespace AND t.relkind IN ('r', 'p')
      AND (own.oid IS NULL OR pg_catalog.pg_get_expr(own.polqual, t.oid)
                              <> pg_catalog.pg_get_expr(p.polqual, p.polrelid))
"""
"""The policies of `state` that other tables lack, or have with another condition."""
GRANT = "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA bough TO {}"


def name_of(role: str) -> str:
    """The name of the policy that confines a role, as short as PostgreSQL wants it: no other role has the same."""
    return f"confines {sha256(role.encode()).hexdigest()[:32]}"


def confine(connection: Connection, role: str, namespace: str) -> None:
    """Gives a role one namespace. Raises `NotFound`, and `Refused` for a role that has other rights on the tables."""
    whom, policy = sql.Identifier(role), sql.Identifier(name_of(role))
    _make_group(connection)
    with connection.transaction():
        connection.compose("GRANT USAGE ON SCHEMA bough TO {}", whom)
        if others := [name for (name,) in connection.execute(connection.in_schema(TRUSTED).encode(), (role, GROUP))]:
            raise Refused(
                f"The role {role!r} cannot be confined: it can act as {', '.join(map(repr, sorted(set(others))))}, "
                "with other rights on the tables. Revoke that, then confine it. Nothing was changed."
            )
        connection.compose(GRANT, whom)
        by_grant = connection.info.server_version >= 160_000
        options = " WITH INHERIT TRUE, SET FALSE" if by_grant else ""
        connection.compose(f"GRANT {{}} TO {{}}{options}", sql.Identifier(GROUP), whom)
        _leave_out_members(connection, "usage" if by_grant else "member")
        for table in TABLES:
            place = sql.Identifier(connection.schema, table)
            connection.compose("DROP POLICY IF EXISTS {} ON {}", policy, place)
            allowed = f"CREATE POLICY {{}} ON {{}} TO {{}} USING (namespace = {{}} AND {IS_NAMED})"
            connection.compose(allowed, policy, place, whom, sql.Literal(namespace))


def _make_group(connection: Connection) -> None:
    exists = connection.execute("SELECT FROM pg_catalog.pg_roles WHERE rolname = $1", (GROUP,)).fetchone()
    if exists is None:
        with suppress(errors.DuplicateObject, errors.UniqueViolation), connection.transaction():  # others are faster
            connection.compose("CREATE ROLE {} NOLOGIN", sql.Identifier(GROUP))


def _leave_out_members(connection: Connection, mode: str) -> None:
    """Makes the general policy one for everybody but the members of the group."""
    outside = f"NOT pg_catalog.pg_has_role(current_user, '{GROUP}', '{mode}')"
    places = connection.run(
        f"SELECT tablename, qual FROM pg_catalog.pg_policies WHERE schemaname = 'bough' AND policyname = '{GENERAL}'"
    )
    for table, condition in places.fetchall():
        if GROUP not in condition:
            place = sql.Identifier(connection.schema, table)
            changed = f"ALTER POLICY {{}} ON {{}} USING ({IS_NAMED} AND {outside})"
            connection.compose(changed, sql.Identifier(GENERAL), place)


def extend(connection: Connection) -> None:
    """Gives every table the policies that `state` has, and the confined roles their rights, after a migration."""
    confined = set()
    for table, name, is_permissive, roles, condition, exists in connection.run(MISSING).fetchall():
        place, policy = sql.Identifier(connection.schema, table), sql.Identifier(name)
        rows = sql.SQL(cast("LiteralString", condition))
        if exists:
            connection.compose("ALTER POLICY {} ON {} USING ({})", policy, place, rows)
            continue
        kind = "PERMISSIVE" if is_permissive else "RESTRICTIVE"
        whom = sql.SQL(", ").join(map(sql.Identifier, roles)) if roles else sql.SQL("PUBLIC")
        connection.compose(f"CREATE POLICY {{}} ON {{}} AS {kind} TO {{}} USING ({{}})", policy, place, whom, rows)
        confined.update(roles)
    for role in sorted(confined):
        connection.compose(GRANT, sql.Identifier(role))
