"""`contract`: lost work stalls first; who sends it back, when, and what is a policy outside the lifecycle."""

from collections.abc import Callable
from typing import Any, Final

import pytest

from detent.audit import check_job
from detent.errors import Refused
from detent.kernel import Change, Job, decide
from detent.kernel.command import Claim, Enqueue, Renew, Requeue, Stall
from detent.kernel.due import due_command
from detent.lifecycle import Policy, Retry
from detent.lifecycle.words import Role
from detent.lifecycles import CONTRACT
from tests.driving import START, WORKER, Life

SECOND = 1_000_000
ONCE: Final = Policy(retry=Retry.never())
SHORT_RUN: Final = Policy(timeout_s=20)


def claimed(**fields: Any) -> Life:
    life = Life(CONTRACT, **fields)
    life.claim()
    return life


def running(**fields: Any) -> Life:
    life = claimed(**fields)
    life.start()
    return life


def stalled(**fields: Any) -> Life:
    """Its lease ran out."""
    life = running(**fields)
    life.reconcile()
    return life


def by(role: Role, life: Life) -> dict[str, Any]:
    return {"role": role, "expected_rev": life.job.rev}


def counts(job: Job) -> tuple[int, int, int]:
    return job.failures, job.crashes, job.interruptions


def code_of(answer: Change | Refused) -> str:
    assert isinstance(answer, Refused), "it was accepted"
    return answer.code


Begin = Callable[..., Life]
leased: Final = pytest.mark.parametrize("begin", [claimed, running])


# -- stalling --------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("CON-01")
@leased
@pytest.mark.parametrize("role", ["reconciler", "scheduler"])
def test_system_may_stall_a_leased_job_at_any_time_and_revokes_its_lease(begin: Begin, role: Role) -> None:
    life = begin()
    life.do(Stall(**by(role, life)))
    answer = life.ask(Renew(worker=WORKER, attempt=1, expected_rev=life.job.rev))

    assert (life.job.state, life.job.owner, life.job.lease_expires_at) == ("stalled", None, None)
    assert (life.job.last_owner, counts(life.job)) == (WORKER, (0, 0, 1))
    assert code_of(answer) == "illegal_move"
    assert check_job(CONTRACT, life.job, life.events) == []


@pytest.mark.requirement("CON-01")
@leased
def test_owner_that_shuts_down_stalls_its_job_which_is_an_interruption(begin: Begin) -> None:
    life = begin()
    life.do(Stall(**life.as_owner()))

    assert (life.job.state, counts(life.job), life.job.last_error) == ("stalled", (0, 0, 1), None)
    assert life.events[-1].role == "owner"


@pytest.mark.requirement("CON-01")
def test_owner_that_shuts_down_after_its_run_limit_still_only_interrupts() -> None:
    life = running(policy=SHORT_RUN)
    life.wait(21)
    life.do(Stall(**life.as_owner()))

    assert (life.job.state, counts(life.job)) == ("stalled", (0, 0, 1))


@pytest.mark.requirement("CON-01")
@leased
def test_lease_that_runs_out_stalls_the_job_and_counts_a_crash(begin: Begin) -> None:
    life = begin()
    life.reconcile()

    assert (life.job.state, counts(life.job), life.events[-1].verb) == ("stalled", (0, 1, 0), "stall")
    assert life.job.last_error is not None
    assert life.job.last_error.type == "LeaseExpired"


@pytest.mark.requirement("CON-01", "CON-08")
def test_run_limit_that_is_over_stalls_the_job_and_counts_a_failure() -> None:
    life = running(policy=SHORT_RUN)
    life.reconcile()

    assert (life.job.state, counts(life.job)) == ("stalled", (1, 0, 0))
    assert life.now == START + 20 * SECOND
    assert life.job.last_error is not None
    assert life.job.last_error.type == "TimedOut"


@pytest.mark.requirement("CON-01")
@pytest.mark.parametrize("role", ["client", "operator", "gateway", "policy"])
def test_nobody_else_stalls_a_job(role: Role) -> None:
    life = running()
    answers = [life.ask(Stall(**by(role, life))), life.ask(Stall(**life.as_owner() | {"worker": "somebody-else"}))]

    assert [code_of(answer) for answer in answers] == ["wrong_actor", "not_owner"]
    assert life.job.state == "running"


@pytest.mark.requirement("CON-01")
@pytest.mark.parametrize("begin", [lambda: Life(CONTRACT), stalled], ids=["queued", "stalled"])
def test_only_a_leased_job_stalls(begin: Begin) -> None:
    life = begin()
    answer = life.ask(Stall(**by("reconciler", life)))

    assert code_of(answer) == "illegal_move"


# -- the wait --------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("CON-01", "CON-08")
def test_backoff_is_spent_stalled_and_the_job_is_claimable_at_once_when_requeued() -> None:
    life = stalled(policy=Policy(retry=Retry.fixed(delay_s=40, max_attempts=5)))
    stalled_at, due_at = life.now, life.job.due_at
    life.reconcile()

    assert (due_at, life.now) == (stalled_at + 40 * SECOND, stalled_at + 40 * SECOND)
    assert (life.job.state, life.job.claim_at) == ("queued", life.now)
    assert life.claim().job.attempt == 2


@pytest.mark.requirement("CON-08")
def test_backoff_grows_with_every_loss() -> None:
    life = Life(CONTRACT, policy=Policy(retry=Retry(max_attempts=9, base_s=1, factor=3, max_s=20, jitter=False)))
    waits = []
    for _ in range(4):
        life.claim()
        life.reconcile()
        assert life.job.due_at is not None
        waits.append((life.job.due_at - life.now) / SECOND)
        life.reconcile()

    assert waits == [1, 3, 9, 20]


@pytest.mark.requirement("CON-01")
@pytest.mark.parametrize("role", ["reconciler", "scheduler", "operator"])
def test_job_with_attempts_left_may_be_requeued_at_any_time(role: Role) -> None:
    life = stalled(policy=Policy(retry=Retry.fixed(delay_s=3600, max_attempts=5)))
    life.do(Requeue(**by(role, life)))

    assert (life.job.state, life.job.claim_at) == ("queued", life.now)


@pytest.mark.requirement("CON-01")
@pytest.mark.parametrize("role", ["client", "worker", "gateway", "policy"])
def test_nobody_else_requeues_a_job(role: Role) -> None:
    life = stalled()
    answer = life.ask(Requeue(**by(role, life)))

    assert code_of(answer) == "wrong_actor"


@pytest.mark.requirement("CON-01")
def test_requeue_by_the_system_keeps_what_was_counted() -> None:
    life = stalled()
    life.do(Requeue(**by("scheduler", life)))

    assert counts(life.job) == (0, 1, 0)


# -- reclaim ---------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("CON-08")
def test_stalled_job_cannot_be_claimed_by_default() -> None:
    life = stalled()
    life.wait(3600)
    answer = life.ask(Claim(worker=WORKER))

    assert code_of(answer) == "not_due"
    assert (life.job.state, life.job.claim_at) == ("stalled", None)


@pytest.mark.requirement("CON-08", "CON-05")
def test_where_the_policy_allows_it_a_stalled_job_is_claimed_once_its_backoff_is_over() -> None:
    life = stalled(policy=Policy(reclaim=True, retry=Retry.fixed(delay_s=40, max_attempts=5)))
    due = life.now + 40 * SECOND
    early = decide(CONTRACT, life.job, Claim(worker="w2"), due - 1)
    life.now = due
    life.do(Claim(worker="w2"))

    assert code_of(early) == "not_due"
    assert (life.job.state, life.job.owner, life.job.attempt) == ("claimed", "w2", 2)
    assert check_job(CONTRACT, life.job, life.events) == []


@pytest.mark.requirement("CON-08")
def test_job_that_used_up_its_attempts_cannot_be_reclaimed() -> None:
    life = stalled(policy=Policy(reclaim=True, retry=Retry.never()))
    life.wait(10**6)
    answer = life.ask(Claim(worker="w2"))

    assert code_of(answer) == "not_due"
    assert life.job.state == "stalled"


# -- used up ---------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("CON-01", "ALL-16")
@pytest.mark.parametrize("policy", [ONCE, Policy(timeout_s=20, retry=Retry.never())], ids=["crash", "run limit"])
def test_job_that_used_up_its_attempts_stays_stalled(policy: Policy) -> None:
    life = stalled(policy=policy)
    life.wait(10**6)
    answers = [life.ask(Requeue(**by(role, life))) for role in ("reconciler", "scheduler")]

    assert (life.job.state, life.job.due_at, life.job.wake_at) == ("stalled", None, None)
    assert due_command(CONTRACT, life.job, life.now) is None
    assert [code_of(answer) for answer in answers] == ["wrong_actor", "wrong_actor"]


@pytest.mark.requirement("CON-01", "ALL-16")
def test_operator_sends_a_used_up_job_back_with_its_counters_reset() -> None:
    life = running(policy=Policy(retry=Retry.fixed(delay_s=1, max_attempts=2)))
    life.do(Stall(**life.as_owner()))
    for _ in range(2):
        life.do(Requeue(**by("reconciler", life)))
        life.claim()
        life.reconcile()
    before = life.job
    life.do(Requeue(**by("operator", life)))
    after = life.job
    life.claim()
    life.reconcile()

    assert (before.state, counts(before)) == ("stalled", (0, 2, 1))
    assert (after.state, after.claim_at, counts(after)) == ("queued", life.events[-3].at, (0, 0, 0))
    assert life.job.due_at is not None, "it has its whole budget again"
    assert check_job(CONTRACT, life.job, life.events) == []


@pytest.mark.requirement("CON-05")
def test_operators_requeue_does_not_reset_the_attempt() -> None:
    life = stalled(policy=ONCE)
    life.do(Requeue(**by("operator", life)))
    life.claim()

    assert life.job.attempt == 2


@pytest.mark.requirement("CON-01", "ALL-16", "ALL-12")
def test_larger_budget_of_a_loss_of_its_own_lets_the_system_requeue() -> None:
    patient = Retry(max_attempts=1, by_error={"LeaseExpired": Retry.fixed(delay_s=1, max_attempts=9)})
    life = stalled(policy=Policy(retry=patient))
    due = life.job.due_at
    life.wait(1)
    command = due_command(CONTRACT, life.job, life.now)

    assert due == life.now
    assert command is not None
    assert command.verb == "requeue"
    assert isinstance(life.ask(command), Change)


@pytest.mark.requirement("CON-01", "ALL-16")
def test_smaller_budget_of_a_loss_of_its_own_keeps_the_job_stalled() -> None:
    strict = Retry(max_attempts=9, by_error={"LeaseExpired": Retry.never()})
    life = stalled(policy=Policy(retry=strict))
    answer = life.ask(Requeue(**by("scheduler", life)))

    assert code_of(answer) == "wrong_actor"
    assert life.job.state == "stalled"


# -- what is a policy ------------------------------------------------------------------------------------------------


@pytest.mark.requirement("CON-08")
@pytest.mark.parametrize(("lease_s", "heartbeat_s", "lost_s"), [(60, 30, 60), (120, 10, 20), (30, 10, 20)])
def test_length_and_cadence_of_leases_are_a_policy(lease_s: float, heartbeat_s: float, lost_s: int) -> None:
    life = claimed(policy=Policy(lease_s=lease_s, heartbeat_s=heartbeat_s))
    expires_at = life.job.lease_expires_at
    life.reconcile()

    assert expires_at == START + lease_s * SECOND
    assert (life.job.state, life.now) == ("stalled", START + lost_s * SECOND)


@pytest.mark.requirement("CON-05")
def test_attempt_counts_claims_and_rev_counts_mutations() -> None:
    life = running()
    life.do(Renew(**life.as_owner()))
    life.do(Stall(**life.as_owner()))
    life.do(Requeue(**by("scheduler", life)))
    life.claim()
    life.start()
    life.complete()
    told = [(event.type, event.rev, event.attempt) for event in life.events]

    assert told == [
        ("enqueued", 1, 0),
        ("claimed", 2, 1),
        ("started", 3, 1),
        ("heartbeat", 4, 1),
        ("stalled", 5, 1),
        ("requeued", 6, 1),
        ("claimed", 7, 2),
        ("started", 8, 2),
        ("succeeded", 9, 2),
    ]


# -- dedupe_key ------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("CON-07")
@pytest.mark.parametrize(
    "begin", [lambda **of: Life(CONTRACT, **of), running, stalled], ids=["queued", "at work", "stalled"]
)
@pytest.mark.parametrize("key", ["scan:1", "{}", "  ", "täglich/2025-02-01", "x" * 255])
def test_enqueue_under_the_key_of_a_live_job_answers_with_that_job_and_writes_nothing(begin: Begin, key: str) -> None:
    life = begin(dedupe_key=key)
    answer = decide(CONTRACT, life.job, Enqueue(job_id="job-2", kind="other", payload=b"2", dedupe_key=key), life.now)

    assert isinstance(answer, Change)
    assert (answer.answer, answer.events, answer.notes, answer.spawned) == ("duplicate", (), (), ())
    assert answer.job == life.job


@pytest.mark.requirement("CON-07")
@pytest.mark.parametrize("key", ["scan:1", "{}", "täglich/2025-02-01"])
def test_key_is_kept_as_it_is_and_decides_nothing_by_itself(key: str) -> None:
    plain, keyed = Life(CONTRACT), Life(CONTRACT, dedupe_key=key)

    assert keyed.job.spec.dedupe_key == key
    assert keyed.events == plain.events


@pytest.mark.requirement("CON-07")
def test_job_of_the_same_id_is_no_duplicate_but_a_clash() -> None:
    life = Life(CONTRACT, dedupe_key="scan:1")
    answer = life.ask(Enqueue(job_id="job-1", kind="scan", dedupe_key="scan:1"))

    assert code_of(answer) == "job_exists"
