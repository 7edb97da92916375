"""Claims of many jobs that are alike are one statement, and come to what they would have come to one by one."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from detent import Limit, Policy
from detent.client import Client, SyncClient, connect
from detent.client.codec import Codec
from detent.client.sync import run
from detent.kernel import Job
from detent.kernel.alike import LOOKED_AT
from detent.kernel.command import Claim
from detent.lifecycles import BUILT_IN
from detent.store import ClaimRequest, Reply
from detent.store.postgres import Address, PostgresStore
from detent.store.postgres.connection import Connection
from detent.store.postgres.script import Ask
from detent.store.postgres.statements import SQL
from detent.store.sqlite import File, SqliteStore
from detent.testing import VirtualClock
from tests.postgres.server import Server

JOBS: Final = 100
PAGE: Final = 20
ODD: Final = 47  # the place of the one that differs, where there is one
PUT_BACK: Final = """
    create or replace function detent_now() returns bigint language sql volatile parallel safe as
    $$ select (extract(epoch from clock_timestamp()) * 1000000)::bigint - 3600000000 $$
"""
# What the statement compares, by its columns.
COMPARED: Final = frozenset(re.findall(r"[jr]\.(\w+) (?:=|<=|is null)", SQL["what_differs"]))

Item = dict[str, Any]


class World:
    def __init__(self, store: Any, clock: VirtualClock) -> None:
        self.clock = clock
        self.client = SyncClient(Client(store, tenant="default", codec=Codec(), lifecycles=tuple(BUILT_IN.values())))

    def __enter__(self) -> "World":
        self.client.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    def fill(self, odd: Item, **usual: Any) -> None:
        for n in range(JOBS):
            self.client.enqueue_many([{"kind": "scan", "job_id": f"job-{n:03}", **usual, **(odd if n == ODD else {})}])
            self.clock.pass_s(0.001)

    def drain(self, **asked: Any) -> list[list[tuple[str, int, int, str]]]:
        """What each claim took, until there is nothing."""
        taken: list[list[tuple[str, int, int, str]]] = []
        while True:
            jobs = self.client.claim(worker="w", limit=PAGE, start=True, **asked)
            self.clock.pass_s(0.25)
            if not jobs:
                return taken
            taken.append([(job.id, job.rev, job.attempt, str(job.lease_expires_at)) for job in jobs])

    def log(self) -> list[str]:
        told = [event for n in range(JOBS) for event in self.client.history(f"job-{n:03}")]
        return [repr(event.record) if hasattr(event, "record") else repr(event) for event in told]


@pytest.fixture
def worlds(pg_emptied: str, tmp_path: Path) -> Iterator[tuple[World, World]]:
    """The same, on both stores."""
    one, other = VirtualClock(), VirtualClock()
    sqlite = SqliteStore(File(str(tmp_path / "jobs.db"), synchronous="normal"), clock=other, random=lambda: 0.5)
    postgres = PostgresStore(Address(url=pg_emptied), clock=one, random=lambda: 0.5)
    with World(postgres, one) as here, World(sqlite, other) as there:
        yield here, there


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements that the store sends, but for rings, which are sent when it comes to that."""
    sent: list[str] = []
    execute = Connection.execute

    def told(self: Connection, asked: Ask) -> Any:
        if "pg_notify" not in asked.sql:
            sent.append(asked.sql)
        return execute(self, asked)

    monkeypatch.setattr(Connection, "execute", told)
    return sent


def test_claims_after_the_first_are_one_statement(worlds: tuple[World, World], asked: list[str]) -> None:
    here, _ = worlds
    here.fill({})
    here.client.claim(worker="w", kinds=["scan"], limit=PAGE, start=True)
    asked.clear()

    for _ in range(3):
        here.client.claim(worker="w", kinds=["scan"], limit=PAGE, start=True)

    assert len(asked) == 3


def test_statement_compares_all_that_a_decision_looks_at() -> None:
    left_out = [name for name in LOOKED_AT if name.removeprefix("spec.") not in COMPARED]

    assert left_out == ["spec.tenant"]  # a claim is of one tenant


def test_what_is_not_read_of_a_record_is_compared_or_set_by_the_claim(worlds: tuple[World, World]) -> None:
    here, _ = worlds
    here.fill({})
    (claimed,) = here.client.claim(worker="w", kinds=["scan"], start=True)
    read = {"created_at", "payload_digest"}
    set_by_claims = {name for event in here.client.history(claimed.id)[1:] for name in event.changes}

    left_out = [name for name in Job.__struct_fields__[1:] if name not in COMPARED | read | set_by_claims]

    assert left_out == [
        "result_digest",
        "error_digest",
        "ended_at",
        "result",
        "error",
    ]  # only those have them that ended


def test_jobs_that_come_back_are_as_the_store_has_them(worlds: tuple[World, World]) -> None:
    here, _ = worlds
    here.fill(
        {}, payload={"page": 1}, priority=3, correlation_id="order-1", parent_job_id="p", topic="t", env={"a": "b"}
    )
    store, claim = here.client.client.store, Claim(worker="w", start=True)
    asked = ClaimRequest("default", claim, ("default",), ("scan",), None, PAGE, frozenset())
    for _ in range(3):
        replies = run(store.claim(asked))

    jobs = [reply.job for reply in replies if isinstance(reply, Reply)]
    assert len(jobs) == PAGE
    assert jobs == run(store.get("default", [job.id for job in jobs]))


@pytest.mark.requirement("ALL-05")
@pytest.mark.parametrize("lifecycle", ["standard", "contract", "engine"])
def test_jobs_that_come_one_by_one_are_claimed_as_on_the_other_store(
    worlds: tuple[World, World], lifecycle: str
) -> None:
    for world in worlds:
        for n in range(6):
            world.client.enqueue("scan", job_id=f"job-{n}", lifecycle=lifecycle)
            world.clock.pass_s(0.01)
            assert len(world.client.claim(worker="w", kinds=["scan"], limit=1 + n // 4)) == 1

    logs = [[repr(event) for n in range(6) for event in world.client.history(f"job-{n}")] for world in worlds]
    assert logs[0] == logs[1]


def test_claim_after_the_clock_was_put_back_is_of_that_clock(pg_server: Server) -> None:
    """What the model saw before is no measure: a lease would end an hour too late."""
    url = pg_server.new_database()
    with connect(url) as client:
        client.enqueue_many([{"kind": "scan"}] * PAGE)
        jobs = client.claim(worker="w", kinds=["scan"], limit=PAGE, start=True)
        pg_server.psql(PUT_BACK, url)
        client.complete_many([{"job_id": job.id, "worker": "w", "attempt": 1} for job in jobs])  # and so hears of it
        client.enqueue_many([{"kind": "scan"}] * PAGE)

        (job, *_) = client.claim(worker="w", kinds=["scan"], limit=PAGE, start=True)

        assert job.lease_expires_at is not None
        assert (job.lease_expires_at - job.created_at).total_seconds() < 2 * job.policy.lease_s
    pg_server.drop_database(url)


def test_numbers_of_definitions_are_not_taken_over_to_another_database(
    worlds: tuple[World, World], asked: list[str]
) -> None:
    """After a connection was lost it may lead to another: what was read on it before is read again."""
    here, _ = worlds
    here.fill({})
    for _ in range(2):
        here.client.claim(worker="w", kinds=["scan"], limit=PAGE, start=True)
    store = here.client.client.store
    assert isinstance(store, PostgresStore)
    for server in store._servers:
        server.connection.definitions.forget()
    asked.clear()

    assert len(here.client.claim(worker="w", kinds=["scan"], limit=PAGE, start=True)) == PAGE
    assert not any("is_alike" in sql for sql in asked)


@pytest.mark.requirement("ALL-01", "ALL-03")
@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"policy": Policy(lease_s=90.0)},
        {"policy": Policy(timeout_s=600.0)},
        {"priority": 9},
        {"priority": -9},
        {"trace_id": "0af7651916cd43dd8448eb211c80319c"},
        {"limit_key": "k", "policy": Policy(limit=Limit(concurrency_max=1))},
        {"dedupe_key": "once"},
        {"adapter_id": "gpu"},
        {"lifecycle": "document"},
        {"payload": {"n": 1}},
        {"correlation_id": "order-1"},
    ],
    ids=lambda odd: next(iter(odd), "nothing"),
)
def test_one_job_that_differs_is_claimed_as_on_the_other_store(worlds: tuple[World, World], odd: Item) -> None:
    for world in worlds:
        world.fill(odd)
    here, there = worlds

    taken = here.drain(), there.drain()

    assert taken[0] == taken[1]
    assert here.log() == there.log()
    assert here.client.verify().is_clean


def test_job_that_comes_back_among_others_is_claimed_at_its_own_revision(worlds: tuple[World, World]) -> None:
    for world in worlds:
        world.fill({"priority": 5})
        (first,) = world.client.claim(worker="w", limit=1, start=True)
        world.client.fail(first.id, worker="w", attempt=1, error={"type": "TransientError", "message": "it fell over"})
        world.clock.pass_s(600)
    here, there = worlds

    taken = here.drain(), there.drain()

    assert taken[0] == taken[1]
    assert [job for page in taken[0] for job in page if job[2] == 2] == [(f"job-{ODD:03}", *taken[0][0][0][1:])]
    assert here.log() == there.log()


def test_queue_that_is_paused_between_two_claims_gives_no_more(worlds: tuple[World, World]) -> None:
    here, _ = worlds
    here.fill({})
    for _ in range(2):
        here.client.claim(worker="w", limit=PAGE, start=True)

    here.client.pause_queue("default")

    assert here.client.claim(worker="w", limit=PAGE, start=True) == []


def test_job_that_is_not_due_yet_is_left_where_it_is(worlds: tuple[World, World]) -> None:
    here, there = worlds
    for world in worlds:
        world.fill({"delay_s": 3_600})

    taken = here.drain(), there.drain()

    assert taken[0] == taken[1]
    assert sum(len(page) for page in taken[0]) == JOBS - 1


def test_jobs_of_which_the_same_is_told_end_together_though_more_was_said_of_some(worlds: tuple[World, World]) -> None:
    for world in worlds:
        world.fill({})
        jobs = world.client.claim(worker="w", limit=JOBS, start=True)
        for job in jobs[::2]:
            world.client.progress(job.id, worker="w", attempt=1, fraction=0.5)
        world.client.complete_many(
            [{"job_id": job.id, "worker": "w", "attempt": 1} for job in (*jobs[::2], *jobs[1::2])]
        )
    here, there = worlds

    assert here.client.count(by=["state"]) == {("succeeded",): JOBS}
    assert here.log() == there.log()
    assert here.client.verify().is_clean


def test_what_was_claimed_at_once_is_completed_without_another_look(
    worlds: tuple[World, World], asked: list[str]
) -> None:
    here, _ = worlds
    here.fill({})
    here.client.claim(worker="w", limit=PAGE, start=True)
    jobs = here.client.claim(worker="w", limit=PAGE, start=True)
    asked.clear()

    here.client.complete_many([{"job_id": job.id, "worker": "w", "attempt": 1} for job in jobs])

    assert len(asked) == 1
    assert here.client.verify().is_clean
