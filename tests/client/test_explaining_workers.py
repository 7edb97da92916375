"""`client.explain`: what the workers' own reports, and a paused queue, have to do with a job that waits."""

from typing import Any

import pytest

from detent.store.fleet import BUS_HOST, SEEN_S, WORKER_KEPT_S, Lane
from tests.client.explained import first, now, reasons, run
from tests.client.world import World


def report(world: World, *names: str, **more: Any) -> None:
    asked: dict[str, Any] = {"host": "box-1", "pid": 7, "started_at": now(world), "queues": ["default"]}
    for name in names:
        world.blocking.report_worker(name, **{**asked, **more})


@pytest.fixture
def waiting(fresh: World) -> World:
    """Job 42 waits in queue `default`."""
    fresh.blocking.enqueue("scan", job_id="42")
    return fresh


def test_job_in_a_paused_queue_says_since_when_by_whom_and_why(waiting: World) -> None:
    waiting.clock.pass_s(60)
    since = now(waiting)
    waiting.blocking.pause_queue("default", actor="ann", reason="the scanner is away")

    reason = first(waiting, after_s=600)

    assert (reason.code, reason.since) == ("queue_paused", since)
    assert reason.text == ("queue 'default' is paused, nothing is claimed from it; ann paused it: the scanner is away")
    waiting.blocking.resume_queue("default")
    assert first(waiting).code == "no_claim"


def test_pause_without_a_reason_names_who_did_it(waiting: World) -> None:
    waiting.blocking.pause_queue("default", actor="ann")

    assert first(waiting).text.endswith("; ann paused it")


def test_pause_comes_after_what_holds_a_job_back_anyway(fresh: World) -> None:
    fresh.blocking.enqueue("scan", job_id="42", delay_s=60)
    fresh.blocking.pause_queue("default")

    assert list(reasons(fresh)) == ["not_due", "queue_paused"]


def test_pause_says_nothing_of_a_job_that_is_with_a_worker(waiting: World) -> None:
    run(waiting)
    waiting.blocking.pause_queue("default")

    assert "queue_paused" not in reasons(waiting)


def test_queue_that_no_worker_serves(waiting: World) -> None:
    due = now(waiting)
    report(waiting, "w1", "w2", "w3", queues=["ocr"])

    reason = first(waiting)

    assert (reason.code, reason.since) == ("queue_not_served", due)
    assert reason.text == "nobody serves queue 'default'; other queues are served, by 'w1' and 2 others"


def test_queue_whose_worker_has_missed_three_reports(waiting: World) -> None:
    report(waiting, "w1")
    waiting.clock.pass_s(SEEN_S + 1)

    assert first(waiting).code == "queue_not_served"
    assert first(waiting).text == (
        "nobody serves queue 'default' any more; no worker is there; "
        "'w1' on box-1 did, and was last heard of at 16:00:00 UTC"
    )


def test_worker_that_was_last_heard_of_more_than_a_day_ago_says_nothing(waiting: World) -> None:
    report(waiting, "w1")
    waiting.clock.pass_s(WORKER_KEPT_S + 1)

    assert first(waiting).code == "no_claim"


def test_kind_that_no_worker_serves(waiting: World) -> None:
    report(waiting, "w1", kinds=["mail"])
    report(waiting, "w2", kinds=["scan"], queues=["ocr"])

    reason = first(waiting)

    assert reason.code == "kind_not_served"
    assert reason.text == "nobody serves kind 'scan'; queue 'default' is served for other kinds, by 'w1'"


def test_adapter_that_no_worker_has(fresh: World) -> None:
    fresh.blocking.enqueue("scan", job_id="42", adapter_id="gpu")
    report(fresh, "w1", "w2", adapters=["cpu"])

    found = reasons(fresh)

    assert list(found) == ["adapter_not_served", "adapter"]
    assert found["adapter_not_served"].text == (
        "nobody who serves it has adapter 'gpu'; it would be served without that, by 'w1' and 'w2'"
    )
    report(fresh, "w3")
    assert first(fresh).code == "waits_its_turn"


def test_workers_that_are_busy_say_how_many_of_their_slots_are_taken(waiting: World) -> None:
    report(waiting, "w1", slots=8, running=8)
    report(waiting, "w2", slots=4, running=4)
    report(waiting, "w3", slots=4, queues=["ocr"])

    reason = first(waiting)

    assert reason.code == "workers_busy"
    assert reason.text == (
        "the workers that serve it are busy, 12 of 12 slots: 'w1' and 'w2'; it is one of 1 ready in queue 'default'"
    )


def test_workers_that_are_shutting_down(waiting: World) -> None:
    report(waiting, "w1", slots=8, is_draining=True)

    reason = first(waiting)

    assert reason.code == "workers_draining"
    assert reason.text == "who serves it is shutting down: 'w1'; it is one of 1 ready in queue 'default'"
    report(waiting, "w2")
    assert first(waiting).code == "waits_its_turn"


def test_worker_with_a_free_slot_takes_it_when_its_turn_comes(waiting: World) -> None:
    report(waiting, "w1", slots=8, running=3)

    reason = first(waiting, after_s=90)

    assert reason.code == "waits_its_turn"
    assert reason.text == (
        "it waits for its turn, one of 1 ready in queue 'default'; it is served by 'w1', with 3 of 8 slots taken"
    )


def test_program_that_claims_and_does_not_report_counts_as_well(fresh: World) -> None:
    fresh.blocking.enqueue_many([{"kind": "scan", "job_id": job_id} for job_id in ("41", "42")])
    report(fresh, "w1", queues=["ocr"])
    run(fresh, "41", worker="a script")

    reason = first(fresh, after_s=10)

    assert (reason.code, "by 'a script'" in reason.text) == ("waits_its_turn", True)
    assert first(fresh, after_s=61).code == "queue_not_served"


def test_claim_of_a_worker_that_is_gone_does_not_count(fresh: World) -> None:
    fresh.blocking.enqueue_many([{"kind": "scan", "job_id": job_id} for job_id in ("41", "42")])
    report(fresh, "w1")
    run(fresh, "41", worker="w1")
    fresh.clock.pass_s(SEEN_S + 1)

    assert first(fresh).code == "queue_not_served"


def test_workers_of_another_tenant_serve_nobody_here(waiting: World) -> None:
    report(waiting, "w1")
    other = waiting.beside(tenant="other")
    other.enqueue("scan", job_id="42")

    assert other.explain("42", now=now(waiting)).reasons[0].code == "no_claim"


@pytest.mark.requirement("DSP-08")
def test_policy_is_asked_for_a_pool_by_the_service_on_its_bus(fresh: World) -> None:
    fresh.blocking.enqueue("scan", job_id="42", lifecycle="dispatch")
    report(fresh, "chat-1", host=BUS_HOST, pid=0)

    assert "; the service that is on the bus for its pool asks" in first(fresh).text


def test_job_without_a_verdict_says_who_asks_the_policy(fresh: World) -> None:
    fresh.blocking.enqueue("scan", job_id="42", lifecycle="dispatch", adapter_id="gpu")
    nobody = first(fresh)
    report(fresh, "w1", kinds=["mail"])
    report(fresh, "w2", kinds=["scan"], adapters=["tpu"])
    somebody = first(fresh)

    waits = "the policy has given no verdict on it yet; "
    assert nobody.code == somebody.code == "waits_for_a_verdict"
    assert nobody.text == f"{waits}a worker that serves queue 'default' and kind 'scan' would ask; is one running?"
    assert somebody.text == f"{waits}who serves it asks: 'w2', and says in its log if the policy is out of reach"


def test_only_slots_in_which_jobs_of_its_kind_run_are_of_use_to_a_job(waiting: World) -> None:
    full = Lane(isolation="thread", kinds=("scan",), slots=2, running=2)
    free = Lane(isolation="async", kinds=("mail",), slots=100)
    report(waiting, "w1", slots=102, running=2, lanes=[full, free])

    reason = first(waiting)

    assert reason.code == "workers_busy"
    assert "busy, 2 of 2 thread slots: 'w1'" in reason.text


def test_job_that_has_room_waits_its_turn_though_other_slots_are_full(waiting: World) -> None:
    full = Lane(isolation="thread", kinds=("mail",), slots=2, running=2)
    free = Lane(isolation="async", kinds=("scan",), slots=100, running=1)
    report(waiting, "w1", slots=102, running=3, lanes=[full, free])

    reason = first(waiting)

    assert reason.code == "waits_its_turn"
    assert reason.text.endswith("with 1 of 100 async slots taken")
