"""A request that was carried out is remembered: asked again it answers again and changes nothing."""

from typing import Any

import pytest
from msgspec.structs import replace

from detent.errors import Refused
from detent.kernel import Change, Error, Receipt, decide
from detent.kernel.command import (
    COMMANDS,
    Approve,
    Cancel,
    Claim,
    Command,
    Complete,
    Enqueue,
    Expire,
    Fail,
    Renew,
    RequestCancel,
    Requeue,
    Rerun,
    Start,
)
from detent.kernel.job import Job, Progress
from detent.kernel.repeating import receipt_of, still_held
from detent.lifecycle import Policy
from detent.lifecycle.words import NOTING, ROLES, Role
from tests.driving import START, WORKER, Life
from tests.kernel.tables import (
    CONTENT,
    ENDED_PLACES,
    LEASED_PLACES,
    OTHER_WORKER,
    POLICIES,
    ROWS,
    asked_by,
    bring_to,
    lifecycle_of,
    one_who_may,
)


class Remembering:
    """As a store does it: what was carried out under a request id is looked up before anything is decided."""

    def __init__(self, life: Life) -> None:
        self.life = life
        self.receipts: dict[str, Receipt] = {}

    def ask(self, command: Command) -> Change | Refused:
        life, receipt = self.life, self.receipts.get(command.request_id or "")
        answer = decide(life.lifecycle, life.job, command, life.now, receipt=receipt)
        if isinstance(answer, Refused):
            return answer
        if answer.receipt is not None:
            self.receipts[answer.receipt.request_id] = answer.receipt
        if answer.answer in ("applied", "noted") and answer.job.id == life.job.id:
            life.job = answer.job
        return answer

    def do(self, command: Command) -> Change:
        answer = self.ask(command)
        assert isinstance(answer, Change), str(answer)
        return answer


def in_row(name: str, state: str, verb: str) -> tuple[Remembering, Command]:
    """A job in that state, and the row's request for it under an id."""
    life = bring_to(name, state, verb=verb)
    role = one_who_may(name, state, verb) if verb not in NOTING else "owner"
    return Remembering(life), asked_by(life.job, verb, role, request_id="r-1")


def go_on(life: Life) -> None:
    """Let the job live on a little without the one who asked: by time, or by a claim."""
    for _ in range(3):
        if life.job.wake_at is not None:
            life.reconcile()
        elif life.job.claim_at is not None:
            life.now = max(life.now, life.job.claim_at)
            life.do(Claim(worker=OTHER_WORKER))


RETRY_SAFE = [*ROWS, *((name, state, verb) for name, state in LEASED_PLACES for verb in NOTING)]
every_request = pytest.mark.parametrize(("name", "state", "verb"), RETRY_SAFE)


@pytest.mark.requirement("ALL-05", "ALL-04", "CON-04")
@every_request
def test_repeated_request_succeeds_and_changes_nothing(name: str, state: str, verb: str) -> None:
    store, command = in_row(name, state, verb)
    first = store.do(command)
    store.life.wait(0.5)

    again = store.do(command)

    assert first.answer in ("applied", "noted")
    assert again == Change(first.job, (), answer="repeat")
    assert (again.job.rev, again.job.attempt) == (first.job.rev, first.job.attempt)


@pytest.mark.requirement("ALL-05", "CON-04")
@every_request
def test_repeat_answers_with_the_job_as_it_is_now(name: str, state: str, verb: str) -> None:
    store, command = in_row(name, state, verb)
    first = store.do(command)
    go_on(store.life)

    again = store.do(command)

    assert (again.answer, again.events, again.notes, again.spawned) == ("repeat", (), (), ())
    assert again.job == store.life.job
    assert again.job.rev > first.job.rev or first.job.is_ended


@pytest.mark.requirement("ALL-05", "CON-04")
@every_request
def test_repeat_need_not_know_the_revision_or_the_trace_of_the_first(name: str, state: str, verb: str) -> None:
    store, command = in_row(name, state, verb)
    store.do(command)

    again = store.do(replace(command, expected_rev=999, trace_id="another"))

    assert again.answer == "repeat"


@pytest.mark.requirement("ALL-05", "CON-04")
@every_request
def test_same_id_for_another_verb_conflicts(name: str, state: str, verb: str) -> None:
    store, command = in_row(name, state, verb)
    store.do(command)
    before = store.life.job
    other = Start(worker=WORKER, request_id="r-1") if verb != "start" else Renew(worker=WORKER, request_id="r-1")

    refused = store.ask(other)

    assert isinstance(refused, Refused)
    assert (refused.code, refused.state) == ("request_conflict", before.state)
    assert store.life.job is before


@pytest.mark.requirement("CON-04", "ALL-11")
@every_request
def test_event_names_the_request_it_answers(name: str, state: str, verb: str) -> None:
    store, command = in_row(name, state, verb)

    change = store.do(command)

    assert {event.request_id for event in change.events} <= {"r-1"}
    assert change.receipt is not None
    assert (change.receipt.request_id, change.receipt.rev) == ("r-1", change.job.rev)


@pytest.mark.requirement("ALL-05")
@every_request
def test_request_without_an_id_is_not_remembered(name: str, state: str, verb: str) -> None:
    store, command = in_row(name, state, verb)

    change = store.do(replace(command, request_id=None))

    assert change.receipt is None


# -- what counts as content ------------------------------------------------------------------------------------------

ELSE: dict[str, Any] = {
    "role": "policy",
    "worker": "worker-9",
    "attempt": 9,
    "reason": "for another reason",
    "job_id": "job-9",
    "kind": "other",
    "payload": b'"other"',
    "tenant": "other",
    "queue": "other",
    "priority": 9,
    "run_at": START,
    "policy": Policy(lease_s=90),
    "limit_key": "other",
    "dedupe_key": "other",
    "correlation_id": "other",
    "parent_job_id": "other",
    "workflow_id": "other",
    "step_index": 9,
    "topic": "job.other",
    "context_ptr": "other",
    "adapter_id": "other",
    "env": {"user_id": "other"},
    "submit": True,
    "checkpoint": b'"other"',
    "verdict": "deny",
    "rule": "other",
    "delay_s": 9.0,
    "result": b'"another"',
    "lease_s": 90.0,
    "allow_unusual_lease": True,
    "start": True,
    "progress": Progress(0.75),
    "result_ptr": "other",
    "execution_ms": 9,
    "error": Error("Other"),
    "mode": "soft",
    "reason_code": "timeout",
    "stage": "commit",
    "new_job_id": "job-9",
    "value_digest": "other",
    "name": "other",
    "pointer": "other",
    "size": 9,
    "digest": "other",
}
NO_CONTENT = frozenset({"expected_rev", "trace_id", "request_id", "granted", "actor"})
LEAST: dict[str, dict[str, Any]] = CONTENT | {
    "enqueue": {"job_id": "job-1", "kind": "scan"},
    "rerun": {"new_job_id": "job-2"},
    "claim": {"worker": WORKER},
}
FIELDS = [
    (verb, field)
    for verb, command in COMMANDS.items()
    for field in command.__struct_fields__
    if field not in NO_CONTENT
]


@pytest.mark.requirement("ALL-05")
@pytest.mark.parametrize(("verb", "field"), FIELDS)
def test_same_id_with_other_content_conflicts_first_of_all(verb: str, field: str) -> None:
    command = COMMANDS[verb](**LEAST.get(verb, {}), request_id="r-1")
    life = bring_to("standard", "succeeded")
    receipt = receipt_of(life.lifecycle, command, job_id=life.job.id, rev=life.job.rev)

    refused = decide(life.lifecycle, life.job, replace(command, **{field: ELSE[field]}), life.now, receipt=receipt)

    assert isinstance(refused, Refused)
    assert refused.code == "request_conflict"


@pytest.mark.requirement("ALL-05")
@pytest.mark.parametrize("verb", COMMANDS)
def test_same_content_is_a_repeat_even_where_the_verb_is_illegal_by_now(verb: str) -> None:
    command = COMMANDS[verb](**LEAST.get(verb, {}), request_id="r-1")
    life = bring_to("standard", "succeeded")

    again = decide(
        life.lifecycle,
        life.job,
        command,
        life.now,
        receipt=receipt_of(life.lifecycle, command, job_id=life.job.id, rev=1),
    )

    assert again == Change(life.job, (), answer="repeat")


@pytest.mark.requirement("ALL-05")
@pytest.mark.parametrize("verb", COMMANDS)
def test_same_content_of_somebody_else_is_a_repeat(verb: str) -> None:
    command = COMMANDS[verb](**LEAST.get(verb, {}), request_id="r-1", actor="ann")
    life = bring_to("standard", "succeeded")
    receipt = receipt_of(life.lifecycle, command, job_id=life.job.id, rev=1)

    again = replace(command, actor="ben", granted=frozenset(ROLES))

    assert decide(life.lifecycle, life.job, again, life.now, receipt=receipt) == Change(life.job, (), answer="repeat")


@pytest.mark.requirement("ALL-05")
@pytest.mark.parametrize(("actor", "granted"), [("operator", None), ("ann", frozenset({"operator"}))])
def test_actor_counts_only_where_it_is_the_role(actor: str, granted: frozenset[Role] | None) -> None:
    command = COMMANDS["cancel"](request_id="r-1", actor="client")
    life = bring_to("standard", "succeeded")
    receipt = receipt_of(life.lifecycle, command, job_id=life.job.id, rev=1)

    refused = decide(
        life.lifecycle, life.job, replace(command, actor=actor, granted=granted), life.now, receipt=receipt
    )

    assert isinstance(refused, Refused)
    assert refused.code == "request_conflict"


# -- enqueue and rerun -----------------------------------------------------------------------------------------------


@pytest.mark.requirement("ALL-05")
@pytest.mark.parametrize("name", POLICIES)
def test_repeated_enqueue_answers_with_the_job_it_made(name: str) -> None:
    command = Enqueue(job_id="job-1", kind="scan", request_id="r-1")
    made = decide(lifecycle_of(name), None, command, START)
    assert isinstance(made, Change)

    again = decide(lifecycle_of(name), made.job, command, START + 1, receipt=made.receipt)

    assert again == Change(made.job, (), answer="repeat")


@pytest.mark.requirement("ALL-05", "ALL-10")
@pytest.mark.parametrize(("name", "state"), ENDED_PLACES)
def test_repeated_rerun_makes_no_second_job(name: str, state: str) -> None:
    store = Remembering(bring_to(name, state))
    first = store.do(Rerun(new_job_id="job-2", request_id="r-1"))

    again = store.do(Rerun(new_job_id="job-2", request_id="r-1"))

    assert first.job.spec.parent_job_id == "job-1"
    assert (again.answer, again.events, again.spawned) == ("repeat", (), ())


# -- what is not a move is remembered too; what is refused is not ----------------------------------------------------

UNMOVING: dict[str, tuple[str, str, Command]] = {
    "a second request to stop": ("standard", "running", RequestCancel(role="client")),
    "approval of what is not held": ("dispatch", "SCHEDULED", Approve(role="operator")),
    "a start of what has started": ("dispatch", "RUNNING", Start(worker=WORKER, attempt=1)),
    "a claim of what it holds": ("dispatch", "DISPATCHED", Claim(worker=WORKER)),
    "a cancel of what is cancelled": ("dispatch", "CANCELLED", Cancel(role="client")),
    "the same job once more": (
        "dispatch",
        "SCHEDULED",
        Enqueue(job_id="job-1", kind="scan", policy=POLICIES["dispatch"]),
    ),
    "another job under a live dedupe key": ("standard", "queued", Enqueue(job_id="job-2", kind="scan", dedupe_key="k")),
}


@pytest.mark.requirement("ALL-05")
@pytest.mark.parametrize("case", UNMOVING)
def test_request_that_was_granted_without_a_move_is_remembered(case: str) -> None:
    name, state, command = UNMOVING[case]
    store = Remembering(bring_to(name, state))
    if isinstance(command, RequestCancel):
        store.do(command)

    change = store.do(replace(command, request_id="r-1"))

    assert change.events == ()
    assert change.receipt is not None


@pytest.mark.requirement("ALL-05", "DSP-05")
def test_repeat_of_a_request_that_was_settled_succeeds_after_the_job_moved_on() -> None:
    store = Remembering(bring_to("dispatch", "RUNNING"))
    again = Start(worker=WORKER, attempt=1, request_id="r-1")
    store.do(again)
    store.do(Complete(worker=WORKER, attempt=1))

    answer = store.do(again)

    assert (answer.answer, answer.job.state) == ("repeat", "SUCCEEDED")


@pytest.mark.requirement("ALL-05", "DSP-06")
def test_repeated_amendment_is_noted_once() -> None:
    policy = replace(POLICIES["dispatch"], accept_amendments=True)
    store = Remembering(bring_to("dispatch", "SUCCEEDED", policy=policy))
    amendment = Complete(worker=WORKER, attempt=1, result=b'"corrected"', request_id="r-1")
    first = store.do(amendment)

    again = store.do(amendment)

    assert [len(change.notes) for change in (first, again)] == [1, 0]


@pytest.mark.requirement("ALL-05")
@pytest.mark.parametrize(
    "refused",
    [
        Start(worker=WORKER, attempt=1, request_id="r-1"),
        Complete(role="client", request_id="r-1"),
        Complete(worker=WORKER, request_id="r-1"),
        Complete(worker=OTHER_WORKER, attempt=1, request_id="r-1"),
        Complete(worker=WORKER, attempt=1, expected_rev=1, request_id="r-1"),
        Expire(request_id="r-1"),
    ],
)
def test_refused_request_leaves_its_id_free_for_another_try(refused: Command) -> None:
    store = Remembering(bring_to("standard", "running"))
    answer = store.ask(refused)

    other = store.do(Complete(worker=WORKER, attempt=1, request_id="r-1"))

    assert isinstance(answer, Refused)
    assert (other.answer, other.job.state) == ("applied", "succeeded")


@pytest.mark.requirement("ALL-05")
def test_repeat_of_a_refused_request_is_decided_anew() -> None:
    store = Remembering(bring_to("standard", "assigned"))
    complete = Complete(worker=WORKER, attempt=1, request_id="r-1")
    early = store.ask(complete)
    store.do(Start(worker=WORKER, attempt=1))

    later = store.do(complete)

    assert isinstance(early, Refused)
    assert later.answer == "applied"


@pytest.mark.requirement("ALL-05", "ALL-08")
def test_no_number_of_repeats_makes_a_second_terminal_write() -> None:
    store = Remembering(bring_to("standard", "running"))
    fail = Fail(worker=WORKER, attempt=1, error=Error("TransientError"), request_id="r-1")
    store.do(fail)
    store.life.wait(60)
    store.do(Claim(worker=WORKER))
    store.do(Start(worker=WORKER, attempt=2))
    before = store.life.job

    answers = [store.do(fail) for _ in range(5)]

    assert [answer.events for answer in answers] == [()] * 5
    assert store.life.job is before
    assert (before.attempt, before.failures) == (2, 1)


# -- a repeated claim ------------------------------------------------------------------------------------------------


def claimed_job(job_id: str) -> Life:
    life = Life(lifecycle_of("standard"), job_id=job_id)
    life.claim()
    return life


def held_after(*lives: Life, claimed: dict[str, int] | None = None) -> list[str]:
    jobs: list[Job] = [life.job for life in lives]
    return [job.id for job in still_held(jobs, claimed or {"a": 1, "b": 1, "c": 1}, WORKER)]


@pytest.mark.requirement("ALL-05")
def test_repeated_claim_answers_with_all_jobs_while_all_are_held() -> None:
    lives = [claimed_job(job_id) for job_id in "abc"]
    lives[1].start()

    assert held_after(*lives) == ["a", "b", "c"]


@pytest.mark.requirement("ALL-05")
def test_repeated_claim_leaves_out_what_ended_or_was_given_back() -> None:
    ended, lost, kept = (claimed_job(job_id) for job_id in "abc")
    ended.start()
    ended.complete()
    lost.reconcile()

    assert held_after(ended, lost, kept) == ["c"]


@pytest.mark.requirement("ALL-05", "ALL-08")
def test_repeated_claim_leaves_out_what_was_claimed_anew() -> None:
    by_another, by_itself, kept = (claimed_job(job_id) for job_id in "abc")
    by_another.reconcile()
    by_another.do(Claim(worker=OTHER_WORKER))
    by_itself.reconcile()
    by_itself.claim()

    assert (by_itself.job.owner, by_itself.job.attempt) == (WORKER, 2)
    assert held_after(by_another, by_itself, kept) == ["c"]


@pytest.mark.requirement("ALL-05")
def test_repeated_claim_never_answers_with_more_than_it_took() -> None:
    lives = [claimed_job(job_id) for job_id in "abc"]

    assert held_after(*lives, claimed={"b": 1}) == ["b"]
    assert held_after(*lives, claimed={"b": 2}) == []


@pytest.mark.requirement("CON-04", "CON-02")
def test_repeat_in_contract_succeeds_on_the_old_revision() -> None:
    store = Remembering(bring_to("contract", "stalled"))
    requeue = Requeue(role="operator", expected_rev=store.life.job.rev, request_id="r-1")
    store.do(requeue)
    fresh = store.ask(replace(requeue, request_id="r-2"))

    again = store.do(requeue)

    assert isinstance(fresh, Refused)
    assert again.answer == "repeat"
