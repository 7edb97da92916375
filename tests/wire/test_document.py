"""A document job's metadata over its life, which errors are tried again, and how often."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings

from detent.kernel import Error
from detent.kernel.command import Cancel, Fail, Release, Submit
from detent.kernel.failure import FINAL_CLASSES
from detent.lifecycle import Policy, Retry
from detent.lifecycle.words import KNOWN_TYPES
from detent.lifecycles import DOCUMENT
from detent.wire.document import Metadata, metadata_of
from tests.chance import examples
from tests.driving import Life, Step, live, steps

RETRYABLE = ["TransientSystemError", "DeadlineExceeded", "QueueOverload", "DependencyUnavailable"]
FINAL = ["InvalidInput", "ValidationError", "PermanentTimeout", "ConfigurationError", "ResourceLimitExceeded"]
SECOND = 1_000_000


def submitted(**fields: Any) -> Life:
    return Life(DOCUMENT, submit=True, **fields)


def running(**fields: Any) -> Life:
    life = submitted(**fields)
    life.claim()
    return life


def retry(life: Life) -> None:
    """Let the delay pass and the next attempt begin."""
    life.reconcile()
    life.claim()


def shown(life: Life) -> Metadata:
    return metadata_of(life.job)


# -- metadata --------------------------------------------------------------------------------------------------------


def a_whole_life() -> list[Metadata]:
    """Created, submitted, failed, returned at a shutdown, lost, and done at last."""
    life = Life(DOCUMENT)
    life.wait(1)
    life.do(Submit())
    life.claim()
    life.wait(2)
    life.fail("DeadlineExceeded", "slow scan")
    retry(life)
    life.do(Release(**life.as_owner()))
    retry(life)
    life.reconcile()
    retry(life)
    life.wait(3)
    life.complete()
    return [metadata_of(record) for record in life.records]


@pytest.mark.requirement("DOC-04")
def test_metadata_has_the_published_names() -> None:
    first, *_, last = a_whole_life()

    assert msgspec.to_builtins(first) == {
        "jobId": "job-1",
        "state": "CREATED",
        "createdAt": "2025-02-01T16:00:00.123456Z",
        "startedAt": None,
        "completedAt": None,
        "retryCount": 0,
        "maxRetries": 3,
        "lastError": None,
        "errorType": None,
    }
    assert msgspec.to_builtins(last) == {
        "jobId": "job-1",
        "state": "SUCCEEDED",
        "createdAt": "2025-02-01T16:00:00.123456Z",
        "startedAt": "2025-02-01T16:01:06.123456Z",
        "completedAt": "2025-02-01T16:01:09.123456Z",
        "retryCount": 2,
        "maxRetries": 3,
        "lastError": None,
        "errorType": None,
    }


@pytest.mark.requirement("DOC-04")
def test_what_the_document_calls_immutable_never_changes_and_all_else_does() -> None:
    told = [msgspec.to_builtins(metadata) for metadata in a_whole_life()]
    values = {name: {data[name] for data in told} for name in told[0]}

    assert {name for name, seen in values.items() if len(seen) == 1} == {"jobId", "createdAt", "maxRetries"}


@pytest.mark.requirement("DOC-04")
def test_states_of_a_whole_life_are_told_with_their_errors() -> None:
    told = [(data.state, data.retry_count, data.last_error, data.error_type) for data in a_whole_life()]
    slow, lost = "DeadlineExceeded: slow scan", "LeaseExpired: worker worker-1 stopped renewing attempt 3"

    assert told == [
        ("CREATED", 0, None, None),
        ("QUEUED", 0, None, None),
        ("RUNNING", 0, None, None),
        ("RETRYING", 1, slow, "RETRYABLE"),
        ("QUEUED", 1, slow, "RETRYABLE"),
        ("RUNNING", 1, slow, "RETRYABLE"),
        ("RETRYING", 1, slow, "RETRYABLE"),
        ("QUEUED", 1, slow, "RETRYABLE"),
        ("RUNNING", 1, slow, "RETRYABLE"),
        ("RETRYING", 2, lost, "RETRYABLE"),
        ("QUEUED", 2, lost, "RETRYABLE"),
        ("RUNNING", 2, lost, "RETRYABLE"),
        ("SUCCEEDED", 2, None, None),
    ]


@pytest.mark.requirement("DOC-04")
@settings(max_examples=examples(200), deadline=None)
@given(steps)
def test_metadata_holds_together_in_every_life(story: list[Step]) -> None:
    life = live(submitted(), story)
    told = [metadata_of(record) for record in life.records]

    for data in told:
        is_over = data.state in ("SUCCEEDED", "FAILED")
        assert (data.completed_at is not None) == is_over
        assert data.started_at is not None or data.state != "RUNNING"
        assert 0 <= data.retry_count <= data.max_retries == 3
        assert (data.error_type is None) == (data.last_error is None)
        assert (data.error_type == "TERMINAL") == (data.state == "FAILED")
        assert data.state != "SUCCEEDED" or data.last_error is None
    counts = [data.retry_count for data in told]
    assert counts == sorted(counts)


@pytest.mark.requirement("DOC-04")
@pytest.mark.parametrize("acts", [[], ["claim"], ["claim", "fail"]])
def test_cancel_ends_as_a_final_failure(acts: list[str]) -> None:
    life = live(submitted(), [(act, 0) for act in acts])
    life.do(Cancel(mode="hard", reason="withdrawn"))

    assert (shown(life).state, shown(life).error_type) == ("FAILED", "TERMINAL")
    assert shown(life).last_error == "Cancelled: withdrawn"


@pytest.mark.requirement("DOC-04")
def test_cancel_of_a_job_not_submitted_ends_as_a_final_failure() -> None:
    life = Life(DOCUMENT)
    life.do(Cancel())

    assert (shown(life).state, shown(life).error_type, shown(life).started_at) == ("FAILED", "TERMINAL", None)


@pytest.mark.requirement("DOC-04")
def test_budget_of_an_error_type_of_its_own_counts_towards_the_most_retries() -> None:
    patient = Retry(max_attempts=4, by_error={"QueueOverload": Retry.fixed(delay_s=1, max_attempts=7)})

    assert shown(submitted(policy=Policy(retry=patient))).max_retries == 6


# -- which errors are tried again ------------------------------------------------------------------------------------


@pytest.mark.requirement("DOC-02")
@pytest.mark.parametrize("type_", RETRYABLE)
def test_passing_trouble_is_tried_again(type_: str) -> None:
    life = running()
    life.fail(type_)

    assert (shown(life).state, shown(life).error_type) == ("RETRYING", "RETRYABLE")


@pytest.mark.requirement("DOC-02")
@pytest.mark.parametrize("type_", FINAL)
def test_lasting_trouble_is_final_at_once(type_: str) -> None:
    life = running()
    life.fail(type_)

    assert (shown(life).state, shown(life).error_type) == ("FAILED", "TERMINAL")
    assert shown(life).retry_count == 0


@pytest.mark.requirement("DOC-02")
def test_every_cause_has_a_name_that_workers_may_report() -> None:
    assert {*RETRYABLE, *FINAL} <= KNOWN_TYPES.keys()
    assert all(KNOWN_TYPES[type_] not in FINAL_CLASSES for type_ in RETRYABLE)
    assert all(KNOWN_TYPES[type_] in FINAL_CLASSES for type_ in FINAL)


@pytest.mark.requirement("DOC-02")
def test_resources_exhausted_ends_a_job_that_nobody_took() -> None:
    life = submitted()
    life.do(Fail(role="scheduler", error=Error("ResourceLimitExceeded", "disk full")))

    assert (shown(life).state, shown(life).error_type) == ("FAILED", "TERMINAL")
    assert shown(life).last_error == "ResourceLimitExceeded: disk full"


# -- how often -------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("DOC-03")
def test_third_retry_is_the_last_and_the_fourth_failure_final() -> None:
    life = running()
    counts = []
    for _ in range(3):
        life.fail("TransientSystemError")
        counts.append((shown(life).state, shown(life).retry_count))
        retry(life)
    life.fail("TransientSystemError")

    assert counts == [("RETRYING", 1), ("RETRYING", 2), ("RETRYING", 3)]
    assert (shown(life).state, shown(life).retry_count, shown(life).error_type) == ("FAILED", 3, "TERMINAL")


@pytest.mark.requirement("DOC-03")
@pytest.mark.parametrize("earlier", [0, 1, 2])
def test_retry_waits_one_second_each_time(earlier: int) -> None:
    life = running()
    for _ in range(earlier):
        life.fail()
        retry(life)
    life.fail()

    assert life.job.due_at == life.now + SECOND


@pytest.mark.requirement("DOC-03")
def test_count_grows_on_entering_retrying_and_nowhere_else() -> None:
    life = running()
    life.fail()
    after_failure = shown(life).retry_count
    life.reconcile()
    after_requeue = shown(life).retry_count
    life.claim()

    assert (after_failure, after_requeue, shown(life).retry_count) == (1, 1, 1)


@pytest.mark.requirement("DOC-03")
def test_release_at_shutdown_counts_no_retry_however_often() -> None:
    life = running()
    for _ in range(10):
        life.do(Release(**life.as_owner()))
        assert shown(life).state == "RETRYING"
        retry(life)
    life.fail()

    assert (shown(life).state, shown(life).retry_count) == ("RETRYING", 1)


@pytest.mark.requirement("DOC-03")
def test_lost_worker_counts_as_a_retry_and_uses_up_the_same_budget() -> None:
    life = running()
    for _ in range(3):
        life.reconcile()
        retry(life)
    assert shown(life).retry_count == 3
    life.reconcile()

    assert (shown(life).state, shown(life).error_type) == ("FAILED", "TERMINAL")
