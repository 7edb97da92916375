"""Calls that are each well formed, in an order meant to do harm."""

import pytest

from detent import Policy
from detent.client import Job, SyncClient
from detent.errors import DetentError, NotFound, Refused
from detent.kernel.digest import derived_id
from tests.client.world import World

RERUN = Policy(rerun_failed=True)


def finish(client: SyncClient, job_id: str, request_id: str | None = None) -> Job:
    client.enqueue("scan", job_id=job_id, queue=job_id)
    client.claim(worker="w", queues=[job_id], start=True)
    return client.complete(job_id, worker="w", attempt=1, request_id=request_id)


def test_pruned_job_is_gone_for_every_verb(fresh: World) -> None:
    finish(fresh.blocking, "a", request_id="r")
    fresh.clock.pass_s(1)
    fresh.blocking.prune(successes_s=0, others_s=0)

    for verb in ("get", "history", "notes", "tree", "cancel", "rerun", "start"):
        with pytest.raises(NotFound):
            getattr(fresh.blocking, verb)("a")
    with pytest.raises(NotFound):
        fresh.blocking.complete("a", worker="w", attempt=1)
    with pytest.raises(NotFound):
        fresh.blocking.complete("a", worker="w", attempt=1, request_id="r")
    assert fresh.blocking.verify().is_clean


def test_pruned_job_s_id_may_be_used_again(fresh: World) -> None:
    finish(fresh.blocking, "a")
    fresh.clock.pass_s(1)
    fresh.blocking.prune(successes_s=0, others_s=0)

    job = finish(fresh.blocking, "a")

    assert (job.state, job.rev) == ("succeeded", 4)
    assert [event.rev for event in fresh.blocking.history("a")] == [1, 2, 3, 4]
    assert fresh.blocking.verify().is_clean


def guessed_id(world: World) -> str:
    """The id that a job's rerun will have: whoever knows how ids are made can tell beforehand."""
    scout = world.beside(tenant="default")
    scout.enqueue("scan", job_id="scout", lifecycle="engine", queue="scout", policy=RERUN)
    scout.claim(worker="w", queues=["scout"], start=True)
    scout.fail("scout", worker="w", attempt=1, error={"type": "TransientError"})
    (rerun,) = scout.find(parent_job_id="scout").items
    return rerun.id


def test_rerun_s_id_that_somebody_took_beforehand_does_not_keep_the_job_from_failing(fresh: World) -> None:
    assert guessed_id(fresh) == derived_id("default", "scout", 4), "ids of reruns can be told beforehand"
    fresh.blocking.enqueue("scan", job_id=derived_id("default", "victim", 4), queue="elsewhere")
    fresh.blocking.enqueue("scan", job_id="victim", lifecycle="engine", queue="victim", policy=RERUN)
    fresh.blocking.claim(worker="w", queues=["victim"], start=True)

    job = fresh.blocking.fail("victim", worker="w", attempt=1, error={"type": "TransientError"})

    assert job.state == "failed"


@pytest.mark.requirement("ALL-12", "ALL-18")
def test_no_job_of_one_tenant_keeps_the_reconciler_from_another_s(fresh: World) -> None:
    fresh.blocking.enqueue("scan", job_id="victim", lifecycle="engine", policy=RERUN)
    fresh.blocking.enqueue("scan", job_id=derived_id("default", "victim", 2), queue="elsewhere")
    other = fresh.beside(tenant="acme")
    other.enqueue("scan", job_id="theirs", lifecycle="engine")
    fresh.clock.pass_s(31)

    fresh.blocking.reconcile()

    assert other.get("theirs").state == "failed"
    assert fresh.blocking.get("victim").state == "failed"


def test_worker_that_repeats_itself_does_not_fill_the_store(fresh: World) -> None:
    fresh.prepare("running")
    for n in range(150):
        fresh.blocking.progress("running", n / 150, worker="w", attempt=1)
        with pytest.raises(Refused):
            fresh.blocking.complete("running", worker="w", attempt=0)

    kinds = [note.kind for note in fresh.blocking.notes("running")]

    assert (kinds.count("progress"), kinds.count("late_result")) == (100, 100)


def test_parents_that_go_round_in_a_circle_make_a_finite_tree(fresh: World) -> None:
    fresh.blocking.enqueue("scan", job_id="a", parent_job_id="b")
    fresh.blocking.enqueue("scan", job_id="b", parent_job_id="a")
    fresh.blocking.enqueue("scan", job_id="c", parent_job_id="c")

    assert fresh.blocking.tree("a").size() == 2
    assert fresh.blocking.tree("c").size() == 1


def test_clock_that_steps_back_does_not_reorder_a_job_s_story(fresh: World) -> None:
    fresh.prepare("held")
    fresh.clock.pass_s(-3_600)
    fresh.blocking.start("held", worker="w", attempt=1)
    fresh.clock.pass_s(-3_600)
    fresh.blocking.complete("held", worker="w", attempt=1)

    moments = [event.at for event in fresh.blocking.history("held")]

    assert moments == sorted(moments)
    assert fresh.blocking.verify().is_clean


def test_every_verb_on_every_job_is_answered_or_refused(fresh: World) -> None:
    """Each of some hundred pairs; whatever the answer, the history stays clean."""
    fresh.prepare()
    verbs = ("start", "renew", "complete", "release", "submit", "approve", "deny", "cancel", "request_cancel", "retry",
             "stall", "requeue", "expire", "time_out", "dead_letter", "rerun")  # fmt: skip
    answers: list[str] = []
    for job in fresh.blocking.find().items:
        for verb in verbs:
            try:
                answers.append(getattr(fresh.blocking, verb)(job.id, expected_rev=job.rev).answer)
            except DetentError as error:
                answers.append(error.code)

    assert {"applied", "illegal_move", "wrong_actor", "stale_rev"} <= set(answers)
    assert fresh.blocking.verify().is_clean
