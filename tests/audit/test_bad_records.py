"""A record that does not show what its log adds up to, time that was overrun, and requests that took effect twice."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from detent.audit import check_dwell, check_job, check_row
from detent.audit.requests import DAY_US
from detent.kernel.command import Approve, Cancel, Claim, Complete, Renew, Schedule
from detent.kernel.digest import digest
from detent.kernel.fold import fold
from detent.lifecycle import Policy
from detent.lifecycles import DISPATCH, DOCUMENT, ENGINE, STANDARD
from tests.audit.stories import dispatched, running, submitted, success
from tests.audit.telling import PERMANENT, SECOND, Story, edited, found_in, ids

SLACK_US = 5 * SECOND


@pytest.mark.requirement("ALL-15")
@pytest.mark.parametrize(
    "shown",
    [
        {"state": "running", "phase": "active", "result": None},
        {"rev": 9},
        {"attempt": 2},
        {"failures": 1},
        {"owner": "w1"},
        {"claim_at": 0},
        {"ended_at": None},
        {"result": b'"other"'},
        {"result": None},
        {"error": PERMANENT},
        {"checkpoint": b"2"},
        {"payload_digest": digest(b"other")},
    ],
    ids=lambda shown: next(iter(shown)),
)
def test_a_record_that_differs_from_its_log_is_reported(shown: dict[str, Any]) -> None:
    story = success()

    found = check_job(story.lifecycle, replace(story.job, **shown), story.events, story.notes)

    assert ids(found) == {"I3"}


def test_a_log_that_lost_its_last_event_does_not_add_up_to_the_record() -> None:
    story = success()

    found = check_job(story.lifecycle, story.job, story.events[:-1])

    assert ids(found) == {"I3"}
    assert "rev is 6; the log adds up to 5" in {violation.message for violation in found}


def test_a_payload_that_was_altered_is_reported() -> None:
    story = success()
    spec = replace(story.job.spec, payload=b"other")

    found = check_row(story.lifecycle, fold(story.events), replace(story.job, spec=spec))

    assert [violation.message.partition(" ")[0] for violation in found] == ["payload"]


@pytest.mark.requirement("ALL-09")
def test_a_failure_with_a_result_is_reported_though_its_log_says_so_too() -> None:
    story = running().fail(PERMANENT)
    kept = {"result": b"1", "result_digest": digest(b"1")}
    edited(story, "fail", changes={"result_digest": kept["result_digest"]})

    found = found_in(story, **kept)

    assert [violation.message for violation in found] == ["'failed' with result"]


def test_a_state_that_the_lifecycle_does_not_have_is_reported() -> None:
    story = Story(STANDARD)

    found = check_row(ENGINE, fold(story.events) | {"state": "odd"}, replace(story.job, state="odd"))

    assert [violation.message for violation in found] == ["'odd' is no state of engine v1"]


def test_a_record_without_a_log_is_one_fault() -> None:
    story = success()

    assert [violation.invariant for violation in check_job(story.lifecycle, story.job, [])] == ["I3"]


def test_an_event_of_another_job_in_the_log_is_reported_and_left_out() -> None:
    story = success()
    story.events.insert(2, Story(STANDARD, "j2").events[0])

    found = check_job(story.lifecycle, story.job, story.events, story.notes)

    assert [(violation.invariant, violation.job_id) for violation in found] == [("I3", "j2")]


@pytest.mark.parametrize("fields", [{"rev": 7}, {"rev": 0}, {"job_id": "j2"}, {"tenant": "other"}], ids=str)
def test_a_note_on_nothing_is_reported(fields: dict[str, Any]) -> None:
    story = success()
    story.notes = [replace(story.notes[0], **fields)]

    assert ids(found_in(story)) == {"I3"}


def test_a_note_may_hang_on_any_revision_of_its_job() -> None:
    story = success()
    story.notes = [replace(story.notes[0], rev=rev) for rev in (1, 6)]

    assert found_in(story) == []


# -- time -------------------------------------------------------------------------------------------------------------


def overdue(story: Story, *, late_s: float = 0) -> list[str]:
    now = story.now + round(late_s * SECOND)
    found = check_dwell(story.lifecycle, story.events, story.job.spec.policy, SLACK_US, now)
    return [violation.invariant for violation in found]


@pytest.mark.requirement("ENG-02")
@pytest.mark.parametrize(
    ("tell", "limit_s"),
    [
        (lambda: Story(ENGINE), 30),
        (lambda: Story(ENGINE).claim(), 10),
        (lambda: Story(STANDARD).claim(), 60),
        (lambda: submitted().claim().fail(), 1),
        (lambda: Story(STANDARD, policy=Policy(timeouts={"running": 20})).claim(start=True), 20),
    ],
    ids=["ready", "held", "lease", "timer", "own-limit"],
)
def test_a_job_left_lying_is_overdue_once_its_time_and_the_slack_are_over(
    tell: Callable[[], Story], limit_s: float
) -> None:
    assert overdue(tell(), late_s=limit_s + 5) == []
    assert overdue(tell(), late_s=limit_s + 5.01) == ["I17"]


def test_renewals_do_not_prolong_the_time_in_a_state() -> None:
    story = Story(STANDARD, policy=Policy(timeout_s=40)).claim(start=True)
    for _ in range(4):
        story.own(Renew, after_s=20)

    assert overdue(story) == ["I17"]


@pytest.mark.requirement("ALL-17")
def test_a_job_asked_to_stop_that_outlives_its_grace_is_reported() -> None:
    story = running().do(Cancel()).own(Renew, after_s=29).own(Renew, after_s=6.5)

    assert overdue(story) == ["I16"]


def test_a_start_does_not_prolong_the_grace() -> None:
    story = Story(STANDARD).claim().do(Cancel()).start()

    assert overdue(story, late_s=34) == []
    assert overdue(story, late_s=34.01) == ["I16"]


def test_the_time_of_a_job_on_hold_starts_anew_when_it_is_approved() -> None:
    story = Story(DISPATCH).do(Schedule(verdict="hold", rule="r")).do(Approve(), after_s=50)
    story.job = replace(story.job, spec=replace(story.job.spec, policy=Policy(timeouts={"SCHEDULED": 60})))

    assert overdue(story, late_s=65) == []
    assert overdue(story, late_s=65.01) == ["I17"]


def test_lateness_is_judged_in_a_job_check_when_a_slack_is_given() -> None:
    story = Story(STANDARD).claim()
    late = story.now + 90 * SECOND

    assert check_job(story.lifecycle, story.job, story.events, now=late) == []
    assert ids(check_job(story.lifecycle, story.job, story.events, slack_us=SLACK_US, now=late)) == {"I17"}


# -- requests ---------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("ALL-05")
def test_a_request_that_took_effect_twice_is_reported() -> None:
    story = running().own(Renew, request_id="r1").own(Renew)
    edited(story, "renew", 2, request_id="r1")

    [violation] = found_in(story)

    assert (violation.invariant, violation.rev) == ("I12", 5)
    assert violation.message == "request 'r1' took effect at revision 4 and again at 5"


def test_a_request_that_started_and_later_completed_a_job_is_reported() -> None:
    story = running().complete()
    edited(story, "start", request_id="r1")

    assert ids(found_in(edited(story, "complete", request_id="r1"))) == {"I12"}


def test_a_claim_that_took_effect_twice_is_reported() -> None:
    story = Story(STANDARD).claim(request_id="r1").reconcile().do(Claim(worker="w1"))

    assert ids(found_in(edited(story, "claim", 2, request_id="r1"))) == {"I12"}


@pytest.mark.requirement("ALL-05")
@pytest.mark.parametrize(
    "tell",
    [
        lambda: Story(STANDARD).claim(start=True, request_id="r1"),
        lambda: Story(DOCUMENT, submit=True, request_id="r1"),
        lambda: dispatched().own(Complete, request_id="r1"),
        lambda: Story(DISPATCH).do(Schedule(verdict="deny", rule="r", request_id="r1")),
        lambda: Story(STANDARD, request_id="r1").claim(request_id="r1").own(Renew, request_id="r1"),
    ],
    ids=["claim-and-start", "enqueue-and-submit", "implied-start", "schedule-and-deny", "other-scopes"],
)
def test_moves_of_one_request_that_belong_together_are_one_effect(tell: Callable[[], Story]) -> None:
    assert found_in(tell()) == []


def test_a_request_id_may_be_used_again_once_it_is_forgotten() -> None:
    story = running().own(Renew, request_id="r1").own(Renew)
    edited(story, "renew", 2, request_id="r1")
    apart_us = story.event("renew", 2).at - story.event("renew").at

    def found(kept_us: int) -> set[str]:
        return ids(check_job(story.lifecycle, story.job, story.events, requests_kept_us=kept_us))

    assert (found(apart_us), found(apart_us + 1), found(DAY_US)) == (set(), {"I12"}, {"I12"})
