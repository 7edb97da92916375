"""Whatever is asked, in whatever order, of a job on whatever sound lifecycle: the structural rules hold."""

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from detent.audit import check_job
from detent.errors import Refused
from detent.kernel import Change, Event, Job, decide, holds
from detent.kernel.command import Command, Enqueue, Rerun
from detent.kernel.due import due_command
from detent.kernel.fold import differences, fold
from detent.lifecycle import Lifecycle
from detent.lifecycle.words import LEASED
from tests.chance import examples
from tests.strategies import coin, random_command, random_lifecycle, random_policy

STEPS = 40
WAITS_S = (0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 9, 10, 20, 31)
MOMENTS = (
    "lease_expires_at", "heartbeat_by", "last_lease_expires_at", "due_at", "claim_at", "wake_at", "order_at",
    "deadline_at", "cancel_by", "created_at", "updated_at", "claimed_at", "started_at", "ended_at",
)  # fmt: skip


class Story:
    """One job, everything asked of it, and every answer."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.lifecycle = random_lifecycle(rng)
        self.now = 1_000_000_000
        enqueue = Enqueue(job_id="j", kind="k", policy=random_policy(rng), submit=coin(rng))
        created = decide(self.lifecycle, None, enqueue, self.now)
        assert isinstance(created, Change)
        self.job = created.job
        self.events: list[Event] = list(created.events)

    def tell(self) -> None:
        for _ in range(STEPS):
            self.now += self.rng.choice(WAITS_S) * 1_000_000
            command = self._next()
            random = self.rng.random()
            answer = decide(self.lifecycle, self.job, command, self.now, random)
            self.check(command, answer)
            if isinstance(answer, Change):
                self.events += answer.events
                self.job = answer.job

    def _next(self) -> Command:
        due = due_command(self.lifecycle, self.job, self.now)
        if due is not None and self.rng.random() < 0.3:
            return due
        return random_command(self.rng, self.lifecycle, self.job)

    def check(self, command: Command, answer: Change | Refused) -> None:
        if isinstance(answer, Refused):
            assert answer.state == self.job.state
            assert answer.allowed == self.lifecycle.table.allowed[self.job.state]
            return
        assert holds(answer, self.job, self.now) or not answer.events
        check_step(self.lifecycle, self.job, answer)


def check_step(lifecycle: Lifecycle, before: Job, change: Change) -> None:
    """The rules, stated here a second time and without the kernel's help."""
    after, moved = change.job, len(change.events)
    assert after.rev == before.rev + moved, "ALL-04: one revision per mutation"
    assert [event.rev for event in change.events] == list(range(before.rev + 1, after.rev + 1)), "ALL-03"
    if before.phase == "ended":
        assert not moved, "ALL-10: ended is final"
    claims = sum(event.verb == "claim" for event in change.events)
    assert after.attempt == before.attempt + claims, "ALL-08: attempts count claims"
    assert (after.owner is not None) == (after.lease_expires_at is not None) == (after.phase in LEASED), "ALL-01, 09"
    outcome = lifecycle.by_name[after.state].outcome
    assert (after.result is not None, after.error is not None) == (outcome == "success", outcome == "failure"), "ALL-09"
    assert after.phase == lifecycle.by_name[after.state].phase
    if before.cancel_by is not None:
        assert after.phase in LEASED or after.phase == "ended", "ALL-17: after a cancel request never back to waiting"
    retry = before.spec.policy.retry
    bound = max(retry.max_attempts, *(other.max_attempts for other in (retry, *retry.by_error.values())))
    assert after.failures + after.crashes <= max(bound, before.failures + before.crashes), "ALL-16"


@pytest.mark.requirement("ALL-01", "ALL-02", "ALL-03", "ALL-04", "ALL-08", "ALL-09", "ALL-10", "ALL-16", "ALL-17")
@settings(max_examples=examples(600))
@given(st.randoms(use_true_random=True))
def test_structural_rules_hold_on_any_lifecycle_whatever_is_asked(rng: Random) -> None:
    story = Story(rng)

    story.tell()

    assert check_job(story.lifecycle, story.job, story.events) == []


@pytest.mark.requirement("ALL-15")
@settings(max_examples=examples(600))
@given(st.randoms(use_true_random=True))
def test_log_folds_to_the_record_on_any_lifecycle(rng: Random) -> None:
    story = Story(rng)

    story.tell()

    assert differences(fold(story.events), story.job) == {}


@pytest.mark.requirement("ALL-10")
@settings(max_examples=examples(600))
@given(st.randoms(use_true_random=True))
def test_only_an_ended_job_is_rerun_and_the_new_one_keeps_its_policy(rng: Random) -> None:
    story = Story(rng)
    story.tell()

    answer = decide(story.lifecycle, story.job, Rerun(new_job_id="j2"), story.now)

    if story.job.is_ended:
        assert isinstance(answer, Change)
        assert answer.job.spec == replace(story.job.spec, id="j2", parent_job_id="j", run_at=None)
    else:
        assert isinstance(answer, Refused)
        assert answer.code == "illegal_move"


def shifted(job: Job, by: int) -> Job:
    moved = {name: getattr(job, name) + by for name in MOMENTS if getattr(job, name) is not None}
    return replace(job, **moved)


def shifted_changes(event: Event, by: int) -> dict[str, Any]:
    return {
        name: value + by if name in MOMENTS and value is not None else value for name, value in event.changes.items()
    }


@settings(max_examples=examples(600))
@given(st.randoms(use_true_random=True))
def test_only_differences_of_time_matter(rng: Random) -> None:
    """The exploration counts worlds that differ by a shift of the clock as one; this is what makes that right."""
    story, by = Story(rng), 7_777_777_000_000
    story.tell()
    command = random_command(rng, story.lifecycle, story.job)

    here = decide(story.lifecycle, story.job, command, story.now)
    there = decide(story.lifecycle, shifted(story.job, by), command, story.now + by)

    if isinstance(here, Refused):
        assert isinstance(there, Refused)
        assert (here.code, here.allowed) == (there.code, there.allowed)
    else:
        assert isinstance(there, Change)
        assert [shifted_changes(event, by) for event in here.events] == [event.changes for event in there.events]
        assert [(e.verb, e.to_state, e.role) for e in here.events] == [
            (e.verb, e.to_state, e.role) for e in there.events
        ]
