"""Listings: every filter, paging that misses nothing and repeats nothing, and text that looks like SQL."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from detent.client import Job
from detent.errors import InvalidArgument, NotFound
from tests.client.arguments import UNLIKELY
from tests.client.world import World

DAY = datetime(2025, 2, 1, 16, 0, 0, 123456, tzinfo=UTC)


def ids(jobs: list[Job]) -> list[str]:
    return [job.id for job in jobs]


def fill(world: World, number: int = 10) -> None:
    for n in range(number):
        world.blocking.enqueue("scan" if n % 2 else "mail", job_id=f"j{n}", queue="q" if n % 3 else "default")
        world.clock.pass_s(1)


@pytest.mark.parametrize("limit", [1, 2, 3, 9, 10, 11, 1_000])
def test_pages_hold_every_job_once_and_newest_first(fresh: World, limit: int) -> None:
    fill(fresh)
    found: list[str] = []
    cursor = None

    for _ in range(20):
        page = fresh.blocking.find(limit=limit, cursor=cursor)
        found += ids(page.items)
        cursor = page.cursor
        if cursor is None:
            break

    assert found == [f"j{n}" for n in reversed(range(10))]


def test_jobs_made_meanwhile_do_not_disturb_a_listing(fresh: World) -> None:
    fill(fresh, 4)
    first = fresh.blocking.find(limit=2)
    fresh.blocking.enqueue("scan", job_id="late")

    second = fresh.blocking.find(limit=2, cursor=first.cursor)

    assert ids(first.items) + ids(second.items) == ["j3", "j2", "j1", "j0"]


FILTERS: list[tuple[dict[str, Any], list[str]]] = [
    ({"state": "queued"}, ["waiting"]),
    ({"state": "RUNNING"}, []),
    ({"phase": "active"}, ["running"]),
    ({"phase": "held"}, ["held"]),
    ({"phase": "ended"}, ["setaside", "ended"]),
    ({"phase": "nonsense"}, []),
    ({"outcome": "success"}, ["ended"]),
    ({"outcome": "failure"}, ["setaside"]),
    ({"queue": "held"}, ["held"]),
    ({"kind": "nothing"}, []),
    ({"lifecycle": "dispatch"}, ["onhold", "pending"]),
    ({"lifecycle": "nothing"}, []),
    ({"owner": "w"}, ["running", "held"]),
    ({"owner": "w", "phase": "held"}, ["held"]),
    ({"correlation_id": "held"}, ["held"]),
    ({"dedupe_key": "nothing"}, []),
    ({"topic": "nothing"}, []),
    ({"ended_from": DAY, "ended_until": DAY}, ["setaside", "ended"]),
    ({"ended_from": DAY + timedelta(microseconds=1)}, []),
    ({"created_until": DAY - timedelta(microseconds=1)}, []),
    ({"created_from": DAY, "phase": "parked"}, ["stalled", "draft", "pending"]),
    ({"created_from": datetime.min.replace(tzinfo=UTC), "state": "queued"}, ["waiting"]),
    ({"created_until": datetime.max.replace(tzinfo=UTC), "state": "queued"}, ["waiting"]),
    ({"state": None, "queue": "held"}, ["held"]),
]


@pytest.mark.parametrize(("filters", "expected"), FILTERS, ids=lambda value: str(value)[:50])
def test_filter_finds_those_and_no_others(fresh: World, filters: dict[str, Any], expected: list[str]) -> None:
    fresh.prepare()

    assert sorted(ids(fresh.blocking.find(**filters).items)) == sorted(expected)


@pytest.mark.requirement("DSP-11")
def test_links_between_jobs_can_be_asked_for(fresh: World) -> None:
    for n in range(3):
        fresh.blocking.enqueue("scan", job_id=f"c{n}", parent_job_id="p", workflow_id="f", step_index=n, topic="t")
    fresh.blocking.enqueue("scan", job_id="p", correlation_id="c", dedupe_key="d")

    find = fresh.blocking.find
    assert ids(find(parent_job_id="p").items) == ids(find(workflow_id="f").items) == ["c2", "c1", "c0"]
    assert ids(find(topic="t", limit=1).items) == ["c2"]
    assert ids(find(correlation_id="c").items) == ids(find(dedupe_key="d").items) == ["p"]


def test_unknown_filter_is_refused_and_names_those_there_are(fresh: World) -> None:
    with pytest.raises(InvalidArgument, match="correlation_id"):
        fresh.blocking.find(colour="red")  # type: ignore[call-arg]
    with pytest.raises(InvalidArgument, match="correlation_id"):
        fresh.blocking.events(colour="red")  # type: ignore[call-arg]


@pytest.mark.requirement("ALL-18")
def test_another_tenant_s_jobs_are_not_there(fresh: World) -> None:
    fresh.prepare()
    stranger = fresh.beside(tenant="acme")

    assert stranger.find().items == []
    assert stranger.events().items == []
    for verb in ("get", "history", "notes", "tree", "cancel", "rerun", "submit"):
        with pytest.raises(NotFound):
            getattr(stranger, verb)("running")
    assert stranger.claim(worker="w", queues=["waiting"]) == []


@pytest.mark.requirement("ALL-18")
def test_tenant_is_no_filter(fresh: World) -> None:
    fresh.prepare("waiting")
    stranger = fresh.beside(tenant="acme")

    everything: dict[str, Any] = {"tenant": "default"}
    for listing in (stranger.find, stranger.events):
        try:
            found = listing(**everything).items
        except InvalidArgument:
            found = []
        assert found == []


def test_another_tenant_s_request_id_and_dedupe_key_are_its_own(fresh: World) -> None:
    mine = fresh.blocking.enqueue("scan", 1, request_id="r", dedupe_key="d")

    theirs = fresh.beside(tenant="acme").enqueue("scan", 2, request_id="r", dedupe_key="d")

    assert (mine.answer, theirs.answer) == ("applied", "applied")
    assert (mine.payload, theirs.payload) == (1, 2)


NAMES = [
    "kind", "queue", "job_id", "request_id", "dedupe_key", "correlation_id", "trace_id", "parent_job_id", "workflow_id",
    "topic", "context_ptr", "adapter_id", "actor", "reason",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", [UNLIKELY, '" or 1=1 --', "%_*?", "a'b", "naïve 漢字 🙂", "{{x}}", ":tenant", "?1"])
def test_text_that_looks_like_sql_is_kept_word_for_word(fresh: World, name: str, text: str) -> None:
    given: dict[str, Any] = {"kind": "scan", "payload": {text: [text]}, name: text}
    job = fresh.blocking.enqueue(**given)

    read = fresh.blocking.get(job.id)
    (event,) = fresh.blocking.history(job.id)

    kept = {"request_id": event.request_id, "actor": event.actor, "reason": event.cause, "job_id": read.id}
    assert (kept[name] if name in kept else getattr(read, name)) == text
    assert read.payload == {text: [text]}
    assert [found.id for found in fresh.blocking.find().items] == [job.id]


@pytest.mark.parametrize("text", [UNLIKELY, '" or 1=1 --', "%", "_", ":tenant"])
@pytest.mark.parametrize(
    "name", ["state", "phase", "outcome", "queue", "kind", "lifecycle", "owner", "correlation_id", "parent_job_id",
             "workflow_id", "dedupe_key", "topic"],
)  # fmt: skip
def test_filter_that_looks_like_sql_finds_nothing(fresh: World, name: str, text: str) -> None:
    fresh.prepare("running")

    assert fresh.blocking.find(**{name: text}).items == []  # type: ignore[arg-type]


def test_worker_and_result_texts_are_kept_word_for_word(fresh: World) -> None:
    fresh.blocking.enqueue("scan", job_id="a", env={UNLIKELY: UNLIKELY})
    (job,) = fresh.blocking.claim(worker=UNLIKELY, start=True)
    fresh.blocking.renew("a", worker=UNLIKELY, attempt=1, progress={"fraction": 0.5, "message": UNLIKELY})

    done = fresh.blocking.complete("a", worker=UNLIKELY, attempt=1, result=UNLIKELY, result_ptr=UNLIKELY)

    assert job.owner == UNLIKELY
    assert (done.result, done.result_ptr, done.env, done.last_owner) == (
        UNLIKELY,
        UNLIKELY,
        {UNLIKELY: UNLIKELY},
        UNLIKELY,
    )
    assert done.progress is not None
    assert done.progress.message == UNLIKELY
    assert fresh.blocking.find(owner=UNLIKELY).items == []


# -- the log ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("filters", [{}, {"type": "job_queued"}, {"kind": "mail"}, {"queue": "q"}, {"job_id": "j1"}])
@pytest.mark.parametrize("limit", [1, 3, 1_000])
def test_pages_of_the_log_hold_every_event_once(fresh: World, filters: dict[str, Any], limit: int) -> None:
    fill(fresh)
    everything = [event.id for event in fresh.blocking.events(limit=1_000, **filters).items]
    found: list[str] = []
    cursor = None

    for _ in range(30):
        page = fresh.blocking.events(limit=limit, cursor=cursor, **filters)
        found += [event.id for event in page.items]
        cursor = page.cursor

    assert found == everything
    assert len(set(found)) == len(found) > 0


def test_cursor_goes_on_where_the_log_ended(fresh: World) -> None:
    fill(fresh, 2)
    end = fresh.blocking.events().cursor
    fresh.blocking.enqueue("scan", job_id="new")

    page = fresh.blocking.events(cursor=end)

    assert [event.job_id for event in page.items] == ["new"]


def test_cursor_of_each_event_goes_on_after_it(fresh: World) -> None:
    fill(fresh, 4)

    asked: list[dict[str, Any]] = [{}, {"type": "job_queued"}]
    for filters in asked:
        events = fresh.blocking.events(**filters).items
        rest = fresh.blocking.events(cursor=events[1].cursor, **filters).items
        assert rest == events[2:]


def test_period_holds_both_of_its_ends(fresh: World) -> None:
    fill(fresh, 4)
    first, last = DAY + timedelta(seconds=1), DAY + timedelta(seconds=2)

    asked: list[dict[str, Any]] = [{}, {"type": "job_queued"}]
    for more in asked:
        found = fresh.blocking.events(at_from=first, at_until=last, **more).items
        assert [event.job_id for event in found] == ["j1", "j2"]
