"""`client.explain` of jobs that somebody has, of those that nobody looks after, and of what is left to them."""

from datetime import timedelta

import pytest

from detent.client.ways import Way
from detent.errors import InvalidArgument, NotFound
from detent.lifecycle import Policy, Retry
from tests.client.explained import BUSY, explained, first, now, reasons, run
from tests.client.world import POSITIONS, World


@pytest.fixture
def running(fresh: World) -> World:
    fresh.blocking.enqueue("scan", job_id="42", policy=Policy(lease_s=60, timeout_s=300, grace_s=20))
    run(fresh)
    return fresh


def test_running_job_names_who_has_it_and_until_when(running: World) -> None:
    reason = first(running)

    assert (reason.code, reason.text) == ("leased", "worker 'w1' runs attempt 1 under its lease")
    assert (reason.since, reason.until) == (now(running), now(running) + timedelta(seconds=60))


def test_claimed_job_is_told_from_a_running_one(fresh: World) -> None:
    fresh.blocking.enqueue("scan", job_id="42")
    fresh.blocking.claim(worker="w1")

    assert first(fresh).text == "worker 'w1' holds attempt 1, claimed but not started, under its lease"


def test_running_job_tells_how_far_along_it_is(running: World) -> None:
    running.blocking.progress("42", 0.4, "page 2", worker="w1", attempt=1)

    assert reasons(running)["progress"].text == "40% done page 2"


def test_running_job_has_the_time_it_may_take(running: World) -> None:
    limit = reasons(running)["time_limit"]

    assert limit.text == "its time in 'running' is limited"
    assert limit.until == now(running) + timedelta(seconds=300)


def test_job_that_was_asked_to_stop_says_who_asked_and_why(running: World) -> None:
    asked = now(running)
    running.blocking.cancel("42", actor="ann", reason="wrong file")
    running.clock.pass_s(5)
    running.blocking.renew("42", worker="w1", attempt=1)

    reason = reasons(running)["cancel_requested"]

    assert reason.text == "ann asked it to stop (wrong file); it is cancelled when the grace is over"
    assert (reason.since, reason.until) == (asked, asked + timedelta(seconds=20))


def test_worker_that_missed_its_heartbeats_may_be_gone(running: World) -> None:
    found = reasons(running, after_s=61)

    assert list(found)[:2] == ["orphaned", "lease_over"]
    assert found["lease_over"].text == "worker 'w1' had attempt 1; its lease ran out 1.0 s ago"
    assert found["lease_over"].since == now(running) + timedelta(seconds=60)
    assert found["orphaned"].text.startswith("worker 'w1' has missed its heartbeats and may be gone")
    assert found["orphaned"].since == now(running) + timedelta(seconds=60)


def test_heartbeat_that_is_wanted_before_the_lease_ends_is_told(fresh: World) -> None:
    fresh.blocking.enqueue("scan", job_id="42", policy=Policy(lease_s=60, heartbeat_s=10))
    run(fresh)

    limit = reasons(fresh)["heartbeat_limit"]
    missed = reasons(fresh, after_s=21)

    assert limit.text == (
        "worker 'w1' is to be heard of before it misses its second heartbeat in a row, or it loses the job"
    )
    assert (limit.until, reasons(fresh)["leased"].until) == (
        now(fresh) + timedelta(seconds=20), now(fresh) + timedelta(seconds=60)
    )  # fmt: skip
    assert list(missed)[:2] == ["orphaned", "leased"]


@pytest.mark.parametrize("position", ["running", "held"])
def test_what_nobody_looks_after_comes_first(fresh: World, position: str) -> None:
    fresh.prepare(position)

    found = reasons(fresh, position, after_s=3_600)

    assert list(found)[:2] == ["overdue", "orphaned"]
    assert found["overdue"].text == "the reconciler should have acted on it, and none has; is one running?"
    assert found["overdue"].since == fresh.blocking.get(position).wake_at


def test_wait_that_is_over_and_that_nobody_ended_is_overdue(fresh: World) -> None:
    fresh.blocking.enqueue("scan", job_id="42", lifecycle="document", submit=True)
    run(fresh)
    fresh.blocking.fail("42", worker="w1", attempt=1, error=BUSY)

    assert first(fresh, after_s=2.9).code == "waits_to_be_requeued"
    assert first(fresh, after_s=3.1).code == "overdue"


def test_budget_says_what_was_lost_and_how_much_is_left(fresh: World) -> None:
    fresh.blocking.enqueue("scan", job_id="42", policy=Policy(retry=Retry(max_attempts=4, base_s=0)))
    run(fresh)
    fresh.blocking.fail("42", worker="w1", attempt=1, error=BUSY)
    run(fresh)
    fresh.clock.pass_s(120)
    fresh.blocking.reconcile()

    budget = explained(fresh).budget

    assert (budget.failures, budget.crashes, budget.attempts_max, budget.attempts_left) == (1, 1, 4, 2)


def test_lower_bound_on_crashes_is_minded(fresh: World) -> None:
    fresh.blocking.enqueue("scan", job_id="42", policy=Policy(retry=Retry(max_attempts=4, crashes_max=1)))

    assert explained(fresh).budget.attempts_left == 4

    run(fresh)
    fresh.clock.pass_s(120)
    fresh.blocking.reconcile()
    assert (fresh.blocking.get("42").state, explained(fresh).budget.attempts_left) == ("dead_lettered", 0)


@pytest.mark.requirement("ENG-11")
def test_job_without_a_way_back_has_one_attempt_whatever_its_policy_allows(fresh: World) -> None:
    fresh.blocking.enqueue("scan", job_id="42", lifecycle="engine")
    run(fresh)
    before = explained(fresh).budget
    fresh.clock.pass_s(120)
    fresh.blocking.reconcile()
    after = explained(fresh).budget

    assert (before.attempts_max, before.attempts_left, before.reruns_left) == (1, 1, 0)
    assert (after.attempts_max, after.attempts_left, after.reruns_left) == (1, 0, 0)


@pytest.mark.requirement("ENG-11")
def test_budget_says_how_many_jobs_may_follow_one_that_is_run_again(fresh: World) -> None:
    policy = Policy(lease_s=30, heartbeat_s=10, rerun_failed=True, retry=Retry(max_attempts=3, base_s=0))
    fresh.blocking.enqueue("scan", job_id="42", lifecycle="engine", policy=policy)
    run(fresh)
    first = explained(fresh).budget
    fresh.blocking.fail("42", worker="w1", attempt=1, error=BUSY)
    (again,) = explained(fresh).reruns
    second = explained(fresh, again).budget
    fresh.blocking.claim(worker="w1", start=True)
    fresh.blocking.cancel(again)

    assert (first.attempts_left, first.reruns_left) == (1, 2)
    assert (second.attempts_left, second.reruns_left) == (1, 1)
    assert explained(fresh, again).budget.reruns_left == 0  # nobody wants what is to stop run again


def test_job_that_goes_back_is_not_run_again_as_another(fresh: World) -> None:
    fresh.blocking.enqueue("scan", job_id="42", policy=Policy(rerun_failed=True))

    assert (explained(fresh).budget.attempts_left, explained(fresh).budget.reruns_left) == (5, 0)


def test_ways_are_the_verbs_of_the_state_with_the_moment_at_which_time_asks(running: World) -> None:
    start = now(running)
    running.blocking.cancel("42")

    ways = {way.verb: way for way in explained(running).ways}

    assert ways["complete"] == Way("complete", ["succeeded"], ["owner"])
    assert ways["time_out"].to == ["queued", "dead_lettered"]
    assert ways["time_out"].at == start + timedelta(seconds=300)
    assert ways["expire"].at == start + timedelta(seconds=60)
    assert ways["cancel"].at == start + timedelta(seconds=20)
    assert not ways.keys() & {"renew", "progress", "request_cancel"}  # they move it nowhere


def test_way_on_from_a_queue_is_a_claim_once_it_is_due(fresh: World) -> None:
    fresh.blocking.enqueue("scan", job_id="42", delay_s=60)

    claim = explained(fresh).ways[0]

    assert (claim.verb, claim.to, claim.at) == ("claim", ["assigned"], now(fresh) + timedelta(seconds=60))


@pytest.mark.parametrize("after_s", [0, 3_600, 10**9], ids=["now", "in an hour", "in thirty years"])
@pytest.mark.parametrize("position", POSITIONS)
def test_every_position_is_explained_at_any_time(fresh: World, position: str, after_s: float) -> None:
    fresh.prepare(position)

    found = explained(fresh, position, after_s=after_s)

    assert found.reasons
    assert found.ways
    assert found.job.id == position


def test_without_a_time_it_is_explained_as_of_now(fresh: World) -> None:
    fresh.blocking.enqueue("scan", job_id="42")

    assert fresh.blocking.explain("42").at > now(fresh)


def test_job_that_is_not_there_is_not_found(fresh: World) -> None:
    with pytest.raises(NotFound):
        fresh.blocking.explain("42")
    with pytest.raises(InvalidArgument):
        fresh.blocking.explain("")
