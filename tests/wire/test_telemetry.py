"""Telemetry of `engine`: what is told of every life, and in which category a failure falls."""

from collections import Counter
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detent.errors import InvalidArgument
from detent.kernel import Event, Job, Note, parse
from detent.kernel.command import Cancel, Renew
from detent.kernel.failure import SYSTEM_TYPES
from detent.kernel.job import Progress
from detent.lifecycle import Policy
from detent.lifecycle.words import KNOWN_TYPES
from detent.lifecycles import ENGINE
from detent.wire.telemetry import JobFailed, Telemetry, telemetry_of
from tests.chance import examples
from tests.driving import Life, Step, live, steps


def told(life: Life, *, legacy: bool = False) -> list[Telemetry]:
    story: list[Event | Note] = [*life.events, *life.notes]
    return [telemetry for said in story for telemetry in telemetry_of(ENGINE, said, life.job, legacy=legacy)]


def shown(life: Life) -> list[tuple[str, dict[str, Any]]]:
    return [(name, msgspec.to_builtins(data)) for name, data in told(life)]


def queued(**fields: Any) -> Life:
    return Life(ENGINE, kind="BUILD_SCENE", env={"user_id": "user_123"}, **fields)


def running() -> Life:
    life = queued()
    life.wait(1)
    life.claim()
    life.wait(0.1)
    life.start()
    life.wait(3.9)
    return life


def failure(life: Life) -> JobFailed:
    name, data = told(life)[-1]
    assert name == "JOB_FAILED"
    assert isinstance(data, JobFailed)
    return data


@pytest.mark.requirement("ENG-05")
def test_life_that_completes_is_told_with_the_published_fields() -> None:
    life = running()
    life.complete()

    assert shown(life) == [
        ("JOB_QUEUED", {
            "jobId": "job-1", "jobType": "BUILD_SCENE", "userId": "user_123", "queuedAt": 1738425600123,
        }),
        ("JOB_DISPATCHED", {"jobId": "job-1", "engineId": "worker-1", "dispatchedAt": 1738425601123}),
        ("JOB_RUNNING", {"jobId": "job-1", "engineId": "worker-1", "startedAt": 1738425601223}),
        ("JOB_COMPLETED", {
            "jobId": "job-1", "engineId": "worker-1", "completedAt": 1738425605123, "duration": 3900,
        }),
    ]  # fmt: skip


@pytest.mark.requirement("ENG-05")
def test_failure_is_told_with_its_error_duration_and_category() -> None:
    life = running()
    life.fail("EngineError", "corrupted_texture.png", code="BAD_ASSET")

    assert shown(life)[-1] == (
        "JOB_FAILED",
        {
            "jobId": "job-1",
            "engineId": "worker-1",
            "failedAt": 1738425605123,
            "error": "BAD_ASSET: corrupted_texture.png",
            "duration": 3900,
            "category": "engine",
        },
    )


@pytest.mark.requirement("ENG-05")
def test_job_that_no_engine_took_fails_without_engine_and_duration() -> None:
    life = queued()
    life.run_out()

    assert (failure(life).engine_id, failure(life).duration) == (None, 0)
    assert failure(life).failed_at == 1738425630123


@pytest.mark.requirement("ENG-05")
@pytest.mark.parametrize(
    ("fraction", "percent"), [(0.0, 0), (0.005, 0), (0.29, 29), (0.5, 50), (0.999, 100), (1.0, 100)]
)
def test_progress_is_told_from_0_to_100(fraction: float, percent: int) -> None:
    life = running()
    life.progress(fraction)

    assert shown(life)[-1] == ("JOB_PROGRESS", {"jobId": "job-1", "progress": percent})


@pytest.mark.requirement("ENG-05")
def test_heartbeat_tells_the_progress_it_brings_and_a_renewal_nothing() -> None:
    life = running()
    before = told(life)
    life.do(Renew(**life.as_owner()))
    assert told(life) == before

    life.do(Renew(**life.as_owner(), progress=Progress(0.4)))
    assert [name for name, _ in told(life)[len(before) :]] == ["JOB_PROGRESS"]


@pytest.mark.requirement("ENG-05")
def test_cancel_request_and_late_result_are_not_telemetry() -> None:
    life = running()
    life.do(Cancel(mode="soft"))
    names = [name for name, _ in told(life)]
    live(life, [("intrude", 0)])

    assert [note.kind for note in life.notes] == ["late_result"]
    assert [name for name, _ in told(life)] == names == ["JOB_QUEUED", "JOB_DISPATCHED", "JOB_RUNNING"]


@pytest.mark.requirement("ENG-03", "ENG-05")
@settings(max_examples=examples(300), deadline=None)
@given(steps, st.booleans())
def test_every_life_is_told_from_queued_to_exactly_one_end(story: list[Step], legacy: bool) -> None:
    life = live(queued(), story)
    _check_told(life, legacy=legacy)
    life.run_out()
    _check_told(life, legacy=legacy)

    assert life.job.is_ended


def _check_told(life: Life, *, legacy: bool) -> None:
    names = [name for name, _ in told(life, legacy=legacy)]
    count = Counter(names)

    assert count["JOB_QUEUED"] == 1
    assert names[0] == "JOB_QUEUED"
    assert count["JOB_COMPLETED"] == (life.job.state == "completed")
    assert count["JOB_FAILED"] == (life.job.state == "failed")
    assert count["JOB_STARTED"] == (count["JOB_RUNNING"] if legacy else 0)
    assert count["JOB_FINISHED"] == (count["JOB_COMPLETED"] if legacy else 0)
    if life.job.state == "failed":
        data = next(data for _, data in told(life) if isinstance(data, JobFailed))
        assert data.error
        assert data.category in ("queue", "engine", "system", "validation", "cancelled")
        assert data.duration >= 0
        assert life.events[-1].cause


@pytest.mark.requirement("ENG-05")
@settings(max_examples=examples(100), deadline=None)
@given(steps)
def test_telemetry_told_at_once_is_the_telemetry_told_from_history(story: list[Step]) -> None:
    life = live(queued(), story)
    life.run_out()
    at_once = [
        said
        for record, event in zip(_record_per_event(life), life.events, strict=True)
        for said in telemetry_of(ENGINE, event, record)
    ]

    assert at_once == [said for event in life.events for said in telemetry_of(ENGINE, event, life.job)]


def _record_per_event(life: Life) -> list[Job]:
    by_rev = {record.rev: record for record in life.records}
    return [by_rev[event.rev] for event in life.events]


# -- old names -------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("ENG-09")
def test_old_and_new_events_go_out_side_by_side_with_the_same_content() -> None:
    life = running()
    life.complete()
    both = told(life, legacy=True)

    assert [name for name, _ in both] == [
        "JOB_QUEUED", "JOB_DISPATCHED", "JOB_RUNNING", "JOB_STARTED", "JOB_COMPLETED", "JOB_FINISHED",
    ]  # fmt: skip
    assert both[2].data == both[3].data
    assert both[4].data == both[5].data
    assert [said for said in both if said.name not in ("JOB_STARTED", "JOB_FINISHED")] == told(life)


# -- categories ------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("ENG-02", "ENG-04")
def test_job_that_no_engine_takes_in_30_s_is_a_queue_failure() -> None:
    life = queued()
    life.reconcile()

    assert life.now - life.job.created_at == 30_000_000
    assert failure(life).category == "queue"


@pytest.mark.requirement("ENG-02", "ENG-04")
def test_engine_that_does_not_start_in_10_s_is_a_system_failure() -> None:
    life = queued()
    life.claim()
    life.reconcile()

    assert life.job.claimed_at is not None
    assert life.now - life.job.claimed_at == 10_000_000
    assert failure(life).category == "system"


@pytest.mark.requirement("ENG-02", "ENG-04")
def test_job_that_runs_for_60_s_is_an_engine_failure() -> None:
    life = queued()
    life.claim(start=True)
    for _ in range(5):
        life.wait(10)
        life.do(Renew(**life.as_owner()))
    life.reconcile()

    assert failure(life).duration == 60_000
    assert failure(life).category == "engine"


@pytest.mark.requirement("ENG-02", "ENG-04")
def test_limits_can_be_set_per_job_type() -> None:
    life = queued(policy=Policy(lease_s=30, timeouts={"queued": 5}))
    life.reconcile()

    assert life.now - life.job.created_at == 5_000_000


@pytest.mark.requirement("ENG-04")
def test_engine_whose_heartbeats_stop_is_a_system_failure() -> None:
    life = queued()
    life.claim(start=True)
    life.reconcile()

    assert failure(life).duration == 20_000
    assert failure(life).category == "system"
    assert failure(life).engine_id == "worker-1"


@pytest.mark.requirement("ENG-04")
@pytest.mark.parametrize(
    ("type_", "category"),
    [
        ("BadReference", "engine"),
        ("InvalidEntity", "engine"),
        ("BuildError", "engine"),
        ("NetworkError", "system"),
        ("EngineCrash", "system"),
        ("OutOfMemory", "system"),
        ("ValidationError", "validation"),
        ("InvalidInput", "validation"),
    ],
)
def test_failure_that_an_engine_reports_falls_into_the_category_of_its_type(type_: str, category: str) -> None:
    life = running()
    life.fail(type_)

    assert failure(life).category == category


@pytest.mark.requirement("ENG-04")
@pytest.mark.parametrize("type_", sorted({*KNOWN_TYPES, *SYSTEM_TYPES, "Whatever"}))
def test_every_failure_that_an_engine_reports_has_a_category(type_: str) -> None:
    life = running()
    life.fail(type_)

    assert failure(life).category in ("engine", "system", "validation")


@pytest.mark.requirement("ENG-04")
def test_own_error_types_are_sorted_by_the_policys_classes() -> None:
    life = queued(policy=Policy(lease_s=30, error_classes={"NoSuchField": "ValidationError"}))
    life.claim(start=True)
    life.fail("NoSuchField")

    assert failure(life).category == "validation"


@pytest.mark.requirement("ENG-04")
@pytest.mark.parametrize("acts", [[], ["claim"], ["claim", "start"]])
def test_cancelled_job_fails_in_a_category_of_its_own(acts: list[str]) -> None:
    life = live(queued(), [(act, 0) for act in acts])
    life.do(Cancel(mode="hard", reason="user left"))

    assert failure(life).category == "cancelled"
    assert failure(life).error == "Cancelled: user left"


@pytest.mark.requirement("ENG-04")
@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        ("enqueue", {"kind": "BUILD_SCENE"}),
        ("enqueue", {"job_id": "j", "kind": ""}),
        ("enqueue", {"job_id": "j", "kind": "BUILD_SCENE", "priority": "soon"}),
        ("enqueue", {"job_id": "j", "kind": "BUILD_SCENE", "colour": "red"}),
        ("enquiry", {"job_id": "j", "kind": "BUILD_SCENE"}),
    ],
)
def test_what_is_refused_before_it_is_queued_is_a_validation_failure(verb: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument) as refusal:
        parse(verb, arguments)

    assert refusal.value.category == "validation"
