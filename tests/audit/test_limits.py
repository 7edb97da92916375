"""Limits per key (I19): what only several jobs together can show."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import pytest

from detent.audit import Auditor, check_history
from detent.kernel.command import Claim, Release, Renew
from detent.lifecycle import Limit, Policy
from detent.lifecycles import STANDARD
from tests.audit.telling import Story

KNOWN: Final = {("standard", 1): STANDARD}
ONE: Final = Policy(limit=Limit(concurrency_max=1))
TWO: Final = Policy(limit=Limit(concurrency_max=2))
TWO_A_MINUTE: Final = Policy(limit=Limit(rate_max=2, per_s=60))


def job(name: str, policy: Policy = ONE, **fields: Any) -> Story:
    return Story(STANDARD, name, policy=policy, **fields)


def found(stories: Sequence[Story]) -> list[tuple[str, str, int | None]]:
    report = check_history(
        KNOWN, [story.job for story in stories], [event for story in stories for event in story.events]
    )
    return [(each.invariant, each.job_id, each.rev) for each in report.violations]


def overlapping() -> list[Story]:
    return [job("j1").claim().start().complete(), job("j2").claim(after_s=2).start()]


def overlapping_while_nothing_ends() -> list[Story]:
    return [job("j1").claim(), job("j2").claim(after_s=2)]


def beside_a_job_that_allows_none() -> list[Story]:
    return [job("j1").claim(), job("j2", TWO, limit_key="k").claim(after_s=2)]


def third_of_two() -> list[Story]:
    return [job("j1", TWO).claim(), job("j3", TWO).claim(after_s=1.5), job("j2", TWO).claim(after_s=3)]


def claimed_again_before_the_other_ends() -> list[Story]:
    first = job("j2").claim().own(Release).claim(after_s=3)
    return [first, job("j1").claim(after_s=3).start()]


def hurried() -> list[Story]:
    return [
        job("j1", TWO_A_MINUTE).claim(),
        job("j3", TWO_A_MINUTE).claim(after_s=20),
        job("j2", TWO_A_MINUTE).claim(after_s=60.999_999),
    ]


BAD: Final = (
    overlapping, overlapping_while_nothing_ends, beside_a_job_that_allows_none, third_of_two,
    claimed_again_before_the_other_ends, hurried,
)  # fmt: skip


@pytest.mark.parametrize("tell", BAD, ids=lambda tell: tell.__name__)
def test_claim_beyond_the_limit_of_a_key_is_reported(tell: Callable[[], list[Story]]) -> None:
    stories = tell()
    late = next(story for story in stories if story.job.id == "j2")
    claim = [event for event in late.events if event.verb == "claim"][-1]

    assert found(stories) == [("I19", "j2", claim.rev)]


def one_after_the_other() -> list[Story]:
    """At the very moment at which the one before lets go."""
    return [job("j1").claim().own(Release), job("j2").claim(after_s=2).start().complete(), job("j3").claim(after_s=4)]


def within_a_moment() -> list[Story]:
    return [job("j1").claim().own(Release, after_s=0), job("j2").claim(after_s=1)]


def of_other_keys() -> list[Story]:
    return [job("j1", limit_key="a").claim(), job("j2", limit_key="b").claim(), Story(STANDARD, "j3").claim()]


def at_the_pace_allowed() -> list[Story]:
    return [job(f"j{n}", TWO_A_MINUTE).claim(after_s=1 + 30 * n) for n in range(6)]


def all_at_once_and_then_none_for_a_while() -> list[Story]:
    return [job(f"j{n}", TWO_A_MINUTE).claim(after_s=1 + 60 * (n // 2)) for n in range(6)]


GOOD: Final = (
    one_after_the_other, within_a_moment, of_other_keys, at_the_pace_allowed, all_at_once_and_then_none_for_a_while,
)  # fmt: skip


@pytest.mark.parametrize("tell", GOOD, ids=lambda tell: tell.__name__)
def test_claims_within_the_limit_are_not(tell: Callable[[], list[Story]]) -> None:
    assert found(tell()) == []


def test_job_that_lets_go_while_others_are_looked_at_is_no_fault() -> None:
    """As in a walk over a store that others write to: the first is read while it is held, the second later."""
    first, second = job("j1").claim(), job("j2").claim(after_s=10)
    auditor = Auditor(KNOWN)
    auditor.job(first.job, first.events)
    auditor.job(second.job, second.events)
    first.own(Release, after_s=3).do(Claim(worker="w1"), after_s=60)
    for each in (first, second):
        auditor.again(each.job, each.events)

    assert auditor.unfinished() == [("default", "j1"), ("default", "j2")]
    assert auditor.finish().is_clean


def test_job_that_is_looked_at_again_and_still_held_is_a_fault() -> None:
    first, second = job("j1").claim(), job("j2").claim(after_s=10)
    auditor = Auditor(KNOWN)
    for each in (first, second):
        auditor.job(each.job, each.events)
    first.own(Renew, after_s=15)
    for each in (first, second):
        auditor.again(each.job, each.events)
    (violation,) = auditor.finish().violations

    assert (violation.invariant, violation.job_id, violation.tenant) == ("I19", "j2", "default")
    assert "number 2 of those leased" in violation.message


def test_job_that_was_removed_meanwhile_is_held_against_nobody() -> None:
    first, second = job("j1").claim(), job("j2").claim(after_s=10)
    auditor = Auditor(KNOWN)
    for each in (first, second):
        auditor.job(each.job, each.events)
    auditor.gone(("default", "j1"))

    assert auditor.finish().is_clean
