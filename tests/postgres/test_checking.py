"""What the check of the whole store finds, after somebody got past the schema."""

from collections.abc import Iterator

import psycopg
import pytest

from detent.client import SyncClient
from detent.client.sync import run
from tests.postgres.clients import opened


@pytest.fixture
def client(pg_emptied: str) -> Iterator[SyncClient]:
    """Of a store with a job that has ended, and one that has not."""
    with opened(pg_emptied) as client:
        client.enqueue("scan", job_id="live")
        client.cancel(client.enqueue("scan", job_id="ended").id)
        yield client


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        ("delete from detent_events where job = 2 and rev = 2", ["1 revisions without an event"]),
        ("update detent_events set job = 99 where job = 2 and rev = 1",
         ["1 events without a record", "1 revisions without an event"]),
        ("insert into detent_notes (tenant, job, rev, kind, type, at, actor, payload, version)"
         " values ('default', 99, 1, 'late', 't', 0, 'a', '', 1)", ["1 notes without a record"]),
        ("delete from detent_records", ["1 events without a record", "1 jobs without a record"]),
        ("delete from detent_jobs where job = 1", ["1 records without a job"]),
        ("insert into detent_records (job, tenant, queue, kind, lifecycle, state, phase, created_at, updated_at, rev,"
         " payload_digest) values (2, 'default', 'q', 'k', 1, 's', 'parked', 0, 0, 1, 'd')",
         ["1 revisions without an event", "1 jobs that have ended and have not"]),
    ],
    ids=["no event", "no record", "no record of a note", "neither", "no job", "both"],
)  # fmt: skip
def test_damage_is_found(pg_emptied: str, client: SyncClient, damage: str, expected: list[str]) -> None:
    with psycopg.connect(pg_emptied) as connection:
        connection.execute("set session_replication_role = replica")
        connection.execute(damage)
        connection.commit()

    assert run(client.client.store.check()) == expected


def test_sound_store_has_nothing_wrong_with_it(client: SyncClient) -> None:
    assert run(client.client.store.check()) == []
