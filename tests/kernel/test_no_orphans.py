"""No job is left waiting for nothing: time, a claim or a named signal leads on from every record a job can have.

The records are collected by a bounded search: from a new job, whatever anybody may do, in every order.
"""

from collections.abc import Iterator
from typing import Any, Final

import pytest
from msgspec.structs import replace

from detent.errors import Refused
from detent.kernel import Change, Error, Job, decide
from detent.kernel.command import (
    COMMANDS,
    Approve,
    Cancel,
    Claim,
    Command,
    Complete,
    DeadLetter,
    Deny,
    Enqueue,
    Expire,
    Fail,
    Release,
    Renew,
    RequestCancel,
    Requeue,
    Retry,
    Schedule,
    Stall,
    Start,
    Submit,
    TimeOut,
)
from detent.kernel.due import due_command
from detent.lifecycle import Lifecycle, Policy
from detent.lifecycle import Retry as RetryPolicy
from detent.lifecycle.words import NOTING
from tests.driving import START, STEPS_MAX, WORKER, Life
from tests.kernel.tables import POLICIES, bring_to, lifecycle_of

RECORDS_MAX: Final = 2_000
SECOND: Final = 1_000_000


# What a job type may configure around losses and limits: each is searched on its own.
RETRIES: Final[dict[str, dict[str, Any]]] = {
    "two attempts": {},
    "one attempt": {"max_attempts": 1},
    "one crash": {"max_attempts": 3, "crashes_max": 1},
    "failed when used up": {"used_up": "fail"},
    "more attempts for one error": {"max_attempts": 1, "by_error": {"Busy": RetryPolicy(max_attempts=2)}},
    "fewer attempts for one error": {"max_attempts": 3, "by_error": {"Busy": RetryPolicy.never()}},
    "more attempts for crashes": {"max_attempts": 1, "by_error": {"LeaseExpired": RetryPolicy(max_attempts=2)}},
    "fewer attempts for crashes": {"max_attempts": 3, "by_error": {"LeaseExpired": RetryPolicy.never()}},
}
LIMITS: Final[dict[str, dict[str, Any]]] = {
    "no run limit": {"timeout_s": None},
    "a run limit within the lease": {"timeout_s": 20},
    "a run limit beyond the lease": {"timeout_s": 90},
    "a grace beyond the lease": {"grace_s": 90},
    "no reclaim": {"reclaim": False},
}
CASES: Final = [(name, variant) for name in POLICIES for variant in (*RETRIES, *LIMITS)]
every_case = pytest.mark.parametrize(("name", "variant"), CASES)


def policy_of(name: str, variant: str) -> Policy:
    retry = RetryPolicy(**{"max_attempts": 2, "jitter": False} | RETRIES.get(variant, {}))
    return replace(POLICIES[name], retry=retry, **LIMITS.get(variant, {}))


# -- the search ------------------------------------------------------------------------------------------------------


def possible_commands(job: Job) -> Iterator[Command]:
    """Whatever anybody could ask of this record; the kernel sorts out what is allowed."""
    rev: dict[str, Any] = {"expected_rev": job.rev}
    owner: dict[str, Any] = {"worker": WORKER, "attempt": job.attempt} | rev
    yield Submit()
    yield from (Schedule(verdict=verdict, rule="r", delay_s=3) for verdict in ("allow", "hold", "throttle"))
    yield from (Approve(), Deny(), Claim(worker=WORKER))
    yield from (Start(**owner), Renew(**owner), Release(**owner), Complete(**owner))
    yield from (Fail(**owner, error=Error(type_)) for type_ in ("TransientError", "Busy", "PermanentError"))
    yield from (Fail(role=role, error=Error("QueueOverload"), **rev) for role in ("reconciler", "scheduler"))
    yield from (Retry(role=role, **rev) for role in ("reconciler", "scheduler"))
    yield from (Stall(**owner), Stall(role="reconciler", **rev), Stall(role="scheduler", **rev))
    yield from (Requeue(role=role, **rev) for role in ("reconciler", "scheduler", "operator"))
    yield from (Expire(**rev), TimeOut(**rev), TimeOut(**owner))
    yield from (RequestCancel(role="client"), Cancel(role="client", mode="hard"), Cancel(**owner))
    yield from (DeadLetter(role="operator"), DeadLetter(**owner))


def moments(job: Job, now: int) -> list[int]:
    """Now, and each later moment at which something changes for this record."""
    ahead = (
        job.claim_at,
        job.wake_at,
        job.heartbeat_by,
        job.lease_expires_at,
        job.deadline_at,
        job.cancel_by,
        job.due_at,
    )
    return sorted({now, *(moment for moment in ahead if moment is not None and moment > now)})


def likeness(job: Job, now: int) -> tuple[Any, ...]:
    """Equal for records with the same future: moments count from now, and attempts and revisions not at all."""
    times = (job.claim_at, job.wake_at, job.heartbeat_by, job.deadline_at, job.cancel_by, job.due_at)
    ahead = tuple(None if moment is None else max(moment - now, 0) // SECOND for moment in times)
    return job.state, job.owner, job.failures, job.crashes, min(job.interruptions, 1), job.verdict, ahead


def reachable(lifecycle: Lifecycle, policy: Policy) -> list[tuple[Job, int]]:
    """Every record that is not ended and the moment it was reached at, alike ones once."""
    made = decide(lifecycle, None, Enqueue(job_id="job-1", kind="scan", policy=policy), START)
    assert isinstance(made, Change)
    found, frontier = {likeness(made.job, START): (made.job, START)}, [(made.job, START)]
    while frontier:
        job, since = frontier.pop()
        for now in moments(job, since):
            for command in possible_commands(job):
                answer = decide(lifecycle, job, command, now)
                after = (answer.job, now) if isinstance(answer, Change) and answer.events else None
                if after is not None and not after[0].is_ended and likeness(*after) not in found:
                    found[likeness(*after)] = after
                    frontier.append(after)
        assert len(found) <= RECORDS_MAX, "the search does not end; make the likeness coarser"
    return list(found.values())


FOUND: dict[tuple[str, str], list[tuple[Job, int]]] = {}


def records_of(name: str, variant: str) -> list[tuple[Job, int]]:
    """Searched once for all tests that look at them."""
    if (name, variant) not in FOUND:
        FOUND[name, variant] = reachable(lifecycle_of(name), policy_of(name, variant))
    return FOUND[name, variant]


# -- what leads on ---------------------------------------------------------------------------------------------------

# The states in which a job may rest without a time set, and the signal each waits for.
SIGNALS: Final[dict[tuple[str, str], Command]] = {
    ("dispatch", "PENDING"): Schedule(verdict="allow", rule="r", role="scheduler"),
    ("dispatch", "SCHEDULED"): Approve(role="operator"),
    ("contract", "stalled"): Requeue(role="operator"),
    ("document", "CREATED"): Submit(role="client"),
}


def signal_for(name: str, job: Job) -> Command | None:
    signal = SIGNALS.get((name, job.state))
    return None if signal is None else replace(signal, expected_rev=job.rev)


def accepted(name: str, job: Job, command: Command, now: int) -> bool:
    answer = decide(lifecycle_of(name), job, command, now)
    return isinstance(answer, Change) and bool(answer.events)


@pytest.mark.requirement("ALL-12", "DOC-05")
@every_case
def test_search_reaches_every_open_state(name: str, variant: str) -> None:
    states = {state.name for state in lifecycle_of(name).states if state.phase != "ended"}

    assert {job.state for job, _ in records_of(name, variant)} == states


@pytest.mark.requirement("ALL-12", "DOC-05")
@every_case
def test_what_time_demands_is_accepted_at_the_moment_it_is_due(name: str, variant: str) -> None:
    lifecycle = lifecycle_of(name)
    timed = [job for job, _ in records_of(name, variant) if job.wake_at is not None]
    refused = []
    for job in timed:
        assert job.wake_at is not None
        command = due_command(lifecycle, job, job.wake_at)
        if command is None or not accepted(name, job, command, job.wake_at):
            refused.append((job.state, command))

    assert timed
    assert refused == []


@pytest.mark.requirement("ALL-12")
@every_case
def test_nothing_is_demanded_before_its_time(name: str, variant: str) -> None:
    lifecycle = lifecycle_of(name)

    early = [
        job
        for job, _ in records_of(name, variant)
        if due_command(lifecycle, job, (job.wake_at or START + 10**9) - 1) is not None
    ]

    assert early == []


@pytest.mark.requirement("ALL-12", "DOC-05", "CON-01")
@every_case
def test_record_without_a_time_set_can_be_claimed_or_waits_for_its_signal(name: str, variant: str) -> None:
    untimed = [(job, now) for job, now in records_of(name, variant) if job.wake_at is None]
    orphans = []
    for job, now in untimed:
        signal = signal_for(name, job)
        is_claimable = job.claim_at is not None and accepted(name, job, Claim(worker="w"), max(now, job.claim_at))
        if not is_claimable and (signal is None or not accepted(name, job, signal, now)):
            orphans.append((job.state, job.verdict, job.failures, job.crashes))

    assert orphans == []


@pytest.mark.requirement("ALL-12", "ALL-17")
@every_case
def test_system_looks_at_a_leased_record_as_soon_as_lease_limit_or_grace_is_over(name: str, variant: str) -> None:
    leased = [job for job, _ in records_of(name, variant) if job.owner is not None]
    ends = [(job.lease_expires_at, job.heartbeat_by, job.deadline_at, job.cancel_by) for job in leased]

    assert leased
    assert [job.wake_at for job in leased] == [min(end for end in each if end is not None) for each in ends]


@pytest.mark.requirement("ALL-12", "ALL-16", "DOC-05")
@every_case
@pytest.mark.parametrize("first", ["claim", "time"])
def test_time_and_workers_that_crash_lead_from_any_record_to_an_end_or_a_signal(
    name: str, variant: str, first: str
) -> None:
    rest = {outcome_of(name, job, now, first=first) for job, now in records_of(name, variant)}

    signals = {state for lifecycle, state in SIGNALS if lifecycle == name}
    assert rest <= {"ended"} | signals
    assert "ended" in rest or name == "contract"


def outcome_of(name: str, job: Job, now: int, *, first: str) -> str:
    """Where the job comes to rest when nobody does anything but claim it and crash."""
    lifecycle = lifecycle_of(name)
    for _ in range(STEPS_MAX):
        if job.is_ended:
            return "ended"
        command, now = next_of(lifecycle, job, now, first=first)
        if command is None:
            return job.state
        answer = decide(lifecycle, job, command, now)
        assert isinstance(answer, Change), f"{job.state}: {answer}"
        job = answer.job
    raise AssertionError(f"still {job.state} after {STEPS_MAX} steps")


def next_of(lifecycle: Lifecycle, job: Job, now: int, *, first: str) -> tuple[Command | None, int]:
    claim = None if job.claim_at is None else (Claim(worker=WORKER), max(now, job.claim_at))
    timed = None
    if job.wake_at is not None:
        due = max(now, job.wake_at)
        timed = due_command(lifecycle, job, due), due
    order = (claim, timed) if first == "claim" else (timed, claim)
    return order[0] or order[1] or (None, now)


# -- the same, told one by one ---------------------------------------------------------------------------------------


@pytest.mark.requirement("ALL-12", "ALL-16")
@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("standard", "dead_lettered"),
        ("dispatch", "TIMEOUT"),
        ("engine", "failed"),
        ("contract", "stalled"),
        ("document", "FAILED"),
    ],
)
def test_job_whose_every_worker_crashes_comes_to_rest(name: str, end: str) -> None:
    life = bring_to(name, {"dispatch": "SCHEDULED", "document": "QUEUED"}.get(name, "queued"))

    for _ in range(STEPS_MAX):
        if life.job.claim_at is None and life.job.wake_at is None:
            break
        if life.job.claim_at is None:
            life.reconcile()
        else:
            life.now = max(life.now, life.job.claim_at)
            life.claim(start=True)

    assert life.job.state == end
    assert (life.job.wake_at, life.job.claim_at) == (None, None)


@pytest.mark.requirement("ALL-12", "CON-01")
def test_stalled_job_with_its_budget_used_up_waits_for_an_operator_alone() -> None:
    life = Life(lifecycle_of("contract"), policy=policy_of("contract", "one attempt"))
    life.claim(start=True)
    life.reconcile()

    by_system = [life.ask(Requeue(role=role, expected_rev=life.job.rev)) for role in ("reconciler", "scheduler")]
    claimed = life.ask(Claim(worker=WORKER))
    life.do(Requeue(role="operator", expected_rev=life.job.rev))

    assert [answer.code for answer in by_system if isinstance(answer, Refused)] == ["wrong_actor"] * 2
    assert isinstance(claimed, Refused)
    assert (life.job.state, life.job.crashes) == ("queued", 0)


@pytest.mark.requirement("ALL-12", "DOC-03")
@pytest.mark.parametrize("name", ["standard", "document"])
def test_error_with_more_attempts_of_its_own_is_retried_beyond_the_others(name: str) -> None:
    policy = policy_of(name, "more attempts for one error")
    life = bring_to(name, "RUNNING" if name == "document" else "running", policy=policy)
    life.fail("Busy")
    while life.job.claim_at is None:
        life.reconcile()
    life.now = life.job.claim_at

    life.claim(start=True)

    assert (life.job.phase, life.job.attempt) == ("active", 2)


@pytest.mark.requirement("ALL-12")
def test_every_command_is_tried_in_the_search() -> None:
    job = bring_to("standard", "running").job

    tried = {command.verb for command in possible_commands(job)}

    assert tried == set(COMMANDS) - {"enqueue", *NOTING, "rerun"}
