"""Isolation of namespaces, also from SQL of a confined role."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql

import bough
from bough import Store, assistant, user
from bough.db.postgres.driver import PostgreSQL
from bough.db.postgres.naming import TABLES
from bough.db.postgres.tenancy import confine, distribute

from .cluster import is_cluster
from .test_migrations import next_steps

PASSWORD = "of a tenant"
VIEWS = "bough_messages", "bough_turns", "bough_sessions"


def as_role(url: str, role: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=f"{role}:{quote(PASSWORD)}@{parts.netloc.rpartition('@')[2]}").geturl()


def say(store: Store, text: str) -> None:
    store.session("cli:a").save_turn([user(text), assistant(text.upper())])


@contextmanager
def plain_role(postgres: str, name: str) -> Iterator[str]:
    """A role that may log in and nothing else."""
    with psycopg.connect(postgres, autocommit=True) as admin:
        create = sql.SQL("CREATE ROLE {} LOGIN NOBYPASSRLS PASSWORD {}")
        admin.execute(create.format(sql.Identifier(name), sql.Literal(PASSWORD)))
        yield name
        admin.execute(sql.SQL("DROP OWNED BY {0}; DROP ROLE {0}").format(sql.Identifier(name)))


@pytest.fixture
def role(postgres: str) -> Iterator[str]:
    with plain_role(postgres, f"tenant_{uuid4().hex}") as name:
        yield name


@pytest.fixture
def other(postgres: str) -> Iterator[str]:
    """The namespace of somebody else, with something in every table that a dialog fills."""
    name = f"other-{uuid4()}"
    with bough.connect(postgres, namespace=name) as store:
        say(store, "a secret")
        store.search("secret")
        yield name


def test_namespaces_do_not_see_one_another(postgres: str, namespace: str, other: str) -> None:
    with bough.connect(postgres, namespace=namespace) as mine, bough.connect(postgres, namespace=other) as theirs:
        assert list(mine.list_messages()) == []
        assert mine.search("secret") == []
        say(mine, "hello")
        assert [node.message.text for node in theirs.list_messages()] == ["A SECRET", "a secret"]
        assert mine.find_id(theirs.session("cli:a").head or "") is None
        mine.delete_session("cli:a", keep=False)
        assert len(theirs.session("cli:a").path()) == 2
        assert mine.verify() == []
        assert theirs.verify() == []


def test_numbers_start_at_one_in_every_namespace(postgres: str, namespace: str, other: str) -> None:
    with bough.connect(postgres, namespace=namespace) as store:
        say(store, "first")
        assert store.db.rows("number", store.session("cli:a").path()[0].id) == [(1,)]


def test_a_file_has_one_namespace(tmp_path: Any) -> None:
    with pytest.raises(bough.Invalid, match="one namespace"):
        bough.connect(tmp_path / "a.db", namespace="acme")
    bough.connect(tmp_path / "a.db", namespace="default").close()


@pytest.mark.parametrize("name", ["", "a\0b", "x" * 201, "line\nbreak", "\ud800"])
def test_an_invalid_namespace_is_refused(postgres: str, name: str) -> None:
    with pytest.raises(bough.Invalid):
        bough.connect(postgres, namespace=name)


def test_a_confined_role_can_use_only_its_namespace(postgres: str, namespace: str, other: str, role: str) -> None:
    confine(postgres, role, namespace)
    with bough.connect(as_role(postgres, role), namespace=namespace) as store:
        say(store, "hello oak")
        assert [hit.node.message.text for hit in store.search("oak")] == ["HELLO OAK", "hello oak"]
        assert store.verify() == []
        store.delete_session("cli:a")
        store.restore(store.trash()[0].id)
        assert len(store.session("cli:a").path()) == 2
    with pytest.raises(bough.Refused):
        bough.connect(as_role(postgres, role), namespace=other)


def test_direct_sql_shows_a_confined_role_only_its_namespace(
    postgres: str, namespace: str, other: str, role: str
) -> None:
    confine(postgres, role, namespace)
    with psycopg.connect(as_role(postgres, role), autocommit=True) as hand:
        for setting in ("", namespace, other):  # also when it says that it is somebody else
            hand.execute("SELECT set_config('bough.namespace', %s, false)", [setting])
            for table in map(sql.Identifier, TABLES):
                seen = hand.execute(
                    sql.SQL("SELECT count(*) FROM bough.{} WHERE namespace = %s").format(table), [other]
                )
                assert seen.fetchone() == (0,)
        hand.execute("SELECT set_config('bough.namespace', %s, false)", [other])
        assert hand.execute("UPDATE bough.messages SET label = 'x'").rowcount == 0
        assert hand.execute("DELETE FROM bough.blocks").rowcount == 0
        for trick in (
            "INSERT INTO bough.state VALUES ({other}, 0, 0, 0, 1, 0, '')",
            "INSERT INTO bough.sketches VALUES ({other}, 1, '')",
            "ALTER TABLE bough.messages DISABLE ROW LEVEL SECURITY",
            "ALTER TABLE bough.messages NO FORCE ROW LEVEL SECURITY",
            "DROP POLICY one_namespace ON bough.messages",
            "CREATE POLICY mine ON bough.messages USING (true)",
            "CREATE VIEW bough.everything AS SELECT * FROM bough.messages",
            "CREATE FUNCTION bough.everything() RETURNS bigint LANGUAGE sql AS 'SELECT 1'",
            "TRUNCATE bough.sketches",
            "SET row_security = off; SELECT * FROM bough.messages",
            "SET SESSION AUTHORIZATION {admin}",
            "SET ROLE {admin}",
        ):
            names = {"other": sql.Literal(other), "admin": sql.Identifier(owner(postgres))}
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                hand.execute(sql.SQL(trick).format(**names))


def owner(postgres: str) -> str:
    with psycopg.connect(postgres) as admin:
        return admin.info.user


def test_the_views_show_a_confined_role_its_own_namespace(postgres: str, namespace: str, other: str, role: str) -> None:
    confine(postgres, role, namespace)
    with bough.connect(postgres, namespace=namespace) as store:
        say(store, "mine")
    with psycopg.connect(as_role(postgres, role), autocommit=True) as hand:
        for view in map(sql.Identifier, VIEWS):
            count = sql.SQL("SELECT count(*) > 0 FROM bough.{}").format(view)
            hand.execute("SELECT set_config('bough.namespace', %s, false)", [other])
            assert hand.execute(count).fetchone() == (False,)
            hand.execute("SELECT set_config('bough.namespace', %s, false)", [namespace])
            assert hand.execute(count).fetchone() == (True,)


def test_a_confined_role_cannot_write_rows_of_another_namespace(
    postgres: str, namespace: str, other: str, role: str
) -> None:
    confine(postgres, role, namespace)
    with bough.connect(postgres, namespace=namespace) as store:
        say(store, "mine")
        store.search("mine")
    with psycopg.connect(as_role(postgres, role), autocommit=True) as hand:
        hand.execute("SELECT set_config('bough.namespace', %s, false)", [namespace])
        moved = 0
        for table in map(sql.Identifier, TABLES):
            if hand.execute(sql.SQL("SELECT 1 FROM bough.{}").format(table)).fetchone():
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    hand.execute(sql.SQL("UPDATE bough.{} SET namespace = %s").format(table), [other])
                moved += 1
        assert moved >= 5


def test_a_function_in_a_condition_sees_no_row_of_another_namespace(
    postgres: str, namespace: str, other: str, role: str
) -> None:
    """The cheaper a condition says it is, the earlier the planner asks it; but never before the policy."""
    confine(postgres, role, namespace)
    told: list[str] = []
    with psycopg.connect(as_role(postgres, role), autocommit=True) as hand:
        hand.add_notice_handler(lambda said: told.append(said.message_primary or ""))
        hand.execute(
            "CREATE FUNCTION pg_temp.peek(text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 "
            "AS $$ BEGIN RAISE NOTICE 'seen %', $1; RETURN true; END $$"
        )
        for setting in (namespace, other):
            hand.execute("SELECT set_config('bough.namespace', %s, false)", [setting])
            for table in map(sql.Identifier, TABLES):
                hand.execute(sql.SQL("SELECT 1 FROM bough.{} WHERE pg_temp.peek(namespace)").format(table))
            statistics = "SELECT 1 FROM pg_stats WHERE schemaname = 'bough' AND most_common_vals IS NOT NULL"
            assert hand.execute(statistics).fetchall() == []
    assert [line for line in told if other in line] == []


def test_roles_with_long_names_have_separate_policies(postgres: str, namespace: str, other: str) -> None:
    """PostgreSQL cuts names after 63 bytes: what confines one role must not replace what confines another."""
    begin = f"tenant_{uuid4().hex}".ljust(60, "x")
    with plain_role(postgres, f"{begin}_1") as one, plain_role(postgres, f"{begin}_2") as two:
        confine(postgres, one, namespace)
        confine(postgres, two, other)
        with pytest.raises(bough.Refused):
            bough.connect(as_role(postgres, one), namespace=other)
        bough.connect(as_role(postgres, one), namespace=namespace).close()
        with bough.connect(as_role(postgres, two), namespace=other) as store:
            assert len(store.session("cli:a").path()) == 2


def test_a_connection_without_a_namespace_sees_nothing(postgres: str, other: str, role: str) -> None:
    with psycopg.connect(postgres, autocommit=True) as admin:
        admin.execute(sql.SQL("GRANT USAGE ON SCHEMA bough TO {}").format(sql.Identifier(role)))
        admin.execute(sql.SQL("GRANT SELECT ON ALL TABLES IN SCHEMA bough TO {}").format(sql.Identifier(role)))
    with psycopg.connect(as_role(postgres, role), autocommit=True) as hand:
        for table in map(sql.Identifier, TABLES):
            assert hand.execute(sql.SQL("SELECT count(*) FROM bough.{}").format(table)).fetchone() == (0,)


def test_the_namespace_is_reset_when_a_connection_is_returned(postgres: str, other: str) -> None:
    """A pooler may give it to another tenant next."""
    with bough.connect(postgres, namespace=other, connections=1) as store:
        say(store, "more")
        store.session("cli:a").path()
        store.find_session("cli:a")
        with store.db._server.pool.connection() as connection:  # type: ignore[attr-defined]
            assert connection.execute("SELECT current_setting('bough.namespace', true)").fetchone() == ("",)


def test_row_level_security_applies_to_the_owner_of_the_tables(postgres: str) -> None:
    if is_cluster(postgres):
        pytest.skip("not tested: on a cluster it does not, so that shards can be moved")
    with psycopg.connect(postgres) as admin:
        fenced = admin.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'bough'::regnamespace AND relkind = 'r' "
            "AND relrowsecurity AND (relforcerowsecurity OR relname = 'search')"
        ).fetchall()
    assert sorted(name for (name,) in fenced) == sorted(TABLES)


def test_confinement_needs_no_restrictive_policy(role: str, empty: str) -> None:
    """An engine that distributes the tables may drop the word from its shards, and OR all policies."""
    with bough.connect(empty, namespace="mine") as mine, bough.connect(empty, namespace="theirs") as theirs:
        say(mine, "hello")
        say(theirs, "a secret")
    confine(empty, role, "mine")
    with psycopg.connect(empty, autocommit=True) as admin:
        make_permissive(admin)
    with pytest.raises(bough.Refused):
        bough.connect(as_role(empty, role), namespace="theirs")
    with pytest.raises(bough.Refused):
        bough.connect(as_role(empty, role), namespace="new")
    with psycopg.connect(as_role(empty, role), autocommit=True) as hand:
        hand.execute("SELECT set_config('bough.namespace', 'theirs', false)")
        for table in map(sql.Identifier, TABLES):
            assert hand.execute(sql.SQL("SELECT count(*) FROM bough.{}").format(table)).fetchone() == (0,)
    with bough.connect(as_role(empty, role), namespace="mine") as mine:
        say(mine, "more")
        assert len(mine.session("cli:a").path()) == 4


def make_permissive(admin: psycopg.Connection[Any]) -> None:
    rows = "SELECT tablename, policyname, roles::text[], qual FROM pg_policies WHERE permissive = 'RESTRICTIVE'"
    for table, policy, roles, condition in admin.execute(rows).fetchall():
        place, name = sql.Identifier("bough", table), sql.Identifier(policy)
        admin.execute(sql.SQL("DROP POLICY {} ON {}").format(name, place))
        whom = sql.SQL(", ").join(map(sql.Identifier, roles))
        admin.execute(
            sql.SQL("CREATE POLICY {} ON {} TO {} USING (").format(name, place, whom) + sql.SQL(condition + ")")
        )


def test_a_role_that_is_not_confined_still_uses_every_namespace(postgres: str, namespace: str, role: str) -> None:
    with plain_role(postgres, f"tenant_{uuid4().hex}") as confined:
        confine(postgres, confined, namespace)
        with psycopg.connect(postgres, autocommit=True) as admin:
            whom = sql.Identifier(role)
            admin.execute(sql.SQL("GRANT USAGE ON SCHEMA bough TO {}").format(whom))
            admin.execute(
                sql.SQL("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA bough TO {}").format(whom)
            )
        for name in (namespace, f"{namespace}-2"):
            with bough.connect(as_role(postgres, role), namespace=name) as store:
                say(store, "hello")
                assert len(store.session("cli:a").path()) == 2


@pytest.mark.parametrize("right", ["SUPERUSER", "BYPASSRLS", "member"])
def test_a_role_with_other_rights_on_the_tables_cannot_be_confined(
    postgres: str, namespace: str, role: str, right: str
) -> None:
    with psycopg.connect(postgres, autocommit=True) as admin:
        command = "ALTER ROLE {} {}" if right != "member" else "GRANT pg_read_all_data TO {}"
        admin.execute(sql.SQL(command).format(sql.Identifier(role), sql.SQL(right)))
    with pytest.raises(bough.Refused, match="cannot be confined"):
        confine(postgres, role, namespace)
    with psycopg.connect(as_role(postgres, role)) as hand:
        allowed = hand.execute(
            "SELECT bool_or(has_table_privilege(oid, 'INSERT')) FROM pg_class WHERE relname = 'state'"
        ).fetchone()
    assert allowed == (right == "SUPERUSER",)


def test_a_confined_role_is_confined_in_the_tables_of_later_versions(role: str, empty: str, tmp_path: Path) -> None:
    confine(empty, role, "mine")
    steps = next_steps(
        tmp_path / "steps",
        """
        CREATE TABLE bough.invented (namespace text PRIMARY KEY, n bigint);
        ALTER TABLE bough.invented ENABLE ROW LEVEL SECURITY;
        CREATE POLICY one_namespace ON bough.invented
            USING (namespace = current_setting('bough.namespace', true)); -- the semicolon; of a comment
        INSERT INTO bough.invented VALUES ('mine', 1), ('their;s', 2)
        """,
    )
    PostgreSQL(empty, migrations=steps).close()
    with psycopg.connect(as_role(empty, role), autocommit=True) as hand:
        for setting, seen in (("mine", [(1,)]), ("their;s", [])):
            hand.execute("SELECT set_config('bough.namespace', %s, false)", [setting])
            assert hand.execute("SELECT n FROM bough.invented").fetchall() == seen


PLANTED = """
    CREATE FUNCTION public.to_timestamp(bigint) RETURNS timestamptz LANGUAGE sql
        AS $$ INSERT INTO public.fallen VALUES (current_user) RETURNING now() $$;
    CREATE FUNCTION public.create_distributed_table(regclass, text, colocate_with text) RETURNS void LANGUAGE sql
        AS $$ INSERT INTO public.fallen VALUES (current_user) $$;
    CREATE TABLE public.pg_dist_partition (logicalrelid regclass)
"""
"""Functions that fit a call of ours better than those of the server."""


def test_nobody_who_may_create_functions_has_them_called_by_others(empty: str) -> None:
    with psycopg.connect(empty, autocommit=True) as admin:
        admin.execute("CREATE TABLE public.fallen (whom text)")
        admin.execute(PLANTED)
        with bough.connect(empty) as store:
            say(store, "hello")
            store.usage(by="day")
        with pytest.raises(bough.Refused, match="Citus"):
            distribute(empty)
        admin.execute("SELECT set_config('bough.namespace', 'default', false)")
        assert admin.execute("SELECT count(*) FROM bough.bough_messages WHERE created_at > ''").fetchone() == (2,)
        assert admin.execute("SELECT * FROM public.fallen").fetchall() == []


def test_confining_an_unknown_role_is_an_error(postgres: str) -> None:
    with pytest.raises(bough.NotFound):
        confine(postgres, "nobody_of_that_name", "x")


def test_distributing_without_the_extension_is_an_error(empty: str) -> None:
    with pytest.raises(bough.Refused, match="Citus"):
        distribute(empty)


def test_a_url_may_contain_the_namespace(postgres: str, namespace: str) -> None:
    with bough.connect(f"{postgres}?namespace={namespace}") as store:
        say(store, "hello")
    with bough.connect(postgres, namespace=namespace) as store:
        assert len(store.session("cli:a").path()) == 2
    with pytest.raises(bough.Invalid, match="names the namespace"):
        bough.connect(f"{postgres}?namespace={namespace}", namespace="another")


def test_a_vacuum_that_the_server_skips_is_refused(postgres: str, role: str, namespace: str) -> None:
    bough.connect(postgres, namespace=namespace).close()
    confine(postgres, role, namespace)
    with bough.connect(as_role(postgres, role), namespace=namespace) as store:
        with pytest.raises(bough.Refused, match=r"did not vacuum .* tables"):
            store.db.vacuum()
