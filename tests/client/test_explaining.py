"""`client.explain`: why a job that has not ended is where it is, for every reason there is."""

from datetime import timedelta

import pytest

from detent.client.sync import run as finish
from detent.lifecycle import Policy, from_toml
from tests.client.explained import ARTICLE, BUSY, explained, first, now, reasons, run
from tests.client.world import World


def test_job_of_a_queue_that_nobody_serves(fresh: World) -> None:
    due = now(fresh)
    fresh.blocking.enqueue("scan", job_id="42", queue="ocr")

    reason = first(fresh, after_s=90)

    assert reason.code == "no_claim"
    assert reason.text == "no worker has ever claimed from queue 'ocr'; is one running that serves it?"
    assert (reason.since, reason.until) == (due, None)


def test_job_of_a_queue_that_is_no_longer_served(fresh: World) -> None:
    fresh.blocking.enqueue("scan", job_id="41")
    run(fresh, "41", worker="w7")
    served = now(fresh)
    fresh.clock.pass_s(600)
    fresh.blocking.enqueue("scan", job_id="42")

    reason = first(fresh)

    assert (reason.code, reason.since) == ("no_claim", served)
    assert reason.text.endswith("since it became due; the last to claim was 'w7'")


def test_look_back_for_a_claim_says_how_far_it_went(fresh: World, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh.blocking.enqueue("scan", job_id="41")
    run(fresh, "41")
    fresh.clock.pass_s(60)
    fresh.blocking.enqueue_many([{"kind": "scan", "job_id": str(number)} for number in range(42, 52)])
    monkeypatch.setattr("detent.store.sqlite.log.LOOK_BACK_MAX", 5)

    reason = first(fresh)

    assert (reason.code, reason.since) == ("no_claim", now(fresh))
    assert "as far back as was looked" in reason.text


def test_job_of_a_kind_that_nobody_takes(fresh: World) -> None:
    due = now(fresh)
    fresh.blocking.enqueue("rare", job_id="42")
    fresh.blocking.enqueue("scan", job_id="43")
    fresh.clock.pass_s(1)
    (taken,) = fresh.blocking.claim(worker="w1", kinds=["scan"])

    reason = first(fresh)

    assert (taken.id, reason.code, reason.since) == ("43", "kind_not_served", due)
    assert "workers claim from queue 'default', 'w1' last, but no job of kind 'rare' since" in reason.text
    assert "do others go first, of 1 ready in queue 'default'?" in reason.text


def test_job_that_waits_for_its_turn(fresh: World) -> None:
    fresh.blocking.enqueue_many([{"kind": "scan", "job_id": job_id} for job_id in ("41", "42", "43")])
    run(fresh, "41")

    reason = first(fresh)

    assert reason.code == "waits_its_turn"
    assert reason.text == "it waits for its turn, one of 2 ready in queue 'default'; 'w1' claimed last"


def test_job_for_one_adapter_says_so(fresh: World) -> None:
    fresh.blocking.enqueue("scan", job_id="42", adapter_id="tesseract")

    assert reasons(fresh)["adapter"].text == "only a worker that asks for adapter 'tesseract' takes it"


def test_job_that_is_to_run_later(fresh: World) -> None:
    fresh.blocking.enqueue("scan", job_id="42", delay_s=3_600)

    reason = first(fresh, after_s=60)

    assert (reason.code, reason.text) == ("not_due", "it is to run later")
    assert (reason.since, reason.until) == (now(fresh), now(fresh) + timedelta(hours=1))


def test_job_that_waits_after_a_failure_names_it(fresh: World) -> None:
    fresh.blocking.enqueue("scan", job_id="42")
    run(fresh)
    job = fresh.blocking.fail("42", worker="w1", attempt=1, error=BUSY)

    reason = first(fresh)

    assert (reason.code, reason.until) == ("retry_later", job.claim_at)
    assert reason.text == "attempt 1 was lost (TransientError: scanner is busy); it waits before the next"


def test_job_that_may_be_claimed_again_still_names_what_went_wrong(fresh: World) -> None:
    fresh.blocking.enqueue("scan", job_id="42")
    run(fresh)
    fresh.blocking.fail("42", worker="w1", attempt=1, error=BUSY)

    found = reasons(fresh, after_s=60)

    assert list(found) == ["no_claim", "last_loss"]
    assert found["last_loss"].text == "attempt 1 was lost: TransientError: scanner is busy"


def test_job_that_the_policy_holds_names_the_rule(fresh: World) -> None:
    fresh.prepare("onhold")

    reason = first(fresh, "onhold", after_s=5)

    assert (reason.code, reason.since) == ("held_by_policy", now(fresh))
    assert reason.text == "rule 'r' holds it until somebody approves or denies it"
    assert {way.verb for way in explained(fresh, "onhold").ways} == {"approve", "deny", "cancel"}


def test_job_that_the_policy_throttles_names_the_rule(fresh: World) -> None:
    fresh.prepare("pending")
    fresh.blocking.schedule("pending", verdict="throttle", rule="slowly", delay_s=30)

    reason = first(fresh, "pending")

    assert (reason.code, reason.text) == ("throttled", "rule 'slowly' throttles it")
    assert reason.until == now(fresh) + timedelta(seconds=30)


def test_draft_waits_for_a_signal(fresh: World) -> None:
    fresh.prepare("draft", "pending")

    assert first(fresh, "draft").text == "it waits until somebody asks for submit"
    assert first(fresh, "pending").text == "it waits until somebody asks for schedule"
    assert first(fresh, "draft").code == "waits_for_a_signal"


def test_signal_is_what_somebody_asks_for_and_not_what_time_does(fresh: World) -> None:
    finish(fresh.client.store.register(from_toml(ARTICLE.read_text(encoding="utf-8"))))
    fresh.blocking.enqueue("post", job_id="42", lifecycle="article")
    run(fresh)
    fresh.blocking.submit("42", worker="w1", attempt=1)

    found = reasons(fresh)

    assert found["waits_for_a_signal"].text == "it waits until somebody asks for approve or deny or requeue"
    assert found["time_limit"].text == "its time in 'in_review' is limited"
    assert found["time_limit"].until == now(fresh) + timedelta(weeks=1)


def test_document_goes_back_into_its_queue_by_itself(fresh: World) -> None:
    fresh.blocking.enqueue("scan", job_id="42", lifecycle="document", submit=True)
    run(fresh)
    fresh.blocking.fail("42", worker="w1", attempt=1, error=BUSY)

    reason = first(fresh)

    assert (reason.code, reason.until) == ("waits_to_be_requeued", now(fresh) + timedelta(seconds=1))
    assert reason.text == "attempt 1 was lost (TransientError: scanner is busy); it goes back into its queue by itself"


def test_contract_with_a_used_up_budget_waits_for_a_person(fresh: World) -> None:
    policy = Policy(retry=fresh.blocking.lifecycle("contract").defaults.retry.never())
    job = fresh.blocking.enqueue("scan", job_id="42", lifecycle="contract", policy=policy)
    run(fresh)
    fresh.clock.pass_s(120)
    fresh.blocking.reconcile()

    reason = first(fresh)

    assert (fresh.blocking.get("42").state, job.state, reason.code) == ("stalled", "queued", "budget_used_up")
    assert reason.text == (
        "its attempts are used up (0 failures and 1 crash, of at most 1), and it waits for a person to requeue it"
    )


def test_stalled_job_may_be_reclaimed_where_the_policy_allows_it(fresh: World) -> None:
    fresh.blocking.enqueue("scan", job_id="42", lifecycle="contract", policy=Policy(reclaim=True))
    run(fresh)
    fresh.blocking.stall("42", role="scheduler", expected_rev=fresh.blocking.get("42").rev)

    assert "reclaimable" in reasons(fresh, after_s=5)
