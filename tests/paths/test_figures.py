"""The figures on the failure paths: how long a job waits before it is tried again, and what workers have counted."""

import re
from collections import Counter
from collections.abc import Iterator

import pytest

from detent import Event, Job
from detent.lifecycle import Retry
from tests.paths.scene import Played
from tests.surfaces.telemetry.parsing import parsed

COUNT = re.compile(r"^(detent_\w+_total)(?:\{(.*)\})? (\d+)$", re.MULTILINE)
SECOND = 1_000_000


def _events(played: Played) -> Iterator[tuple[Job, Event]]:
    for outcome in played.outcomes.values():
        for each in (outcome, *outcome.heirs):
            yield from ((each.job, event) for event in each.events)


def _counted(played: Played, name: str) -> int:
    return sum(int(count) for metric, _, count in COUNT.findall(played.metrics) if metric == f"detent_{name}_total")


@pytest.mark.requirement("STD-05", "DOC-03")
def test_job_that_is_retried_waits_as_long_as_its_policy_says(played: Played) -> None:
    waits = Counter[str]()
    for outcome in played.outcomes.values():
        retry, failures = outcome.job.policy.retry, 0
        for event, after in zip(outcome.events, outcome.events[1:], strict=False):
            if event.verb == "retry" and "failures" in event.changes:
                failures += 1
                wait_s = (event.changes["due_at"] - event.record.at) / SECOND
                shortest, longest = retry.delay_s(failures, 0), retry.delay_s(failures, 1)

                assert shortest - 1e-6 <= wait_s <= longest + 1e-6
                assert after.verb == "cancel" or after.record.at >= event.changes["due_at"]
                waits[outcome.job.id] += 1
    assert waits["standard.retries-wait-ever-longer-up-to-the-longest"] == 4
    assert waits["document.the-fourth-failure-is-the-last"] == 3


@pytest.mark.requirement("DOC-03")
def test_document_waits_a_second_three_times_unless_told_otherwise(played: Played) -> None:
    outcome = played.outcomes["document.the-fourth-failure-is-the-last"]
    waits = [event.changes["due_at"] - event.record.at for event in outcome.events if event.verb == "retry"]

    assert outcome.job.policy.retry == Retry.fixed(delay_s=1, max_attempts=4)
    assert waits == [SECOND] * 3


@pytest.mark.requirement("STD-16")
def test_counters_of_the_worker_agree_with_the_log(played: Played) -> None:
    log = list(_events(played))
    claims = [event for _, event in log if event.verb == "claim" and event.worker == "steady"]
    letters = [event for _, event in log if event.to_state == "dead_lettered" and event.role != "operator"]
    retries = [event for _, event in log if event.verb == "retry" and event.worker == "steady"]
    expiries = [event for _, event in log if event.role == "reconciler" and _is_expiry(event)]

    logged = {name: said.count(" is a dead letter after ") for name, said in played.said.items()}
    assert _counted(played, "claims") == len(claims)
    assert sum(logged.values()) == len(letters)
    assert _counted(played, "dead_letters") == logged["steady"]
    assert 0 < _counted(played, "lease_expiries") <= len(expiries)  # others may have found some, too
    assert _counted(played, "retries") >= len(retries) > 0
    assert parsed(played.metrics)["detent_run_seconds"].value("_count", kind="play") > 0


def _is_expiry(event: Event) -> bool:
    return event.verb in ("expire", "stall") and "LeaseExpired" in (event.cause or "")
