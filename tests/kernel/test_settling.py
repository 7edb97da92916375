"""Asking `dispatch` for what already is: the same content settles, any other is refused, a late result is kept."""

from collections.abc import Callable
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detent.audit import check_job
from detent.errors import Refused
from detent.kernel import Change, Error, decide
from detent.kernel.command import (
    Approve,
    Cancel,
    Claim,
    Command,
    Complete,
    Deny,
    Enqueue,
    Expire,
    Fail,
    Schedule,
    Start,
    TimeOut,
)
from detent.kernel.event import NOTE_BYTES_MAX
from detent.lifecycle import Lifecycle, Policy
from detent.lifecycles import CONTRACT, DISPATCH, DOCUMENT, ENGINE, STANDARD
from tests.chance import examples
from tests.driving import START, WORKER, Life

ALLOW: Final = Schedule(verdict="allow", rule="default")
BROKEN: Final = Error("BuildError", "broken", code="E1")
AMENDABLE: Final = Policy(accept_amendments=True)


def pending(**fields: Any) -> Life:
    return Life(DISPATCH, **fields)


def scheduled(command: Schedule = ALLOW, **fields: Any) -> Life:
    life = pending(**fields)
    life.do(command)
    return life


def dispatched(**fields: Any) -> Life:
    life = scheduled(**fields)
    life.claim()
    return life


def running(**fields: Any) -> Life:
    life = dispatched(**fields)
    life.start()
    return life


def succeeded(**fields: Any) -> Life:
    life = running(**fields)
    life.do(Complete(**life.as_owner(), result=b"42", result_ptr="s3://out/1", execution_ms=7))
    return life


def failed(**fields: Any) -> Life:
    life = running(**fields)
    life.do(Fail(**life.as_owner(), error=BROKEN))
    return life


def timed_out(**fields: Any) -> Life:
    life = running(**fields)
    life.reconcile()
    return life


def denied(**fields: Any) -> Life:
    life = scheduled(**fields)
    life.do(Deny(rule="no"))
    return life


def denied_at_the_gate(**fields: Any) -> Life:
    return scheduled(Schedule(verdict="deny", rule="no"), **fields)


def cancelled(**fields: Any) -> Life:
    life = running(**fields)
    life.do(Cancel(mode="hard"))
    return life


def throttled(**fields: Any) -> Life:
    return scheduled(Schedule(verdict="throttle", rule="slow", delay_s=5), **fields)


Begin = Callable[..., Life]


def by_worker(life: Life, **fields: Any) -> dict[str, Any]:
    """A worker that remembers its attempt; the revision has moved on since."""
    return {"worker": WORKER, "attempt": life.job.attempt} | fields


# -- the same again --------------------------------------------------------------------------------------------------

SAME: Final[dict[str, tuple[Begin, Callable[[Life], Command]]]] = {
    "enqueue": (pending, lambda life: Enqueue(job_id="job-1", kind="scan", trace_id="another call")),
    "enqueue, later": (succeeded, lambda life: Enqueue(job_id="job-1", kind="scan")),
    "schedule": (scheduled, lambda life: ALLOW),
    "schedule, throttled": (throttled, lambda life: Schedule(verdict="throttle", rule="slow", delay_s=5)),
    "schedule, denied": (denied_at_the_gate, lambda life: Schedule(verdict="deny", rule="no")),
    "approve": (scheduled, lambda life: Approve()),
    "claim": (dispatched, lambda life: Claim(worker=WORKER)),
    "start": (running, lambda life: Start(**by_worker(life))),
    "complete": (succeeded, lambda life: Complete(**by_worker(life), result=b"42", result_ptr="s3://out/1")),
    "fail": (failed, lambda life: Fail(**by_worker(life), error=BROKEN)),
    "deny": (denied, lambda life: Deny(rule="no")),
    "cancel": (cancelled, lambda life: Cancel(mode="hard")),
    "time_out": (timed_out, lambda life: TimeOut(role="reconciler")),
    "expire": (timed_out, lambda life: Expire(role="reconciler")),
}


@pytest.mark.requirement("DSP-05")
@pytest.mark.parametrize("name", SAME)
def test_request_for_what_already_is_succeeds_and_writes_nothing(name: str) -> None:
    begin, command_for = SAME[name]
    life = begin()
    before = life.job
    life.wait(1)
    change = life.do(command_for(life))

    assert (change.answer, change.events, change.notes, change.values) == ("unchanged", (), (), None)
    assert life.job == before


# -- the same state, other content -----------------------------------------------------------------------------------

OTHER: Final[dict[str, tuple[Begin, Callable[[Life], Command]]]] = {
    "schedule, other verdict": (scheduled, lambda life: Schedule(verdict="hold", rule="default")),
    "schedule, other rule": (scheduled, lambda life: Schedule(verdict="allow", rule="another")),
    "schedule, other delay": (throttled, lambda life: Schedule(verdict="throttle", rule="slow", delay_s=500)),
    "schedule, other role": (scheduled, lambda life: Schedule(role="client", verdict="allow", rule="default")),
    "claim, other worker": (dispatched, lambda life: Claim(worker="somebody-else")),
    "start, other worker": (running, lambda life: Start(worker="somebody-else", attempt=1)),
    "start, other attempt": (running, lambda life: Start(worker=WORKER, attempt=0)),
    "complete, other result": (succeeded, lambda life: Complete(**by_worker(life), result_ptr="s3://out/1")),
    "complete, other pointer": (succeeded, lambda life: Complete(**by_worker(life), result=b"42")),
    "complete, other worker": (
        succeeded,
        lambda life: Complete(**by_worker(life, worker="w2"), result=b"42", result_ptr="s3://out/1"),
    ),
    "fail, other error": (failed, lambda life: Fail(**by_worker(life), error=Error("BuildError", "broken again"))),
    "fail, other code": (failed, lambda life: Fail(**by_worker(life), error=Error("BuildError", "broken"))),
    "deny, other rule": (denied, lambda life: Deny(rule="another")),
    "deny, other role": (denied, lambda life: Deny(role="client", rule="no")),
    "cancel, other role": (cancelled, lambda life: Cancel(role="scheduler", mode="hard")),
}


@pytest.mark.requirement("DSP-05")
@pytest.mark.parametrize("name", OTHER)
def test_request_for_the_same_state_with_other_content_is_refused(name: str) -> None:
    begin, command_for = OTHER[name]
    life = begin()
    before, written = life.job, len(life.events)
    answer = life.ask(command_for(life))

    assert isinstance(answer, Refused)
    assert answer.code in ("illegal_move", "not_owner", "wrong_actor")
    assert (life.job, len(life.events)) == (before, written)


@pytest.mark.requirement("DSP-05")
def test_other_job_under_the_same_id_is_refused() -> None:
    life = pending()
    answer = life.ask(Enqueue(job_id="job-1", kind="scan", payload=b"other"))

    assert isinstance(answer, Refused)
    assert answer.code == "job_exists"


# -- backward --------------------------------------------------------------------------------------------------------

BACKWARD: Final[dict[str, tuple[Begin, Callable[[Life], Command]]]] = {
    "schedule a job that was dispatched": (dispatched, lambda life: ALLOW),
    "schedule a job that runs": (running, lambda life: ALLOW),
    "approve a job that was dispatched": (dispatched, lambda life: Approve()),
    "claim a job that runs": (running, lambda life: Claim(worker=WORKER)),
    "start a job that succeeded": (succeeded, lambda life: Start(**by_worker(life))),
    "claim a job that succeeded": (succeeded, lambda life: Claim(worker=WORKER)),
    "fail a job that succeeded": (succeeded, lambda life: Fail(**by_worker(life), error=BROKEN)),
    "complete a job that failed": (failed, lambda life: Complete(**by_worker(life))),
    "complete a job that was cancelled": (cancelled, lambda life: Complete(**by_worker(life))),
    "cancel a job that succeeded": (succeeded, lambda life: Cancel()),
    "schedule a job that was denied": (denied, lambda life: ALLOW),
    "deny a job that runs": (running, lambda life: Deny()),
}


@pytest.mark.requirement("DSP-05")
@pytest.mark.parametrize("name", BACKWARD)
def test_request_that_leads_back_is_refused(name: str) -> None:
    begin, command_for = BACKWARD[name]
    life = begin()
    before, written = life.job, len(life.events)
    answer = life.ask(command_for(life))

    assert isinstance(answer, Refused)
    assert answer.code == "illegal_move"
    assert (life.job, len(life.events)) == (before, written)


@pytest.mark.requirement("DSP-05")
@pytest.mark.parametrize("lifecycle", [STANDARD, ENGINE, CONTRACT, DOCUMENT], ids=lambda lifecycle: lifecycle.name)
def test_other_lifecycles_refuse_what_already_is(lifecycle: Lifecycle) -> None:
    life = Life(lifecycle, submit=True)
    life.claim(start=True)
    life.complete(b"42")
    answer = life.ask(Complete(**life.as_owner(), result=b"42"))

    assert isinstance(answer, Refused)
    assert answer.code == "illegal_move"


# -- late results ----------------------------------------------------------------------------------------------------


@pytest.mark.requirement("DSP-06")
@pytest.mark.parametrize("begin", [timed_out, cancelled, failed])
def test_result_for_an_ended_job_is_kept_as_a_note_and_overwrites_nothing(begin: Begin) -> None:
    life = begin()
    before = life.job
    answer = life.ask(Complete(**by_worker(life), result=b"late", result_ptr="s3://late"))

    assert isinstance(answer, Refused)
    assert answer.code == "illegal_move"
    assert life.job == before
    [note] = life.notes
    assert (note.kind, note.rev, note.actor) == ("late_result", before.rev, WORKER)
    assert (note.payload["result"], note.payload["result_ptr"], note.payload["refused"]) == (
        b"late",
        "s3://late",
        "illegal_move",
    )


@pytest.mark.requirement("DSP-06")
def test_failure_reported_for_an_ended_job_is_kept_as_a_note() -> None:
    life = timed_out()
    life.ask(Fail(**by_worker(life), error=BROKEN))

    [note] = life.notes
    assert note.payload["error"] == {"type": "BuildError", "message": "broken", "code": "E1"}


@pytest.mark.requirement("DSP-06")
def test_note_of_a_late_result_is_bounded() -> None:
    life = timed_out()
    life.ask(Complete(**by_worker(life), result=b"x" * 10 * NOTE_BYTES_MAX))

    [note] = life.notes
    assert (note.payload["result"], note.payload["is_whole"]) == (b"x" * NOTE_BYTES_MAX, False)


@pytest.mark.requirement("DSP-06")
def test_result_for_a_job_that_nobody_ever_held_is_not_kept() -> None:
    life = denied()
    life.ask(Complete(worker=WORKER, attempt=0))

    assert life.notes == []


# -- amendments ------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("DSP-06")
@pytest.mark.parametrize("begin", [timed_out, cancelled, failed, succeeded])
def test_where_the_policy_accepts_it_a_late_result_amends_the_record_without_a_move(begin: Begin) -> None:
    life = begin(policy=AMENDABLE)
    before = life.job
    change = life.do(Complete(**by_worker(life), result=b"late"))

    assert (change.answer, change.events, change.values) == ("noted", (), None)
    assert life.job == before
    [note] = life.notes
    assert (note.kind, note.rev, note.payload["result"]) == ("amendment", before.rev, b"late")
    assert check_job(DISPATCH, life.job, life.events, life.notes) == []


@pytest.mark.requirement("DSP-06")
def test_amendment_comes_from_the_last_owner_only() -> None:
    life = timed_out(policy=AMENDABLE)
    answer = life.ask(Complete(worker="somebody-else", attempt=1, result=b"late"))

    assert isinstance(answer, Refused)
    assert answer.code == "illegal_move"
    assert [note.kind for note in life.notes] == ["late_result"]


@pytest.mark.requirement("DSP-06")
def test_only_a_result_amends() -> None:
    life = timed_out(policy=AMENDABLE)
    answer = life.ask(Start(**by_worker(life)))

    assert isinstance(answer, Refused)
    assert life.notes == []


@pytest.mark.requirement("DSP-06")
def test_result_of_a_job_that_has_not_ended_is_no_amendment() -> None:
    life = running(policy=AMENDABLE)
    answer = life.ask(Complete(worker="somebody-else", attempt=1, result=b"mine"))

    assert isinstance(answer, Refused)
    assert answer.code == "not_owner"
    assert [note.kind for note in life.notes] == ["late_result"]


# -- pointers --------------------------------------------------------------------------------------------------------

pointers: Final = st.text(max_size=80) | st.sampled_from(
    ["s3://no-such-bucket/x", "http://127.0.0.1:1/", "file:///etc/passwd", "redis://ctx/1?ttl=0", "{}", "../.."]
)


@pytest.mark.requirement("DSP-10")
@settings(max_examples=examples(60), deadline=None)
@given(context_ptr=pointers, result_ptr=pointers)
def test_pointers_are_kept_as_they_are_and_decide_nothing(context_ptr: str, result_ptr: str) -> None:
    plain, life = running(), running(context_ptr=context_ptr)
    plain.do(Complete(**plain.as_owner(), result_ptr="ptr"))
    change = life.do(Complete(**life.as_owner(), result_ptr=result_ptr))

    assert (life.job.spec.context_ptr, life.job.result_ptr) == (context_ptr, result_ptr)
    assert change.events[-1].changes["result_ptr"] == result_ptr
    assert [event.verb for event in life.events] == [event.verb for event in plain.events]
    assert (life.job.state, life.job.rev) == (plain.job.state, plain.job.rev)


@pytest.mark.requirement("DSP-05")
def test_repeat_of_an_enqueue_settles_only_for_the_job_it_made() -> None:
    life = pending(workflow_id="flow-1")
    same = decide(DISPATCH, life.job, Enqueue(job_id="job-1", kind="scan", workflow_id="flow-1"), START)
    other = decide(DISPATCH, life.job, Enqueue(job_id="job-1", kind="scan", workflow_id="flow-2"), START)

    assert isinstance(same, Change)
    assert isinstance(other, Refused)
