"""`detent job history`: who, when, why and how long, told so that it can be read in the middle of the night."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from detent import Policy
from detent.client import SyncClient
from detent.errors import Refused
from detent.testing import VirtualClock
from detent.wire.http.events import EventShape
from tests.surfaces.running import BUSY, Site
from tests.surfaces.shelf import at_time

EVENING = int(datetime(2025, 6, 15, 23, 59, 30, tzinfo=UTC).timestamp() * 1_000_000)


class Story:
    """A job whose time is the test's. `tell` lets some time pass before each step."""

    def __init__(self, site: Site, client: SyncClient, clock: VirtualClock) -> None:
        self.site, self.client, self.clock = site, client, clock

    def lines(self, job_id: str = "42", columns: int = 120) -> list[str]:
        return [
            " ".join(line.split()) for line in self.site.shown("job", "history", job_id, columns=columns).splitlines()
        ]


@pytest.fixture
def story(site: Site) -> Iterator[Story]:
    clock = VirtualClock(EVENING)
    with at_time(site.path, clock) as client:
        yield Story(site, client, clock)


def test_timeline_tells_who_when_why_and_how_long(story: Story) -> None:
    client, clock = story.client, story.clock
    client.enqueue("scan", job_id="42", queue="ocr", actor="ann", reason="asked by phone")
    clock.pass_s(2)
    client.claim(worker="w1", queues=["ocr"])
    clock.pass_s(0.25)
    client.start("42", worker="w1", attempt=1)
    clock.pass_s(12)
    client.complete("42", worker="w1", attempt=1, execution_ms=11_900)

    assert story.lines() == [
        "42 scan standard succeeded",
        "2025-06-15",
        "23:59:30.000 queued enqueued by ann as scan in queue ocr",
        "asked by phone",
        "23:59:32.000 +2.0 s assigned claimed by w1, attempt 1, lease until 00:00:32.000",
        "23:59:32.250 +0.2 s running started by w1",
        "23:59:44.250 +12 s succeeded completed by w1 after 12 s",
        "4 moves in 14 s, 1 attempt. Times are UTC.",
    ]


def test_lost_attempts_are_told_with_their_errors_and_what_follows(story: Story) -> None:
    client, clock = story.client, story.clock
    client.enqueue("scan", job_id="42")
    client.claim(worker="w1", start=True)
    client.fail("42", worker="w1", attempt=1, error=BUSY)
    clock.pass_s(1)
    client.claim(worker="w2", start=True)
    clock.pass_s(120)
    client.reconcile()

    told = "\n".join(story.lines())

    assert re.search(r"queued sent round again: attempt 1 failed, as w1 reports; due again at 23:59:30\.\d{3}\n", told)
    assert "\nTransientError: scanner is busy\n" in told
    assert "queued taken back by reconciler: the lease of attempt 2 was over; due again at once" in told
    assert "\nLeaseExpired: worker w2 stopped renewing attempt 2\n" in told


def test_job_that_was_taken_back_before_its_lease_was_over_says_why(story: Story) -> None:
    client, clock = story.client, story.clock
    client.enqueue("scan", job_id="42", policy=Policy(lease_s=60, heartbeat_s=10))
    client.claim(worker="w1", start=True)
    clock.pass_s(21)
    client.reconcile()

    told = " ".join(story.lines())

    assert "by reconciler: attempt 1 missed two heartbeats, though its lease was until 00:00:30.000" in told


def test_one_of_several_workers_of_a_token_is_named(story: Story) -> None:
    client = story.client
    client.enqueue("scan", job_id="42")
    client.claim(worker="box/host-7", actor="box", start=True)
    client.complete("42", worker="box/host-7", actor="box", attempt=1)

    told = "\n".join(story.lines())

    assert "claimed by box/host-7, attempt 1" in told
    assert "completed by box/host-7" in told


def test_change_of_day_is_shown_where_it_happens(story: Story) -> None:
    story.client.enqueue("scan", job_id="42")
    story.clock.pass_s(60)
    story.client.cancel("42", reason="wrong file", actor="bob")

    assert story.lines()[1:6] == [
        "2025-06-15",
        "23:59:30.000 queued enqueued by client as scan in queue default",
        "2025-06-16",
        "00:00:30.000 +60 s cancelled cancelled by bob",
        "wrong file",
    ]


def test_heartbeats_in_a_row_are_one_line_with_the_last_thing_they_said(story: Story) -> None:
    client, clock = story.client, story.clock
    client.enqueue("scan", job_id="42")
    client.claim(worker="w1", start=True)
    for page in range(1, 4):
        clock.pass_s(10)
        client.renew("42", worker="w1", attempt=1, progress={"fraction": page / 10, "message": f"page {page}"})
    clock.pass_s(10)
    client.renew("42", worker="w1", attempt=1)
    client.release("42", worker="w1", attempt=1)
    client.claim(worker="w2", start=True)
    client.renew("42", worker="w2", attempt=2)

    lines = story.lines()

    beats = lines.index("00:00:10.000 +40 s running 4 heartbeats from w1 in 30 s")
    assert lines[beats + 1 : beats + 3] == [
        "30% page 3",
        "00:00:10.000 +0 ms queued given back by w1; due again at once",
    ]
    assert "00:00:10.000 +0 ms running heartbeat from w2" in lines
    assert "11 moves in 40 s, 2 attempts. Times are UTC." in lines


def test_reports_of_progress_in_a_row_are_one_line_with_the_last_thing_they_said(story: Story) -> None:
    client, clock = story.client, story.clock
    client.enqueue("scan", job_id="42")
    client.claim(worker="w1", start=True)
    for page in range(1, 4):
        clock.pass_s(10)
        client.progress("42", page / 10, f"page {page}", worker="w1", attempt=1)
    client.renew("42", worker="w1", attempt=1)
    client.progress("42", 0.9, "nearly", worker="w1", attempt=1)

    lines = story.lines()

    reports = lines.index("00:00:00.000 +30 s note 3 reports of progress from w1 in 20 s")
    assert lines[reports + 1 : reports + 5] == [
        "30% page 3",
        "00:00:00.000 +0 ms running heartbeat from w1",
        "00:00:00.000 +0 ms note progress from w1",
        "90% nearly",
    ]


def test_late_result_is_a_note_where_it_came(story: Story) -> None:
    client = story.client
    client.enqueue("scan", job_id="42")
    client.claim(worker="w1", start=True)
    client.progress("42", 0.5, "half", worker="w1", attempt=1)
    client.release("42", worker="w1", attempt=1)
    client.claim(worker="w2", start=True)
    with pytest.raises(Refused):
        client.complete("42", worker="w1", attempt=1, result="late")
    client.complete("42", worker="w2", attempt=2)

    told = [line.removeprefix("23:59:30.000 +0 ms ") for line in story.lines()[3:-1]]

    assert told == [
        "assigned claimed by w1, attempt 1, lease until 00:00:30.000",
        "running started by w1",
        "note progress from w1",
        "50% half",
        "queued given back by w1; due again at once",
        "assigned claimed by w2, attempt 2, lease until 00:00:30.000",
        "running started by w2",
        "note 'complete' from w1 for attempt 1 came too late, and was refused",
        'by then another worker, or a newer attempt, had the job; its result: "late"',
        "succeeded completed by w2",
    ]


def test_request_to_stop_says_until_when(story: Story) -> None:
    story.client.enqueue("scan", job_id="42")
    story.client.claim(worker="w1", start=True)
    story.client.cancel("42", actor="bob", reason="wrong file")

    assert story.lines()[-3:-1] == ["23:59:30.000 +0 ms running asked to stop by bob, until 00:00:00.000", "wrong file"]


def test_verdict_and_approval_are_part_of_the_story(story: Story) -> None:
    client = story.client
    client.enqueue("scan", job_id="42", lifecycle="dispatch")
    client.schedule("42", verdict="hold", rule="big-orders")
    client.approve("42", actor="ann", reason="checked")

    told = "\n".join(story.lines())

    assert "SCHEDULED judged by scheduler\nhold by rule big-orders\n" in told
    assert "SCHEDULED approved by ann\nchecked\n" in told


def test_json_is_every_event_in_order(story: Story) -> None:
    story.client.enqueue("scan", job_id="42", actor="ann")
    story.client.claim(worker="w1", start=True)

    events = story.site.json("job", "history", "42")

    assert [type(event) for event in events] == [EventShape] * 3
    assert [(event.rev, event.verb, event.actor) for event in events] == [
        (1, "enqueue", "ann"),
        (2, "claim", "w1"),
        (3, "start", "w1"),
    ]
    assert events[0].at == datetime(2025, 6, 15, 23, 59, 30, tzinfo=UTC)


@pytest.mark.parametrize("columns", [60, 80])
def test_story_is_wrapped_beside_its_times(story: Story, columns: int) -> None:
    story.client.enqueue("scan", job_id="42", reason="a long reason " * 20 + "x" * 200)

    shown = story.site.shown("job", "history", "42", columns=columns)

    assert max(map(len, shown.splitlines())) <= columns
    assert "…" not in shown
    assert shown.count("x") == 200
