"""The worked example of a user's own lifecycle: what its page says is true, and the kernel decides by it."""

import re
from pathlib import Path
from typing import Any

import pytest

from detent.errors import LifecycleError, Refused
from detent.kernel import Change, Error, Job, decide
from detent.kernel.command import Approve, Cancel, Claim, Command, Complete, Deny, Enqueue, Fail, Requeue, Submit
from detent.kernel.due import due_command
from detent.lifecycle import Lifecycle, from_toml

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "how-to" / "declare-a-lifecycle.md").read_text(encoding="utf-8")
TOML = (DOCS / "examples" / "article.toml").read_text(encoding="utf-8")
ARTICLE = from_toml(TOML)

SECOND = 1_000_000
WEEK = 7 * 24 * 3600 * SECOND
NOON = 1_700_000_000 * SECOND


def blocks(language: str) -> list[str]:
    found = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return [text for tongue, text in found if tongue == language]


def in_python() -> Lifecycle:
    names: dict[str, Any] = {}
    exec(blocks("python")[0], names)
    declared = names["ARTICLE"]
    assert isinstance(declared, Lifecycle)
    return declared


def after(job: Job | None, command: Command, now: int = NOON) -> Change:
    change = decide(ARTICLE, job, command, now)
    assert isinstance(change, Change), change
    return change


def by_owner(job: Job) -> dict[str, Any]:
    return {"worker": job.owner, "attempt": job.attempt}


def drafting() -> Job:
    job = after(None, Enqueue(job_id="a1", kind="article")).job
    return after(job, Claim(worker="writer")).job


def in_review() -> Job:
    job = drafting()
    return after(job, Submit(checkpoint=b'"a draft"', **by_owner(job))).job


def publishing() -> Job:
    return after(after(in_review(), Approve(actor="eve")).job, Claim(worker="press")).job


def test_page_and_file_declare_the_same_lifecycle_in_both_notations() -> None:
    assert blocks("toml") == [TOML]
    assert in_python().digest == ARTICLE.digest
    assert in_python() == ARTICLE


def test_messages_on_the_page_are_the_messages_one_gets() -> None:
    without_expiry = "".join(
        line.replace("drafting, publishing", "drafting") if '"expire"' in line else line
        for line in TOML.splitlines(keepends=True)
        if 'from = "publishing", verb = "expire"' not in line
    )
    with_a_slip = TOML.replace('"claim"', '"clam"', 1)

    quoted = [block for block in blocks("") if block.startswith("lifecycle 'article'")]
    assert quoted == [_refusal(without_expiry), _refusal(with_a_slip)]


def _refusal(text: str) -> str:
    with pytest.raises(LifecycleError) as refused:
        from_toml(text)
    return f"{refused.value}\n"


def test_worker_submits_its_draft_and_gives_up_the_lease() -> None:
    job = in_review()

    assert (job.state, job.phase, job.owner, job.attempt) == ("in_review", "parked", None, 1)
    assert job.checkpoint == b'"a draft"'
    assert (job.failures, job.crashes, job.interruptions) == (0, 0, 0)


def test_only_the_owner_submits() -> None:
    job = drafting()

    refused = decide(ARTICLE, job, Submit(worker="other", attempt=1), NOON)
    assert isinstance(refused, Refused)
    assert refused.code == "not_owner"


def test_approved_draft_is_claimed_again_and_published() -> None:
    job = publishing()
    assert (job.state, job.attempt, job.checkpoint) == ("publishing", 2, b'"a draft"')

    change = after(job, Complete(result=b'{"url": "/a1"}', **by_owner(job)))
    assert (change.job.state, change.job.result) == ("published", b'{"url": "/a1"}')
    assert [event.type for event in change.events] == ["job_published"]


def test_whole_way_writes_one_event_per_move() -> None:
    changes = [after(None, Enqueue(job_id="a1", kind="article"))]
    for command in (
        Claim(worker="writer"),
        Submit(worker="writer", attempt=1, checkpoint=b"1"),
        Approve(actor="eve"),
        Claim(worker="press"),
        Complete(worker="press", attempt=2),
    ):
        changes.append(after(changes[-1].job, command))

    events = [event for change in changes for event in change.events]
    assert [event.rev for event in events] == [1, 2, 3, 4, 5, 6]
    assert [event.type for event in events] == [
        "job_queued", "job_claimed", "draft_submitted", "draft_approved", "job_claimed", "job_published",
    ]  # fmt: skip


def test_denied_draft_is_rejected_with_the_reason() -> None:
    job = after(in_review(), Deny(actor="eve", reason="too long")).job

    assert (job.state, job.ended_at) == ("rejected", NOON)
    assert job.error is not None
    assert job.error.message == "too long"


def test_reviewer_sends_a_draft_back_with_what_was_written() -> None:
    change = after(in_review(), Requeue(actor="eve", reason="add sources"))
    again = after(change.job, Claim(worker="writer")).job

    assert [event.type for event in change.events] == ["draft_sent_back"]
    assert (again.state, again.attempt, again.checkpoint) == ("drafting", 2, b'"a draft"')


@pytest.mark.requirement("ALL-12")
def test_draft_nobody_reviews_is_rejected_after_a_week() -> None:
    job = in_review()
    assert due_command(ARTICLE, job, NOON + WEEK - 1) is None

    command = due_command(ARTICLE, job, NOON + WEEK)
    assert command is not None
    rejected = after(job, command, NOON + WEEK).job
    assert (rejected.state, rejected.error and rejected.error.reason_code) == ("rejected", "timeout")


def test_worker_cannot_approve_its_own_draft() -> None:
    refused = decide(ARTICLE, in_review(), Approve(worker="writer"), NOON)

    assert isinstance(refused, Refused)
    assert refused.code == "wrong_actor"
    assert refused.allowed == ("approve", "deny", "time_out", "requeue", "cancel")


@pytest.mark.parametrize(("job", "back_to"), [(drafting, "queued"), (publishing, "approved")])
def test_lost_work_goes_back_to_where_it_was_claimed(job: Any, back_to: str) -> None:
    lost = job()
    later = lost.wake_at
    command = due_command(ARTICLE, lost, later)
    assert command is not None

    assert after(lost, command, later).job.state == back_to


@pytest.mark.requirement("ALL-16")
def test_attempts_that_are_used_up_end_in_failed() -> None:
    job = drafting()
    for _ in range(2):
        job = after(job, Fail(error=Error("TransientError"), **by_owner(job)), job.updated_at).job
        job = after(job, Claim(worker="writer"), job.claim_at or 0).job

    ended = after(job, Fail(error=Error("TransientError"), **by_owner(job)), job.updated_at).job
    assert (ended.state, ended.failures) == ("failed", 3)


@pytest.mark.parametrize("job", [in_review, drafting, publishing])
def test_article_can_be_withdrawn_at_any_time(job: Any) -> None:
    assert after(job(), Cancel(actor="client", mode="hard")).job.state == "withdrawn"
