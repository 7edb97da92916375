"""What each role may do with every table, and what it may not, as the server has it."""

from typing import Any, Final

import psycopg
import pytest

from tests.postgres.casting import APP, MAINTENANCE, READER, STRANGER, as_role, give_rights
from tests.postgres.server import Server

ADDS: Final = {"SELECT", "INSERT"}
REMOVES: Final = {"SELECT", "DELETE"}
READS: Final = {"SELECT"}
# For each table what the app and the maintenance may do; a reader reads all of them.
RIGHTS: Final[dict[str, tuple[set[str], set[str]]]] = {
    "detent_migrations": (READS, READS),
    "detent_store": (READS, READS),
    "detent_all_records": (READS, READS),
    "detent_lifecycles": (ADDS, READS),
    "detent_moves": (ADDS, READS),
    "detent_policies": (ADDS, READS),
    "detent_jobs": (ADDS, REMOVES),
    "detent_records": (ADDS | {"UPDATE", "DELETE"}, READS),
    "detent_ended": (ADDS, REMOVES),
    "detent_events": (ADDS, REMOVES),
    "detent_event_details": (ADDS, REMOVES),
    "detent_notes": (ADDS, REMOVES),
    "detent_receipts": (ADDS | {"UPDATE"}, REMOVES),
    "detent_paces": (ADDS | {"UPDATE"}, READS),
    "detent_queues": (ADDS | {"UPDATE"}, READS),
    "detent_pauses": (ADDS | {"DELETE"}, READS),
    "detent_workers": (ADDS | {"UPDATE", "DELETE"}, READS),
    "detent_rates": (ADDS | {"UPDATE"}, REMOVES),
    "detent_schedules": (ADDS | {"UPDATE", "DELETE"}, READS),
    "detent_tokens": (ADDS, REMOVES),
}
_TABLES: Final = "select relname from pg_class where relname like 'detent%' and relkind in ('r', 'v')"
_RIGHTS: Final = """
select privilege from unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER'])
    as privilege
where has_table_privilege(%s, %s, privilege)
"""
_LOCKED: Final = (
    "select relname from pg_class where relname like 'detent%%' and has_any_column_privilege(%s, oid, 'UPDATE')"
)


def test_each_role_has_its_rights_in_every_table_and_no_others(pg_server: Server, cast_url: str) -> None:
    def rights(role: str, table: str) -> set[str]:
        return {name for (name,) in pg_server.psql(_RIGHTS, cast_url, (role, table))}

    tables = {name for (name,) in pg_server.psql(_TABLES, cast_url)}

    assert tables == set(RIGHTS)
    assert {table: (rights(APP, table), rights(MAINTENANCE, table)) for table in tables} == RIGHTS
    assert {table: rights(READER, table) for table in tables} == dict.fromkeys(tables, READS)
    assert {table: rights(STRANGER, table) for table in tables} == {table: set() for table in tables}


def test_rights_given_again_are_the_same_and_what_was_too_much_is_taken_away(pg_server: Server, cast_url: str) -> None:
    pg_server.psql(f"grant all on detent_events to {APP}, {READER}", cast_url)
    for _ in range(2):
        give_rights(cast_url)

    test_each_role_has_its_rights_in_every_table_and_no_others(pg_server, cast_url)


def test_maintenance_may_lock_the_rows_that_it_removes_and_no_others(pg_server: Server, cast_url: str) -> None:
    """To lock a row one has to be allowed to update a column of it."""
    tables = {name for (name,) in pg_server.psql(_LOCKED, cast_url, (MAINTENANCE,))}

    assert tables == {
        "detent_ended", "detent_event_details", "detent_notes", "detent_rates", "detent_receipts", "detent_tokens",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("person", "statement"),
    [
        ("web", "update detent_events set actor = 'nobody'"),
        ("web", "delete from detent_events"),
        ("web", "delete from detent_jobs"),
        ("web", "update detent_jobs set payload = ''"),
        ("web", "update detent_ended set outcome = 'failure'"),
        ("web", "delete from detent_ended"),
        ("web", "delete from detent_receipts"),
        ("web", "truncate detent_records"),
        ("web", "update detent_tokens set scopes = '[\"admin\"]'"),
        ("web", "update detent_tokens set expires_at = null"),
        ("web", "delete from detent_tokens"),
        ("web", "alter table detent_records disable trigger all"),
        ("web", "drop table detent_events"),
        ("web", "create table detent_more (n int)"),
        ("web", "set session_replication_role = replica"),
        ("janitor", "insert into detent_lifecycles (name, version, digest, definition) values ('a', 1, 'd', '{}')"),
        ("janitor", "update detent_records set progress = null"),
        ("janitor", "delete from detent_records"),
        ("janitor", "update detent_events set actor = 'nobody'"),
        ("janitor", "delete from detent_moves"),
        ("janitor", "update detent_tokens set revoked_at = null, revoked_by = null"),
        ("ann", "update detent_records set progress = null"),
        ("ann", "select nextval('detent_jobs_job_seq')"),
        ("stranger", "select * from detent_jobs"),
    ],
)
def test_what_a_role_is_not_for_the_server_refuses_it(cast_url: str, person: str, statement: str) -> None:
    with psycopg.connect(as_role(cast_url, person)) as connection:
        cursor: Any = connection.cursor()
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            cursor.execute(statement)


def test_app_takes_no_record_away_but_by_its_end(cast_url: str) -> None:
    """It has the right to delete there, and the schema lets it do so in no other way."""
    with psycopg.connect(as_role(cast_url, "web")) as connection:
        with pytest.raises(psycopg.DatabaseError, match="only its end takes a job from the living"):
            connection.execute("delete from detent_records")
        connection.rollback()
