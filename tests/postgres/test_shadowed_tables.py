"""Guards look at the store's own tables, whatever a writer's path or temporary tables are."""

import psycopg
import pytest

from detent.client import connect

SHADOWS = """
create temp table detent_events (like public.detent_events including all);
create temp table detent_moves (like public.detent_moves including all);
insert into pg_temp.detent_moves
    select lifecycle, 'queued', 'x', 'nonsense', 'ready', null from public.detent_records;
insert into pg_temp.detent_events (
    tenant, job, rev, type, verb, from_state, to_state, at, actor, role, attempt, changes, version
)
    select tenant, job, v.rev, 'x', v.verb, v.f, v.t, 1, 'x', 'x', 0, '{}', 1
    from public.detent_records,
        (values (1, 'enqueue', null, 'queued'), (2, 'x', 'queued', 'nonsense')) v (rev, verb, f, t)
"""


def test_temporary_tables_do_not_stand_in_for_the_log_and_the_moves(pg_url: str) -> None:
    with connect(pg_url) as client:
        job = client.enqueue("scan")
        with psycopg.connect(pg_url, autocommit=True) as writer:
            writer.execute(SHADOWS)

            with pytest.raises(psycopg.Error, match="declared"):
                writer.execute("update public.detent_records set state = 'nonsense', rev = 2, updated_at = 2")

        assert client.get(job.id).state == "queued"
        assert client.verify().is_clean


def test_role_with_a_store_in_a_schema_of_its_own_name_can_write_both(pg_url: str) -> None:
    with connect(pg_url) as client:
        client.enqueue("scan")
    with psycopg.connect(pg_url, autocommit=True) as owner:
        owner.execute("create schema postgres")
    with connect(f"{pg_url}?options=-csearch_path%3Dpostgres") as own:
        own.enqueue("scan")

    with connect(pg_url) as nearest, connect(f"{pg_url}?options=-csearch_path%3Dpublic") as public:
        nearest.enqueue("scan")  # the path begins with the role's own schema
        public.enqueue("scan")
        assert (nearest.verify().jobs, public.verify().jobs) == (2, 2)
