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
    fresh.clock.pass_s(600)
    due = now(fresh)
    fresh.blocking.enqueue("scan", job_id="42")

    reason = first(fresh, after_s=30)

    assert (reason.code, reason.since) == ("no_claim", due)
    assert reason.text == (
        "nobody has claimed from queue 'default' for 10 min; 'w7' was the last, at 16:00:00 UTC; is it running?"
    )


def test_queue_that_was_served_once_does_not_count_as_served_for_ever(fresh: World) -> None:
    fresh.blocking.enqueue_many([{"kind": "scan", "job_id": job_id} for job_id in ("41", "42")])
    fresh.clock.pass_s(1)
    run(fresh, "41", worker="wc")

    assert first(fresh, after_s=60).code == "waits_its_turn"
    assert first(fresh, after_s=61).code == "no_claim"
    assert first(fresh, after_s=1_020).text.startswith("nobody has claimed from queue 'default' for 17 min; 'wc' was")
    assert "'wc' was the last, at 2025-02-01 16:00:01 UTC;" in first(fresh, after_s=10**6).text


def test_job_that_became_due_a_moment_ago_waits_for_its_turn_however_long_the_queue_was_empty(fresh: World) -> None:
    fresh.blocking.enqueue("scan", job_id="41")
    run(fresh, "41")
    fresh.clock.pass_s(43)
    fresh.blocking.enqueue("scan", job_id="42")

    reason = first(fresh)

    assert (reason.code, reason.since) == ("waits_its_turn", now(fresh))
    assert reason.text.endswith("; the last claim was 43 s ago, by 'w1'")
    assert first(fresh, after_s=4.9).code == "waits_its_turn"
    assert first(fresh, after_s=5).code == "no_claim"


def test_look_back_for_a_claim_says_how_far_it_went(fresh: World, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh.blocking.enqueue("scan", job_id="41")
    run(fresh, "41")
    fresh.clock.pass_s(60)
    fresh.blocking.enqueue_many([{"kind": "scan", "job_id": str(number)} for number in range(42, 52)])
    for store in ("sqlite", "postgres"):
        monkeypatch.setattr(f"detent.store.{store}.log.LOOK_BACK_MAX", 5)

    reason = first(fresh)

    assert (reason.code, reason.since) == ("no_claim", now(fresh))
    assert "since 16:01:00 UTC, which is as far back as was looked; is one running" in reason.text


def test_job_of_a_kind_that_nobody_takes(fresh: World) -> None:
    due = now(fresh)
    fresh.blocking.enqueue("rare", job_id="42")
    fresh.blocking.enqueue("scan", job_id="43")
    fresh.clock.pass_s(1)
    (taken,) = fresh.blocking.claim(worker="w1", kinds=["scan"])

    reason = first(fresh, after_s=10)

    assert (taken.id, reason.code, reason.since) == ("43", "kind_not_served", due)
    assert "workers claim jobs from queue 'default', 'w1' last, but none of kind 'rare'; does one serve" in reason.text
    assert "do others go first, of 1 ready in queue 'default'?" in reason.text


def test_kind_that_was_served_once_does_not_count_as_served_for_ever(fresh: World) -> None:
    fresh.blocking.enqueue_many([{"kind": "rare", "job_id": job_id} for job_id in ("41", "42")])
    run(fresh, "41")
    fresh.clock.pass_s(120)
    fresh.blocking.enqueue("scan", job_id="43")
    fresh.blocking.claim(worker="w2", kinds=["scan"])

    reason = first(fresh)

    assert reason.code == "kind_not_served"
    assert "'w2' last, but none of kind 'rare' for 2 min; does one serve this kind" in reason.text


def test_job_that_waits_for_its_turn(fresh: World) -> None:
    fresh.blocking.enqueue_many([{"kind": "scan", "job_id": job_id} for job_id in ("41", "42", "43")])
    run(fresh, "41")

    reason = first(fresh, after_s=7)

    assert reason.code == "waits_its_turn"
    assert reason.text == (
        "it waits for its turn, one of 2 ready in queue 'default'; the last claim was 7.0 s ago, by 'w1'"
    )


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


def test_long_error_is_cut_and_its_length_told(fresh: World) -> None:
    fresh.blocking.enqueue("scan", job_id="42")
    run(fresh)
    fresh.blocking.fail("42", worker="w1", attempt=1, error={"type": "TransientError", "message": "x" * 2_000})

    text = first(fresh).text

    assert 200 < text.count("x") <= 300
    assert "x… (2,016 characters; the job's record has all)); it waits before the next" in text


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


def test_throttled_job_that_is_due_still_names_the_rule(fresh: World) -> None:
    fresh.prepare("pending")
    fresh.blocking.schedule("pending", verdict="throttle", rule="slowly", delay_s=30)

    found = reasons(fresh, "pending", after_s=60)

    assert list(found) == ["no_claim", "was_throttled"]
    assert found["was_throttled"].text == "rule 'slowly' had throttled it until it became due"


def test_held_job_that_was_approved_still_names_the_rule_and_who_let_it_go(fresh: World) -> None:
    fresh.prepare("onhold")
    fresh.blocking.approve("onhold", role="operator", actor="ann", reason="checked")

    assert reasons(fresh, "onhold")["was_held"].text == "rule 'r' had held it; ann approved it (checked)"


def test_draft_waits_for_a_signal(fresh: World) -> None:
    fresh.prepare("draft")

    assert first(fresh, "draft").text == "it waits until somebody asks for submit"
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


def test_document_is_put_back_into_its_queue_by_the_reconciler(fresh: World) -> None:
    fresh.blocking.enqueue("scan", job_id="42", lifecycle="document", submit=True)
    run(fresh)
    fresh.blocking.fail("42", worker="w1", attempt=1, error=BUSY)

    reason = first(fresh)

    assert (reason.code, reason.until) == ("waits_to_be_requeued", now(fresh) + timedelta(seconds=1))
    assert reason.text == (
        "attempt 1 with 'w1' was lost (TransientError: scanner is busy); the reconciler puts it back into its queue"
    )


def test_contract_with_a_used_up_budget_waits_for_a_person(fresh: World) -> None:
    policy = Policy(retry=fresh.blocking.lifecycle("contract").defaults.retry.never())
    job = fresh.blocking.enqueue("scan", job_id="42", lifecycle="contract", policy=policy)
    run(fresh)
    fresh.clock.pass_s(120)
    fresh.blocking.reconcile()

    reason = first(fresh)

    assert (fresh.blocking.get("42").state, job.state, reason.code) == ("stalled", "queued", "budget_used_up")
    assert reason.text == (
        "attempt 1 with 'w1' was set aside by reconciler (LeaseExpired: worker w1 stopped renewing attempt 1); "
        "its attempts are used up (0 failures and 1 crash, of at most 1), and it waits for a person to requeue it"
    )


def test_stalled_contract_says_who_had_it_and_why_it_stalled(fresh: World) -> None:
    fresh.blocking.enqueue("scan", job_id="42", lifecycle="contract")
    (job,) = fresh.blocking.claim(worker="w1")
    fresh.blocking.stall("42", worker="w1", expected_rev=job.rev, reason="disk full")

    reason = first(fresh)

    assert reason.code == "waits_to_be_requeued"
    assert reason.text.startswith("attempt 1 with 'w1' was set aside by w1 (disk full); the reconciler puts it back")


def test_stalled_job_may_be_reclaimed_where_the_policy_allows_it(fresh: World) -> None:
    fresh.blocking.enqueue("scan", job_id="42", lifecycle="contract", policy=Policy(reclaim=True))
    run(fresh)
    fresh.blocking.stall("42", role="scheduler", expected_rev=fresh.blocking.get("42").rev)

    assert "reclaimable" in reasons(fresh, after_s=5)
