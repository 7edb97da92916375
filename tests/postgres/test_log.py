"""Reading the log while transactions are under way: what commits late is not lost, nothing comes twice, jobs stay in
the order of their revisions, and a transaction that stays open holds nobody up.
"""

import threading
from collections.abc import Callable, Iterator
from typing import Any, Final

import psycopg
import pytest

from detent.client import Event, SyncClient
from detent.errors import InvalidArgument
from detent.store.postgres import log
from detent.store.postgres.definitions import Definitions
from detent.store.postgres.session import Session
from tests.postgres.clients import opened
from tests.postgres.explaining import touching
from tests.postgres.following import Connection, Reader, Writer

WRITERS: Final = 5
JOBS: Final = 25  # of each writer
EVENTS_PER_JOB: Final = 4  # enqueue, claim, start, complete
PAGES_MAX: Final = 200


@pytest.fixture
def told_url(pg_emptied: str) -> str:
    """Of a log that has one event, of another tenant's: the store keeps the settings of that job, as of any other."""
    with opened(pg_emptied, tenant="other") as other:
        other.enqueue("scan")
    return pg_emptied


@pytest.fixture
def client(told_url: str) -> Iterator[SyncClient]:
    with opened(told_url) as client:
        yield client


@pytest.fixture
def begin(told_url: str, client: SyncClient) -> Iterator[Callable[[], Connection]]:
    """A transaction of a program's own, with a number. What is left open at the end is rolled back."""
    connections: list[Connection] = []

    def begun() -> Connection:
        connection = psycopg.connect(told_url)
        connections.append(connection)
        connection.execute("select pg_current_xact_id()")
        return connection

    yield begun
    for connection in connections:
        connection.close()


def named(events: list[Event]) -> str:
    return " ".join(event.job_id for event in events)


def read_on(client: SyncClient, cursor: str | None, **how: Any) -> tuple[str, str | None]:
    """What comes after the cursor, page by page, and where it ended."""
    found: list[Event] = []
    for _ in range(PAGES_MAX):
        page = client.events(cursor=cursor, **how)
        cursor = page.cursor
        if not page.items:
            return named(found), cursor
        found += page.items
    raise AssertionError(f"the log did not end in {PAGES_MAX} pages")


@pytest.mark.requirement("STD-13")
def test_event_that_commits_late_is_read_late_and_once(client: SyncClient, begin: Callable[[], Connection]) -> None:
    tx = begin()
    client.enqueue("scan", job_id="late", tx=tx)
    client.enqueue("scan", job_id="early")
    first, cursor = read_on(client, None)
    tx.commit()
    second, cursor = read_on(client, cursor)

    assert (first, second) == ("early", "late")
    assert read_on(client, cursor)[0] == ""


# An event of a job that is there, written as this store writes: without a savepoint, which would take a number as well.
BY_HAND: Final = """
    insert into detent_events (tenant, job, rev, type, verb, to_state, at, actor, role, attempt, changes, version)
    select tenant, job, rev + %s, type, verb, to_state, at, actor, role, attempt, changes, version
    from detent_events e where exists (select 1 from detent_jobs j where j.job = e.job and j.id = %s)
"""


@pytest.mark.requirement("STD-13")
def test_event_of_the_newest_transaction_is_not_lost_when_an_older_one_commits_first(
    client: SyncClient, begin: Callable[[], Connection]
) -> None:
    """The snapshot of a reader ends below the newest transaction then, and does not name it."""
    client.enqueue("scan", job_id="early")
    client.enqueue("scan", job_id="late")
    start, older, newest = client.end(), begin(), begin()
    newest.execute(BY_HAND, [1, "late"])
    older.execute(BY_HAND, [1, "early"])
    older.commit()
    first, cursor = read_on(client, start)
    newest.commit()

    assert (first, read_on(client, cursor)[0]) == ("early", "late")


def test_end_of_the_log_is_before_what_is_under_way(client: SyncClient, begin: Callable[[], Connection]) -> None:
    tx = begin()
    client.enqueue("scan", job_id="late", tx=tx)
    client.enqueue("scan", job_id="early")
    end = client.end()
    tx.commit()

    assert read_on(client, end)[0] == "late"


def test_reader_goes_on_from_any_event_though_others_come_late(
    client: SyncClient, begin: Callable[[], Connection]
) -> None:
    slow, slower = begin(), begin()
    for number in range(3):
        client.enqueue("scan", job_id=f"b{number}", tx=slow)
        client.enqueue("scan", job_id=f"c{number}", tx=slower)
        client.enqueue("scan", job_id=f"a{number}")
    _, cursor = read_on(client, None)
    slow.commit()
    client.enqueue("scan", job_id="d")
    page = client.events(cursor=cursor)
    slower.commit()
    rest = [read_on(client, event.cursor, limit=2)[0] for event in page.items]

    assert named(page.items) == "b0 b1 b2 d"
    assert [sorted(names.split()) for names in rest] == [
        ["b1", "b2", "c0", "c1", "c2", "d"],
        ["b2", "c0", "c1", "c2", "d"],
        ["c0", "c1", "c2", "d"],
        ["c0", "c1", "c2"],
    ]


def test_filters_hold_for_what_comes_late_as_well(client: SyncClient, begin: Callable[[], Connection]) -> None:
    tx = begin()
    for queue in ("p", "q"):
        client.enqueue("scan", job_id=f"late-{queue}", queue=queue, correlation_id=f"c-{queue}", tx=tx)
    client.enqueue("scan", job_id="early", queue="q", correlation_id="c-q")
    asked: list[dict[str, Any]] = [{"queue": "q"}, {"correlation_id": "c-q"}, {"job_id": "late-q"}, {"type": "nothing"}]
    cursors = [read_on(client, None, **filters)[1] for filters in asked]
    tx.commit()

    late = [read_on(client, cursor, **filters)[0] for cursor, filters in zip(cursors, asked, strict=True)]
    assert late == ["late-q", "late-q", "late-q", ""]


def test_looking_back_leaves_what_is_under_way_to_those_who_read_on(
    client: SyncClient, begin: Callable[[], Connection]
) -> None:
    tx = begin()
    client.enqueue("scan", job_id="late", tx=tx)
    for number in range(3):
        client.enqueue("scan", job_id=f"a{number}")
    page = client.recent(limit=2)
    tx.commit()

    assert named(page.items) == "a1 a2"
    assert read_on(client, page.cursor)[0] == "late a1 a2"
    assert read_on(client, page.items[0].cursor)[0] == "late a2"


def test_what_was_rolled_back_is_not_waited_for(client: SyncClient, begin: Callable[[], Connection]) -> None:
    tx = begin()
    client.enqueue("scan", job_id="undone", tx=tx)
    client.enqueue("scan", job_id="done")
    _, held = read_on(client, None)
    tx.rollback()
    rest, cursor = read_on(client, held)

    assert (rest, cursor) == ("", "3")
    assert held not in (None, cursor)


def test_waiting_ends_when_what_was_passed_commits(client: SyncClient, begin: Callable[[], Connection]) -> None:
    tx = begin()
    client.enqueue("scan", job_id="late", tx=tx)
    client.enqueue("scan", job_id="early")
    _, cursor = read_on(client, None)
    committing = threading.Thread(target=tx.commit)
    tail = client.tail(after=cursor, timeout_s=30)
    committing.start()
    heard = next(tail)
    committing.join()

    assert heard.job_id == "late"


def test_transaction_that_stays_open_makes_no_look_longer(
    told_url: str, client: SyncClient, begin: Callable[[], Connection]
) -> None:
    tx = begin()
    client.enqueue("scan", job_id="late", tx=tx)
    pages = []
    cursor: str | None = None
    with touching(told_url) as touched:
        for _ in range(2):
            for _ in range(5):
                client.enqueue_many([{"kind": "scan"}] * 1_000)
            while (page := client.events(cursor=cursor, limit=1_000)).items:
                cursor = page.cursor
            cursor = page.cursor or ""
            pages.append(touched(log.is_beyond(Session(Definitions()), cursor)))

    assert max(pages) < 30
    assert len(cursor or "") < 100
    tx.commit()
    assert read_on(client, cursor)[0] == "late"


@pytest.mark.requirement("STD-13", "ALL-03")
def test_readers_see_each_event_once_and_each_job_in_order_whatever_commits_when(told_url: str) -> None:
    is_over, barrier = threading.Event(), threading.Barrier(WRITERS, timeout=30)
    with opened(told_url) as client, opened(told_url) as other:
        writers = [Writer(client, told_url, f"w{number}", JOBS, barrier) for number in range(WRITERS)]
        readers = [Reader(client, "r0", is_over), Reader(other, "r1", is_over)]
        for thread in (*writers, *readers):
            thread.start()
        for writer in writers:
            writer.join()
        is_over.set()
        for reader in readers:
            reader.join()

        assert [writer.failure for writer in writers] == [None] * WRITERS
        for reader in readers:
            ids = [event.id for event in reader.seen]
            assert len(ids) == len(set(ids)) == WRITERS * JOBS * EVENTS_PER_JOB
            assert reader.late_pages > 0
            revs: dict[str, int] = {}
            for event in reader.seen:
                assert event.rev == revs.get(event.job_id, 0) + 1
                revs[event.job_id] = event.rev


@pytest.mark.parametrize("cursor", ["x", "1~", "1~2:0", "1~2:99999999999999999999", "-1", "0" * 300])
def test_what_no_listing_returned_is_refused(client: SyncClient, cursor: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        client.events(cursor=cursor)

    assert caught.value.code == "bad_cursor"
