"""How far back the newest events are looked for: over a named number of events, and over all of one job."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from detent.client import Client, Codec, SyncClient
from detent.lifecycles import BUILT_IN
from detent.store import Store
from detent.store.postgres import Address, PostgresStore
from detent.store.query import LOOK_BACK_MAX
from detent.store.sqlite import File, SqliteStore
from detent.testing import MemoryStore
from tests.store.sqlite.watching import watched

FEW: Final = 6


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    match request.param:
        case "memory":
            return MemoryStore()
        case "sqlite":
            return SqliteStore(File(str(tmp_path / "jobs.db"), synchronous="normal"))
        case _:
            return PostgresStore(Address(url=request.getfixturevalue("pg_emptied")))


@pytest.fixture
def client(store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[SyncClient]:
    """Of a store that looks back over a few events, so that a log can be longer than that."""
    for module in ("store.sqlite.log", "store.postgres.log", "testing.asking"):
        monkeypatch.setattr(f"detent.{module}.LOOK_BACK_MAX", FEW)
    client = client_of(store)
    client.open()
    yield client
    client.close()


def client_of(store: Store, tenant: str = "default") -> SyncClient:
    return SyncClient(Client(store, tenant=tenant, codec=Codec(), lifecycles=tuple(BUILT_IN.values())))


def fill(client: SyncClient, events: int) -> None:
    client.enqueue_many([{"kind": "scan", "queue": "other"}] * events)


def test_what_lies_further_back_is_not_found_and_the_cursor_says_how_far_it_looked(client: SyncClient) -> None:
    client.enqueue("scan", job_id="old")
    (claimed,) = client.claim(worker="w")
    fill(client, FEW - 1)
    near = client.recent(verb="claim")
    fill(client, 1)
    far = client.recent(verb="claim")

    assert [event.job_id for event in near.items] == [claimed.id]
    assert far.items == []
    assert far.cursor == near.items[0].cursor
    assert len(client.events(cursor=far.cursor).items) == FEW


def test_log_of_just_so_many_events_is_looked_through_to_its_beginning(client: SyncClient) -> None:
    fill(client, FEW)
    whole = client.recent(verb="claim")
    fill(client, 1)
    more = client.recent(verb="claim")

    assert whole.cursor is None
    assert more.cursor is not None


def test_events_of_one_job_or_correlation_are_found_however_far_back(client: SyncClient) -> None:
    client.enqueue("scan", job_id="old", correlation_id="c")
    fill(client, FEW * 2)

    for page in (client.recent(job_id="old"), client.recent(correlation_id="c", verb="enqueue")):
        assert [event.job_id for event in page.items] == ["old"]
        assert page.cursor is None


def test_events_that_were_removed_do_not_count(client: SyncClient) -> None:
    client.enqueue("scan", job_id="old", queue="other")
    gone = [client.cancel(client.enqueue("scan").id).id for _ in range(FEW)]
    before = client.recent(queue="other")
    client.purge(gone)
    after = client.recent(queue="other")

    assert before.items == []
    assert [event.job_id for event in after.items] == ["old"]
    assert after.cursor is None


def test_events_of_other_tenants_count_too(client: SyncClient) -> None:
    """The bound is on what is looked through, whoever's it is."""
    other = client_of(client.client.store, tenant="other")
    other.open()
    other.enqueue("scan", job_id="theirs")
    fill(client, FEW)
    page = other.recent()

    assert (page.items, page.cursor is None) == ([], False)
    assert [event.job_id for event in other.recent(job_id="theirs").items] == ["theirs"]


@pytest.mark.requirement("STD-13")
def test_look_for_what_does_not_occur_takes_no_more_steps_in_a_longer_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("detent.store.sqlite.log.LOOK_BACK_MAX", 500)
    steps = []
    with watched() as watch:
        client = client_of(SqliteStore(File(str(tmp_path / "jobs.db"), synchronous="normal")))
        client.open()
        for _ in range(2):
            fill(client, 2_000)
            watch.reset()
            client.recent(verb="claim", queue="nothing")
            steps.append(watch.steps)
        client.close()

    assert steps[1] <= steps[0] * 1.05


def test_bound_is_the_one_that_is_documented(tmp_path: Path) -> None:
    assert LOOK_BACK_MAX == 100_000
    assert "100,000" in str(Client.recent.__doc__)
