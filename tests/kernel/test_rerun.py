"""Running a job again. An end is final, so what runs again is a new job that names the old one."""

from collections.abc import Callable
from typing import Any, Final

import pytest
from msgspec.structs import replace

from detent.audit import check_job
from detent.errors import Refused
from detent.kernel import Change, Error, Job, decide, parse
from detent.kernel.command import COMMANDS, Cancel, Claim, Deny, Rerun, Schedule, Submit
from detent.kernel.digest import digest
from detent.lifecycle import Lifecycle, Policy, Retry
from detent.lifecycle.words import ROLES
from detent.lifecycles import BUILT_IN, CONTRACT, DISPATCH, DOCUMENT, ENGINE, STANDARD
from tests.driving import START, WORKER, Life

SECOND = 1_000_000
FIRST: Final = {
    "standard": "queued", "dispatch": "PENDING", "engine": "queued", "contract": "queued", "document": "QUEUED",
}  # fmt: skip
# Everything a job can be given when it is enqueued.
FULL: Final[dict[str, Any]] = {
    "payload": b'{"page": 1}', "tenant": "acme", "queue": "slow", "priority": 7, "run_at": START,
    "policy": Policy(lease_s=45, timeout_s=20, grace_s=9, retry=Retry(max_attempts=1), aging_s=5),
    "dedupe_key": "scan:1", "correlation_id": "order-7", "trace_id": "trace-7", "parent_job_id": "job-0",
    "workflow_id": "flow-1", "step_index": 3, "topic": "job.scan", "context_ptr": "s3://in/1", "adapter_id": "gpu",
    "env": {"user_id": "u1"},
}  # fmt: skip
# Where it has no way back a failed job can only be run again as another one.
NO_WAY_BACK: Final = [DISPATCH, ENGINE, CONTRACT]

every_lifecycle: Final = pytest.mark.parametrize("lifecycle", BUILT_IN.values(), ids=BUILT_IN)
without_way_back: Final = pytest.mark.parametrize("lifecycle", NO_WAY_BACK, ids=lambda lifecycle: lifecycle.name)


def begun(lifecycle: Lifecycle, **fields: Any) -> Life:
    life = Life(lifecycle, submit=True, **fields)
    begin(life)
    return life


def begin(life: Life) -> None:
    """Bring it to work, as soon as that is possible."""
    if life.lifecycle is DISPATCH:
        life.do(Schedule(verdict="allow", rule="default"))
    assert life.job.claim_at is not None
    life.now = max(life.now, life.job.claim_at)
    life.claim(start=True)


def rerun(life: Life, **fields: Any) -> Change:
    answer = decide(life.lifecycle, life.job, Rerun(**{"new_job_id": "job-2"} | fields), life.now)
    assert isinstance(answer, Change), str(answer)
    return answer


# -- by hand ---------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("ALL-10", "DSP-07")
@every_lifecycle
@pytest.mark.parametrize("end", [Life.complete, lambda life: life.fail("PermanentError")], ids=["success", "failure"])
def test_rerun_makes_a_new_job_that_names_the_old_one_and_keeps_all_else(
    lifecycle: Lifecycle, end: Callable[[Life], Change]
) -> None:
    life = begun(lifecycle, **FULL)
    end(life)
    change = rerun(life)
    again = change.job

    assert again.spec == replace(life.job.spec, id="job-2", parent_job_id="job-1", run_at=None)
    assert again.spec.policy == FULL["policy"]
    assert (again.state, again.attempt, again.failures, again.error) == (FIRST[lifecycle.name], 0, 0, None)
    assert check_job(lifecycle, again, change.events) == []


@pytest.mark.requirement("ALL-10")
@every_lifecycle
def test_rerun_leaves_the_old_job_alone(lifecycle: Lifecycle) -> None:
    life = begun(lifecycle)
    life.complete()
    change = rerun(life)

    assert (change.before.id, change.before.rev) == ("job-2", 0)
    assert {event.job_id for event in change.events} == {"job-2"}
    assert (change.spawned, change.notes, change.needs_lease) == ((), (), False)


@pytest.mark.requirement("ALL-10")
def test_rerun_may_have_another_payload() -> None:
    life = begun(STANDARD, payload=b"old")
    life.fail("PermanentError")
    again = rerun(life, payload=b"new").job

    assert (again.spec.payload, again.payload_digest) == (b"new", digest(b"new"))


@pytest.mark.requirement("ALL-10")
def test_rerun_of_a_job_keeps_its_payload_where_none_is_given() -> None:
    life = begun(STANDARD, payload=b"old")
    life.fail("PermanentError")
    again = rerun(life).job

    assert (again.spec.payload, again.payload_digest) == (b"old", digest(b"old"))


@pytest.mark.requirement("ALL-10")
def test_rerun_may_wait() -> None:
    life = begun(STANDARD)
    life.complete()
    again = rerun(life, delay_s=90).job

    assert (again.spec.run_at, again.claim_at) == (life.now + 90 * SECOND, life.now + 90 * SECOND)


@pytest.mark.requirement("ALL-10", "DOC-01")
def test_rerun_of_a_document_is_submitted_in_the_same_change() -> None:
    life = begun(DOCUMENT)
    life.complete()
    change = rerun(life)

    assert [event.verb for event in change.events] == ["enqueue", "submit"]
    assert (change.job.state, change.job.claim_at) == ("QUEUED", life.now)


@pytest.mark.requirement("DSP-07")
def test_rerun_in_dispatch_asks_the_policy_anew() -> None:
    life = begun(DISPATCH)
    life.fail()
    again = rerun(life).job

    assert (again.state, again.verdict, again.rule, again.claim_at) == ("PENDING", None, None, None)


@pytest.mark.requirement("ALL-10", "ALL-11")
def test_why_a_job_was_run_again_is_on_the_record() -> None:
    life = begun(STANDARD)
    life.complete()
    told, plain = rerun(life, actor="ana", reason="wrong input").events[0], rerun(life).events[0]

    assert (told.actor, told.cause) == ("ana", "wrong input")
    assert plain.cause == "rerun of job-1"


@pytest.mark.requirement("ALL-10")
@every_lifecycle
def test_job_that_has_not_ended_cannot_be_run_again(lifecycle: Lifecycle) -> None:
    records = open_records(lifecycle)
    answers = [decide(lifecycle, record, Rerun(new_job_id="job-2"), START) for record in records]

    assert {record.state for record in records} == {state.name for state in lifecycle.states if state.phase != "ended"}
    assert [answer.code for answer in answers if isinstance(answer, Refused)] == ["illegal_move"] * len(records)


def open_records(lifecycle: Lifecycle) -> list[Job]:
    """A job in every state that is not ended."""
    life = Life(lifecycle)
    for command in (Submit(), Schedule(verdict="allow", rule="default"), Claim(worker=WORKER)):
        life.ask(command)
    if life.job.phase == "held":
        life.start()
    if lifecycle in (CONTRACT, DOCUMENT):
        life.reconcile()
    return life.records


# -- by policy -------------------------------------------------------------------------------------------------------


def retrying(**retry: Any) -> Policy:
    """Short limits, so that each can be over; failed jobs are run again."""
    return Policy(lease_s=30, heartbeat_s=10, timeout_s=15, rerun_failed=True, retry=Retry(**retry))


def patient(**retry: Any) -> Policy:
    """A run limit beyond the lease, so that the lease is over first."""
    return replace(retrying(**retry), timeout_s=3600)


def fail(life: Life) -> Change:
    return life.fail()


def run_out(life: Life) -> Change:
    return life.reconcile()


Lose = Callable[[Life], Change]
LOST: Final[dict[str, tuple[Lifecycle, Policy, Lose, str]]] = {
    "dispatch fail": (DISPATCH, retrying(max_attempts=3), fail, "fail"),
    "dispatch time_out": (DISPATCH, retrying(max_attempts=3), run_out, "time_out"),
    "dispatch expire": (DISPATCH, patient(max_attempts=3), run_out, "expire"),
    "engine fail": (ENGINE, retrying(max_attempts=3), fail, "fail"),
    "engine time_out": (ENGINE, retrying(max_attempts=3), run_out, "time_out"),
    "engine expire": (ENGINE, patient(max_attempts=3), run_out, "expire"),
    "contract fail": (CONTRACT, retrying(max_attempts=3), fail, "fail"),
}


@pytest.mark.requirement("ENG-11", "ALL-10", "DSP-07")
@pytest.mark.parametrize("name", LOST)
def test_failed_job_is_run_again_as_one_new_job_in_the_same_change(name: str) -> None:
    lifecycle, policy, lose, verb = LOST[name]
    life = begun(lifecycle, **FULL | {"policy": policy})
    change = lose(life)

    assert (change.events[-1].verb, life.job.is_ended) == (verb, True)
    [spawned] = change.spawned
    again = spawned.job
    assert again.spec == replace(life.job.spec, id=again.id, parent_job_id="job-1", run_at=again.spec.run_at)
    assert again.id not in ("job-0", "job-1")
    assert (again.state, again.retries, life.job.retries) == (FIRST[lifecycle.name], 1, 0)
    assert check_job(lifecycle, again, spawned.events) == []


@pytest.mark.requirement("ENG-11")
def test_job_that_no_engine_took_is_run_again_too() -> None:
    life = Life(ENGINE, policy=retrying(max_attempts=3))
    change = life.reconcile()

    assert change.events[-1].verb == "time_out"
    assert [spawned.job.retries for spawned in change.spawned] == [1]


@pytest.mark.requirement("ENG-11", "ALL-10")
@without_way_back
def test_failed_job_is_not_run_again_unless_its_policy_wants_that(lifecycle: Lifecycle) -> None:
    life = begun(lifecycle)
    change = life.fail()

    assert not lifecycle.defaults.rerun_failed
    assert life.job.is_ended
    assert change.spawned == ()


@pytest.mark.requirement("ENG-11")
@pytest.mark.parametrize("lose", [Life.reconcile, lambda life: life.fail()], ids=["time_out", "fail"])
def test_engine_job_is_not_run_again_by_default_however_it_failed(lose: Lose) -> None:
    change = lose(begun(ENGINE))

    assert change.job.state == "failed"
    assert change.spawned == ()


@pytest.mark.requirement("ENG-11", "DSP-07")
@without_way_back
@pytest.mark.parametrize("max_attempts", [1, 2, 4])
def test_reruns_carry_the_count_on_and_are_bounded(lifecycle: Lifecycle, max_attempts: int) -> None:
    life = begun(lifecycle, policy=retrying(max_attempts=max_attempts))
    jobs = [life.job]
    for _ in range(2 * max_attempts):
        spawned = life.fail().spawned
        if not spawned:
            break
        life = going_on(lifecycle, spawned[0], life.now)
        jobs.append(life.job)

    assert [job.retries for job in jobs] == list(range(max_attempts))
    assert [job.spec.parent_job_id for job in jobs] == [None, *(job.id for job in jobs[:-1])]
    assert len({job.id for job in jobs}) == max_attempts


def going_on(lifecycle: Lifecycle, created: Change, now: int) -> Life:
    """The life of a job that another one's end created, at work."""
    life = Life(lifecycle, at=now)
    life.job = created.job
    begin(life)
    return life


@pytest.mark.requirement("ENG-11")
@pytest.mark.parametrize(("random", "wait_s"), [(0.0, 4), (0.5, 6), (1.0, 8)])
def test_rerun_waits_for_the_backoff(random: float, wait_s: int) -> None:
    life = begun(ENGINE, policy=retrying(max_attempts=9, base_s=2, factor=2))
    life.job = replace(life.job, retries=2)
    command = parse("fail", {**life.as_owner(), "error": {"type": "TransientError"}})
    change = decide(ENGINE, life.job, command, life.now, random)

    assert isinstance(change, Change)
    again = change.spawned[0].job
    assert (again.claim_at, again.spec.run_at) == (life.now + wait_s * SECOND, life.now + wait_s * SECOND)
    assert again.deadline_at == life.now + (wait_s + 30) * SECOND


@pytest.mark.requirement("DSP-07")
def test_rerun_in_dispatch_is_not_claimable_before_the_backoff_is_over() -> None:
    life = begun(DISPATCH, policy=retrying(max_attempts=9, base_s=40, jitter=False))
    again = Life(DISPATCH)
    again.job = life.fail().spawned[0].job
    again.do(Schedule(verdict="allow", rule="default"))

    assert again.job.claim_at == life.now + 40 * SECOND


@pytest.mark.requirement("ENG-11")
def test_id_of_a_rerun_follows_from_what_caused_it() -> None:
    policy = retrying(max_attempts=9)
    first, replayed = begun(ENGINE, policy=policy).fail(), begun(ENGINE, policy=policy).fail()
    other_job = begun(ENGINE, policy=policy, job_id="job-9").fail()
    other_tenant = begun(ENGINE, policy=policy, tenant="acme").fail()
    ids = [change.spawned[0].job.id for change in (first, replayed, other_job, other_tenant)]

    assert ids[0] == ids[1]
    assert len(set(ids)) == 3


@pytest.mark.requirement("ENG-11")
@without_way_back
@pytest.mark.parametrize("type_", ["PermanentError", "ValidationError", "Mapped"])
def test_job_with_a_lasting_error_is_not_run_again(lifecycle: Lifecycle, type_: str) -> None:
    policy = replace(retrying(max_attempts=9), error_classes={"Mapped": "PermanentError"})
    change = begun(lifecycle, policy=policy).fail(type_)

    assert change.job.is_ended
    assert change.spawned == ()


@pytest.mark.requirement("ENG-11", "ALL-10")
def test_error_type_may_have_a_budget_of_reruns_of_its_own() -> None:
    policy = retrying(max_attempts=9, by_error={"Flaky": Retry.never()})

    assert begun(ENGINE, policy=policy).fail("Flaky").spawned == ()
    assert len(begun(ENGINE, policy=policy).fail("Other").spawned) == 1


@pytest.mark.requirement("ENG-11", "ALL-17")
@pytest.mark.parametrize("lifecycle", [DISPATCH, ENGINE], ids=lambda lifecycle: lifecycle.name)
@pytest.mark.parametrize("mode", ["soft", "hard"])
def test_cancelled_job_is_not_run_again(lifecycle: Lifecycle, mode: Any) -> None:
    life = begun(lifecycle, policy=patient(max_attempts=9))
    life.do(Cancel(mode=mode))
    life.run_out()

    assert life.job.is_ended
    assert life.spawned == []


@pytest.mark.requirement("ENG-11", "ALL-17")
@pytest.mark.parametrize("lifecycle", [DISPATCH, ENGINE], ids=lambda lifecycle: lifecycle.name)
def test_job_that_fails_after_it_was_asked_to_stop_is_not_run_again(lifecycle: Lifecycle) -> None:
    life = begun(lifecycle, policy=patient(max_attempts=9))
    life.do(Cancel(mode="soft"))
    life.fail("TransientError", "stopped halfway")

    assert life.job.is_ended
    assert life.spawned == []


@pytest.mark.requirement("DSP-07")
@pytest.mark.parametrize("is_at_the_gate", [False, True])
def test_denied_job_is_not_run_again(is_at_the_gate: bool) -> None:
    life = Life(DISPATCH, policy=retrying(max_attempts=9))
    life.do(Schedule(verdict="deny" if is_at_the_gate else "hold", rule="no"))
    if not is_at_the_gate:
        life.do(Deny())

    assert life.job.state == "DENIED"
    assert life.spawned == []


@pytest.mark.requirement("ALL-10")
@pytest.mark.parametrize("lifecycle", [STANDARD, DOCUMENT], ids=lambda lifecycle: lifecycle.name)
@pytest.mark.parametrize(
    ("policy", "lose"),
    [
        (retrying(max_attempts=1), fail),
        (retrying(max_attempts=1), run_out),
        # Its crashes are used up though, counted as reruns, there would be attempts left.
        (patient(max_attempts=9, crashes_max=1), run_out),
    ],
    ids=["fail", "time_out", "expire"],
)
def test_lifecycle_with_a_way_back_never_makes_another_job(lifecycle: Lifecycle, policy: Policy, lose: Lose) -> None:
    life = begun(lifecycle, policy=policy)
    change = lose(life)

    assert life.job.is_ended
    assert change.spawned == ()


# -- an end is final -------------------------------------------------------------------------------------------------

# What a verb needs to be said at all.
ARGUMENTS: Final[dict[str, dict[str, Any]]] = {
    "schedule": {"verdict": "allow", "rule": "r"},
    "fail": {"error": {"type": "TransientError"}},
    "progress": {"progress": {"fraction": 0.5}},
    "artifact": {"name": "page", "pointer": "s3://made/page"},
    "enqueue": {"job_id": "job-1", "kind": "other"},
    "rerun": {"new_job_id": "job-2"},
}


def ended(lifecycle: Lifecycle) -> list[Job]:
    """A job in every end of the lifecycle."""
    lives = [begun(lifecycle, policy=Policy(timeout_s=20, retry=Retry.never())) for _ in range(4)]
    lives[0].complete()
    lives[1].fail("PermanentError")
    lives[2].reconcile()
    lives[3].ask(Cancel(mode="hard"))
    if lifecycle is DISPATCH:
        denied = Life(DISPATCH)
        denied.do(Schedule(verdict="deny", rule="no"))
        lives.append(denied)
    jobs = [life.job for life in lives if life.job.is_ended]
    assert {job.state for job in jobs} == {state.name for state in lifecycle.states if state.phase == "ended"}
    return jobs


@pytest.mark.requirement("ALL-10")
@every_lifecycle
@pytest.mark.parametrize("verb", sorted(COMMANDS.keys() - {"rerun"}))
def test_no_verb_of_anybody_leaves_an_end(lifecycle: Lifecycle, verb: str) -> None:
    for job in ended(lifecycle):
        for role in (None, *ROLES):
            said = {"worker": WORKER, "attempt": job.attempt, "expected_rev": job.rev, "role": role}
            answer = decide(lifecycle, job, parse(verb, said | ARGUMENTS.get(verb, {})), START + 10**12)

            if isinstance(answer, Change):
                assert (answer.answer, answer.events, answer.values) == ("unchanged", (), None)
                assert lifecycle is DISPATCH
            else:
                assert answer.code in ("illegal_move", "job_exists", "wrong_actor")
                assert verb == "enqueue" or (answer.code, answer.allowed) == ("illegal_move", ())


@pytest.mark.requirement("ALL-10")
@every_lifecycle
def test_every_end_can_be_run_again(lifecycle: Lifecycle) -> None:
    for job in ended(lifecycle):
        answer = decide(lifecycle, job, Rerun(new_job_id="job-2"), START + 10**12)

        assert isinstance(answer, Change)
        assert (answer.job.spec.parent_job_id, answer.job.state) == (job.id, FIRST[lifecycle.name])


@pytest.mark.requirement("ALL-10")
def test_error_of_the_old_job_does_not_follow_the_new_one() -> None:
    life = begun(STANDARD)
    life.fail("PermanentError", "broken")
    again = rerun(life).job

    assert life.job.error is not None
    assert life.job.error.message == Error("PermanentError", "broken").message
    assert (again.error, again.last_error, again.result, again.ended_at) == (None, None, None, None)
