"""Events and dead letters of `standard`, as they are written and read back."""

from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given, settings

from detent.kernel import Error
from detent.kernel.command import Cancel, Complete, DeadLetter, Renew
from detent.kernel.failure import REASON_CODES, STAGES, ReasonCode, Stage
from detent.kernel.job import Progress
from detent.kernel.notes import compensated
from detent.lifecycle import Lifecycle, Policy, Retry
from detent.lifecycle.words import NOTING
from detent.lifecycles import BUILT_IN, STANDARD
from detent.wire.standard import dead_letter_of, event_of, event_of_note, read_event
from tests.chance import examples
from tests.driving import WORKER, Life, Step, live, steps

FIELDS = {"id", "job_id", "type", "ts", "actor", "correlation_id", "cause", "payload", "version"}
PUBLISHED = {
    "job_claimed", "job_started", "job_lease_renewed", "job_heartbeat", "job_succeeded", "job_failed", "job_cancelled",
    "job_dead_lettered", "job_compensated", "job_queued", "job_retried", "job_lease_expired", "job_released",
}  # fmt: skip


def plain(shape: msgspec.Struct) -> dict[str, Any]:
    decoded = msgspec.json.decode(msgspec.json.encode(shape))
    assert isinstance(decoded, dict)
    return decoded


@pytest.mark.requirement("STD-12")
def test_event_has_the_nine_fields_of_the_schema() -> None:
    life = Life(STANDARD, correlation_id="order-7")
    life.wait(1.5)
    life.claim()

    assert plain(event_of(life.events[-1])) == {
        "id": "default:job-1:2",
        "job_id": "job-1",
        "type": "job_claimed",
        "ts": "2025-02-01T16:00:01.623456Z",
        "actor": WORKER,
        "correlation_id": "order-7",
        "cause": None,
        "payload": None,
        "version": 1,
    }


@pytest.mark.requirement("STD-12")
def test_event_says_why_and_what_was_said() -> None:
    life = Life(STANDARD, policy=Policy(retry=Retry.never()))
    life.claim(start=True)
    life.fail("PermanentError", "torn page")

    event = event_of(life.events[-1])
    assert event.cause == "PermanentError: torn page"
    assert event.payload is not None
    assert event.payload["error"]["message"] == "torn page"


@pytest.mark.requirement("STD-12")
@settings(max_examples=examples(100), deadline=None)
@given(steps)
def test_every_event_of_every_lifecycle_reads_back_as_it_was_written(story: list[Step]) -> None:
    for lifecycle in BUILT_IN.values():
        life = live(Life(lifecycle, submit=True), story)
        written = [event_of(event) for event in life.events]

        assert [read_event(msgspec.json.encode(event)) for event in written] == written
        assert [event.at for event in written] == [event.at for event in life.events]
        assert [event.ts for event in written] == sorted(event.ts for event in written)
        assert len({event.id for event in written}) == len(written)
        assert all(plain(event).keys() == FIELDS for event in written)


@pytest.mark.requirement("STD-11", "STD-12")
def test_notes_have_the_shape_of_events() -> None:
    life = Life(STANDARD, correlation_id="order-7")
    life.claim(start=True)
    life.progress(0.5)
    life.fail("PermanentError")
    undone = compensated(STANDARD, life.job, by_job_id="job-2", now=life.now)

    progressed = event_of_note(life.notes[0], life.job)
    assert plain(progressed).keys() == FIELDS
    assert (progressed.type, progressed.correlation_id) == ("job_progress", "order-7")
    assert event_of_note(undone, life.job).type == "job_compensated"
    assert event_of_note(undone, life.job).payload == {"by_job_id": "job-2"}
    assert read_event(msgspec.json.encode(progressed)) == progressed


@pytest.mark.requirement("STD-12")
def test_notes_at_the_same_revision_have_ids_of_their_own() -> None:
    life = Life(STANDARD)
    life.claim(start=True)
    for _ in range(3):
        life.wait(1)
        life.progress(0.5)

    assert {note.rev for note in life.notes} == {life.job.rev}
    assert len({event_of_note(note, life.job).id for note in life.notes}) == 3


@pytest.mark.requirement("STD-12")
def test_late_result_is_written_though_it_holds_bytes() -> None:
    life = Life(STANDARD)
    life.claim(start=True)
    late = life.as_owner()
    life.do(Cancel(mode="hard"))
    life.ask(Complete(**late, result=b'{"late": true}'))

    written = event_of_note(life.notes[0], life.job)
    assert read_event(msgspec.json.encode(written)).type == "job_late_result"


@pytest.mark.requirement("STD-11")
def test_standard_emits_the_published_event_types() -> None:
    emitted = _event_types(STANDARD)

    assert PUBLISHED - emitted == {"job_compensated"}  # a note: see above
    # Moves that the published list has no word for: a run limit that leads back, and a cancel that is asked for.
    assert emitted - PUBLISHED == {"job_timed_out", "job_cancel_requested"}


def _event_types(lifecycle: Lifecycle) -> set[str]:
    routes = [route for verbs in lifecycle.table.routes.values() for verb, route in verbs.items() if verb not in NOTING]
    legs = [leg for route in (*routes, lifecycle.table.start) for leg in (route.forward, route.recovery) if leg]
    return {leg.event for leg in legs} | {lifecycle.table.heartbeat_event}


@pytest.mark.requirement("STD-11")
def test_renewal_that_carries_something_is_a_heartbeat() -> None:
    life = Life(STANDARD)
    life.claim(start=True)
    life.do(Renew(**life.as_owner()))
    life.do(Renew(**life.as_owner(), progress=Progress(0.5, "half")))

    assert [event_of(event).type for event in life.events[-2:]] == ["job_lease_renewed", "job_heartbeat"]
    assert event_of(life.events[-1]).payload == {"fraction": 0.5, "message": "half"}


@pytest.mark.requirement("STD-10")
def test_dead_letter_carries_all_it_takes_to_decide_on_it() -> None:
    life = Life(STANDARD, correlation_id="order-7", policy=Policy(retry=Retry.never()))
    life.wait(1)
    life.claim(start=True)
    life.reconcile()
    letter = dead_letter_of(STANDARD, life.job)

    assert letter is not None
    assert plain(letter) == {
        "job_id": "job-1",
        "reason_code": "infrastructure_failure",
        "stage": "exec",
        "last_error": {
            "type": "LeaseExpired",
            "message": "worker worker-1 stopped renewing attempt 1",
            "category": "system",
            "stage": "exec",
            "reason_code": "infrastructure_failure",
        },
        "attempts": 1,
        "last_owner": WORKER,
        "last_lease_expires_at": "2025-02-01T16:01:01.123456Z",
        "correlation_id": "order-7",
    }


@pytest.mark.requirement("STD-10")
def test_dead_letter_that_nobody_ever_held_has_no_owner_and_no_lease() -> None:
    life = Life(STANDARD)
    life.do(DeadLetter(role="operator", reason="corrupted"))
    letter = dead_letter_of(STANDARD, life.job)

    assert letter is not None
    assert (letter.attempts, letter.last_owner, letter.last_lease_expires_at) == (0, None, None)
    assert (letter.reason_code, letter.stage) == ("policy_violation", "fetch")
    assert letter.correlation_id == "job-1"


@pytest.mark.requirement("STD-09")
@pytest.mark.parametrize("reason_code", get_args(ReasonCode))
@pytest.mark.parametrize("stage", get_args(Stage))
def test_dead_letter_shows_the_reason_and_stage_it_was_given(reason_code: ReasonCode, stage: Stage) -> None:
    life = Life(STANDARD)
    life.do(DeadLetter(role="policy", reason_code=reason_code, stage=stage, error=Error("Broken", "so it is")))
    letter = dead_letter_of(STANDARD, life.job)

    assert letter is not None
    assert (letter.reason_code, letter.stage) == (reason_code, stage)


@pytest.mark.requirement("STD-09")
def test_reasons_and_stages_are_the_published_ones() -> None:
    assert set(REASON_CODES) == {
        "parse_error", "validation_failed", "dependency_unavailable", "timeout", "exhausted_retries",
        "policy_violation", "infrastructure_failure", "compensation_failed",
    }  # fmt: skip
    assert STAGES == ("fetch", "input", "exec", "output", "commit")


@pytest.mark.requirement("STD-10")
@settings(max_examples=examples(100), deadline=None)
@given(steps)
def test_a_job_is_a_dead_letter_exactly_when_it_is_dead_lettered(story: list[Step]) -> None:
    life = live(Life(STANDARD, policy=Policy(retry=Retry(max_attempts=2))), story)

    assert (dead_letter_of(STANDARD, life.job) is not None) == (life.job.state == "dead_lettered")
