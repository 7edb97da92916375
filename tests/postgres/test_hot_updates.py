"""Updates that stay in their page: a move that changes nothing an index has is no work for any index."""

from typing import Any

import psycopg

from detent.client import connect

JOBS = 50


def updates_of(url: str) -> tuple[int, int]:
    """All updates of records so far, and those that stayed in their page."""
    with psycopg.connect(url, autocommit=True) as own:
        own.execute("select pg_stat_force_next_flush()") if own.info.server_version >= 150_000 else None
        row: Any = own.execute(
            "select n_tup_upd, n_tup_hot_upd from pg_stat_user_tables where relname = 'detent_records'"
        ).fetchone()
    return row[0], row[1]


def test_starts_and_renewals_stay_in_their_page(pg_url: str) -> None:
    with connect(pg_url) as client:
        client.enqueue_many([{"kind": "scan"} for _ in range(JOBS)])
        jobs = client.claim(worker="w", limit=JOBS)
        fences = [{"job_id": job.id, "worker": "w", "attempt": job.attempt} for job in jobs]
        client.start_many(fences)
        for _ in range(3):
            client.renew_many(fences)

    all_updates, in_page = updates_of(pg_url)
    assert all_updates == 5 * JOBS  # the claim, the start, three renewals
    assert in_page >= 4 * JOBS * 0.7  # as far as the pages have room


def test_renewed_lease_is_not_taken_for_an_expired_one(pg_url: str) -> None:
    """The index still has the entry of the lease as it was; whoever finds it there looks at the lease itself."""
    with connect(pg_url) as client:
        job = client.enqueue("scan")
        client.claim(worker="w", lease_s=0.3, allow_unusual_lease=True)
        client.start(job.id, worker="w", attempt=1)
        with psycopg.connect(pg_url, autocommit=True) as own:
            own.execute("select pg_sleep(0.2)")
            client.renew(job.id, worker="w", attempt=1)
            own.execute("select pg_sleep(0.15)")  # past the lease as it was, not as it is

        assert client.reconcile() == 0
        assert client.get(job.id).owner == "w"
