"""The log replays: folding a job's events gives its record, at every moment, however the log was kept."""

from typing import Any, Final

import msgspec
import pytest
from hypothesis import example, given, settings
from msgspec.structs import replace

from detent.kernel import Event, Job, evolve
from detent.kernel.command import Release, Renew, Schedule
from detent.kernel.digest import digest, digest_of
from detent.kernel.fold import differences, fold
from detent.kernel.job import FOLDED, Progress
from detent.lifecycle import Policy, Retry
from detent.lifecycles import BUILT_IN, DISPATCH, DOCUMENT, STANDARD
from tests.chance import examples
from tests.driving import WORKER, Life, Step, live, steps

SCANT: Final = Policy(
    lease_s=30, heartbeat_s=10, timeout_s=12, grace_s=10, reclaim=True, retry=Retry(max_attempts=2, base_s=1, max_s=1)
)
ROUND: Final[list[Step]] = [("claim", 1), ("start", 0), ("fail", 1), ("reconcile", 1), ("claim", 1), ("start", 0)]
STOPPED: Final[list[Step]] = [("claim", 1), ("start", 0), ("stop", 1), ("heartbeat", 1), ("release", 1)]

every_lifecycle: Final = pytest.mark.parametrize("name", BUILT_IN)


def born(name: str, *, scant: bool = False) -> Life:
    fields: dict[str, Any] = {"policy": SCANT} if scant else {}
    life = Life(BUILT_IN[name], submit=True, payload=b'{"page": 1}', **fields)
    if name == "dispatch":
        life.do(Schedule(verdict="throttle", rule="slow", delay_s=1))
    return life


def lives(name: str, story: list[Step]) -> list[Life]:
    return [live(born(name, scant=scant), story) for scant in (False, True)]


def columns_of(job: Job) -> dict[str, Any]:
    return {name: getattr(job, name) for name in FOLDED}


def through(event: Event, encode: Any, decode: Any) -> Event:
    kept: Event = decode(encode(event), type=Event)
    return kept


# -- the fold is the record ------------------------------------------------------------------------------------------


@pytest.mark.requirement("ALL-15")
@every_lifecycle
@settings(max_examples=examples(60), deadline=None)
@given(story=steps)
@example(story=[*ROUND, ("complete", 1)])
@example(story=[*ROUND, ("fail", 1)])
@example(story=STOPPED)
def test_folded_log_is_the_record_at_every_revision(name: str, story: list[Step]) -> None:
    for life in lives(name, story):
        for record in life.records:
            log = [event for event in life.events if event.rev <= record.rev]

            assert differences(fold(log), record) == {}
            assert fold(log) == columns_of(record)


@pytest.mark.requirement("ALL-15")
@every_lifecycle
@settings(max_examples=examples(60), deadline=None)
@given(story=steps)
@example(story=[*ROUND, ("complete", 1)])
@example(story=STOPPED)
def test_log_folded_until_a_moment_is_the_record_as_it_was_then(name: str, story: list[Step]) -> None:
    for life in lives(name, story):
        for moment in {event.at for event in life.events}:
            then = [record for record in life.records if record.updated_at <= moment][-1]

            assert fold(life.events, until=moment) == columns_of(then)
            assert fold(life.events, until=moment)["updated_at"] == moment


@pytest.mark.requirement("ALL-15")
def test_before_its_first_event_a_job_is_nothing() -> None:
    life = Life(STANDARD)
    columns = fold(life.events, until=life.now - 1)

    assert columns == fold(())
    assert (columns["state"], columns["rev"], columns["attempt"]) == (None, 0, 0)


@pytest.mark.requirement("ALL-15")
@every_lifecycle
@settings(max_examples=examples(30), deadline=None)
@given(story=steps)
def test_record_evolved_event_by_event_is_the_record(name: str, story: list[Step]) -> None:
    for life in lives(name, story):
        job = life.records[0]
        for event in life.events[job.rev :]:
            job = evolve(job, event)

        assert columns_of(job) == columns_of(life.job)


@pytest.mark.requirement("ALL-15")
def test_every_column_that_the_log_determines_is_folded() -> None:
    aside = {"spec", "result", "error", "last_error", "checkpoint", "progress"}

    assert set(Job.__struct_fields__) - set(FOLDED) == aside


# -- digests ---------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("ALL-15")
def test_digests_in_the_log_are_those_of_the_values_on_the_record() -> None:
    life = born("standard")
    life.claim(start=True)
    life.do(Renew(**life.as_owner(), checkpoint=b"page 7", progress=Progress(0.5)))
    life.complete(b'{"pages": 9}')
    columns = fold(life.events)

    assert columns["payload_digest"] == digest(b'{"page": 1}') == digest(life.job.spec.payload)
    assert columns["checkpoint_digest"] == digest(b"page 7")
    assert columns["result_digest"] == digest(b'{"pages": 9}')
    assert columns["error_digest"] is None


@pytest.mark.requirement("ALL-15")
def test_digest_of_the_error_that_ended_a_job_is_in_the_log() -> None:
    life = born("standard")
    life.claim(start=True)
    life.fail("PermanentError", "broken")
    columns = fold(life.events)

    assert life.job.error is not None
    assert (columns["error_digest"], columns["result_digest"]) == (digest_of(life.job.error), None)


@pytest.mark.requirement("ALL-15")
@pytest.mark.parametrize("lifecycle", [STANDARD, DOCUMENT], ids=lambda lifecycle: lifecycle.name)
def test_checkpoint_of_a_release_is_in_the_log(lifecycle: Any) -> None:
    life = born(lifecycle.name)
    life.claim(start=True)
    life.do(Release(**life.as_owner(), checkpoint=b"page 7"))

    assert life.job.checkpoint == b"page 7"
    assert fold(life.events)["checkpoint_digest"] == digest(b"page 7")


@pytest.mark.requirement("ALL-15")
@every_lifecycle
@settings(max_examples=examples(40), deadline=None)
@given(story=steps)
@example(story=[*ROUND, ("complete", 1)])
@example(story=[("claim", 1), ("start", 0), ("give up", 1)])
def test_digests_match_the_values_in_every_life(name: str, story: list[Step]) -> None:
    for life in lives(name, story):
        columns, job = fold(life.events), life.job

        assert columns["payload_digest"] == digest(job.spec.payload)
        assert columns["result_digest"] == (None if job.result is None else digest(job.result))
        assert columns["error_digest"] == (None if job.error is None else digest_of(job.error))
        assert columns["checkpoint_digest"] == (None if job.checkpoint is None else digest(job.checkpoint))


# -- however it was kept ---------------------------------------------------------------------------------------------


@pytest.mark.requirement("ALL-15")
@every_lifecycle
@settings(max_examples=examples(40), deadline=None)
@given(story=steps)
@example(story=[*ROUND, ("fail", 1)])
def test_dropping_what_callers_said_does_not_change_the_fold(name: str, story: list[Step]) -> None:
    for life in lives(name, story):
        bare = [replace(event, payload=None) for event in life.events]

        assert bare != life.events
        assert fold(bare) == columns_of(life.job)


@pytest.mark.requirement("ALL-15")
@every_lifecycle
@pytest.mark.parametrize("form", [msgspec.json, msgspec.msgpack], ids=["json", "msgpack"])
@settings(max_examples=examples(40), deadline=None)
@given(story=steps)
@example(story=[*ROUND, ("fail", 1)])
@example(story=STOPPED)
def test_log_survives_being_written_down(form: Any, name: str, story: list[Step]) -> None:
    for life in lives(name, story):
        kept = [through(event, form.encode, form.decode) for event in life.events]

        assert kept == life.events
        assert fold(kept) == columns_of(life.job)


@pytest.mark.requirement("ALL-15")
def test_verdict_and_rule_are_in_the_log() -> None:
    life = Life(DISPATCH)
    life.do(Schedule(verdict="hold", rule="big"))
    columns = fold(life.events)

    assert (columns["verdict"], columns["rule"], columns["claim_at"]) == ("hold", "big", None)


@pytest.mark.requirement("ALL-15")
def test_fold_shows_who_held_a_job_at_any_moment() -> None:
    life = born("standard")
    life.wait(1)
    life.claim()
    claimed_at = life.now
    life.wait(10)
    life.start()
    life.complete()

    assert fold(life.events, until=claimed_at - 1)["owner"] is None
    assert fold(life.events, until=claimed_at)["owner"] == WORKER
    assert fold(life.events)["owner"] is None
    assert fold(life.events)["last_owner"] == WORKER
