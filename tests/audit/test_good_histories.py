"""What the kernel writes is clean, whatever happens to the job; and a history checked in pieces is checked whole."""

from time import perf_counter

import pytest
from msgspec.structs import replace

from detent.audit import INVARIANTS, JobCheck, Violation, check_dwell, check_event, check_history, check_job, check_row
from detent.audit.events import CHECKS
from detent.kernel.fold import fold, fold_one
from detent.lifecycle.registry import Registry
from detent.lifecycles import BUILT_IN
from tests.audit.stories import GOOD
from tests.audit.telling import SECOND, Story
from tests.figures import Show

SLACK_US = SECOND
EVENT_US_MAX = 500  # far above what it takes; a machine under load must not fail the suite


@pytest.mark.requirement("ALL-03", "ALL-04", "ALL-08", "ALL-09", "ALL-15")
@pytest.mark.parametrize("name", GOOD)
def test_what_the_kernel_writes_breaks_no_invariant(name: str) -> None:
    story = GOOD[name]()

    assert check_job(story.lifecycle, story.job, story.events, story.notes) == []


@pytest.mark.parametrize("name", GOOD)
def test_a_job_looked_after_in_time_is_never_overdue(name: str) -> None:
    story = GOOD[name]()
    now = story.now + 10**6 * SECOND if story.job.is_ended else story.now

    found = check_dwell(story.lifecycle, story.events, story.job.spec.policy, slack_us=SLACK_US, now=now)

    assert found == []


@pytest.mark.requirement("ALL-10")
@pytest.mark.parametrize("name", [name for name, tell in GOOD.items() if tell().spawned])
def test_a_rerun_is_a_clean_job_of_its_own(name: str) -> None:
    story = GOOD[name]()
    reruns = [change.job for change in story.spawned]
    events = [event for change in story.spawned for event in change.events]

    report = check_history(Registry(story.lifecycle), [story.job, *reruns], [*story.events, *events])

    assert (report.jobs, report.events) == (2, len(story.events) + len(events))
    assert report.violations == ()


def test_the_good_histories_use_every_verb_and_reach_every_state_of_every_lifecycle() -> None:
    stories = [tell() for tell in GOOD.values()]
    reached = {(story.lifecycle.name, event.to_state) for story in stories for event in story.events}
    used = {(story.lifecycle.name, event.verb) for story in stories for event in story.events}

    assert {(name, state.name) for name, lifecycle in BUILT_IN.items() for state in lifecycle.states} - reached == set()
    assert {(name, move.verb) for name, lifecycle in BUILT_IN.items() for move in lifecycle.moves} - used == set()


@pytest.mark.parametrize("name", GOOD)
def test_checking_each_event_as_it_happens_gives_what_checking_the_whole_gives(name: str) -> None:
    story = spoiled(GOOD[name]())

    assert in_pieces(story) == by_job_check(story) == check_job(story.lifecycle, story.job, story.events)
    assert in_pieces(story) != []


def test_check_event_leaves_the_columns_it_was_given_alone() -> None:
    story = GOOD["success"]()
    columns = fold(story.events[:1])
    before = dict(columns)

    check_event(story.lifecycle, columns, story.events[1], story.job.spec.policy)

    assert columns == before


def test_every_invariant_of_a_history_is_listed_once() -> None:
    numbers = sorted(int(invariant.removeprefix("I")) for invariant in INVARIANTS)

    assert numbers == [*range(1, 20), 21, 22, 26, 29]
    assert set(CHECKS) < set(INVARIANTS)


@pytest.mark.alone
def test_an_event_is_checked_in_microseconds(show: Show) -> None:
    stories = [tell() for tell in GOOD.values()]
    pairs = [(story, fold(story.events[:n]), event) for story in stories for n, event in enumerate(story.events)]
    rounds = 20
    began = perf_counter()
    for _ in range(rounds):
        for story, columns, event in pairs:
            check_event(story.lifecycle, columns, event, story.job.spec.policy)
    event_us = (perf_counter() - began) * 1_000_000 / (rounds * len(pairs))
    show(f"check_event: {event_us:.1f} µs per event")

    assert event_us < EVENT_US_MAX


def spoiled(story: Story) -> Story:
    """A record one failure off and a last event by nobody who may, to have something to find."""
    story.events[-1] = replace(story.events[-1], role="nobody")
    story.job = replace(story.job, failures=story.job.failures + 1)
    return story


def in_pieces(story: Story) -> list[Violation]:
    columns, found, spec = fold(()), [], story.job.spec
    for event in story.events:
        found += check_event(story.lifecycle, columns, event, spec.policy, run_at=spec.run_at)
        fold_one(columns, event)
    return found + check_row(story.lifecycle, columns, story.job)


def by_job_check(story: Story) -> list[Violation]:
    check = JobCheck(story.lifecycle, story.job)
    found = [violation for event in story.events for violation in check.event(event)]
    return found + check.finish()
