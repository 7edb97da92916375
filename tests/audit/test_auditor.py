"""A whole store, walked job by job: counts, orphans both ways, a bound on what is kept, unknown lifecycles."""

from collections.abc import Iterable

import pytest
from msgspec.structs import replace

from detent.audit import Auditor, Call, check_history, paired
from detent.errors import InvalidArgument
from detent.kernel import Event, Job
from detent.kernel.command import Renew
from detent.lifecycle.registry import Registry
from detent.lifecycles import BUILT_IN, STANDARD
from tests.audit.stories import GOOD, running, success
from tests.audit.telling import SECOND, Story, edited, ids

KNOWN = {(lifecycle.name, lifecycle.version): lifecycle for lifecycle in BUILT_IN.values()}


def store() -> list[Story]:
    """Every good history, each under an id of its own."""
    return [renamed(tell(), f"job-{number:03}") for number, tell in enumerate(GOOD.values())]


def renamed(story: Story, job_id: str) -> Story:
    story.job = replace(story.job, spec=replace(story.job.spec, id=job_id))
    story.events = [replace(event, job_id=job_id) for event in story.events]
    story.notes = [replace(note, job_id=job_id) for note in story.notes]
    return story


def jobs_of(stories: Iterable[Story]) -> list[Job]:
    return [story.job for story in stories]


def events_of(stories: Iterable[Story]) -> list[Event]:
    return [event for story in stories for event in story.events]


def test_a_store_walked_job_by_job_is_clean_and_counted() -> None:
    stories = store()
    auditor = Auditor(Registry(*BUILT_IN.values()))
    for story in stories:
        auditor.job(story.job, iter(story.events), iter(story.notes))

    report = auditor.finish(jobs=len(stories), events=len(events_of(stories)))

    assert (report.jobs, report.events, report.violations) == (len(stories), len(events_of(stories)), ())


def test_walking_job_by_job_finds_what_looking_at_the_whole_finds() -> None:
    stories = store()
    edited(stories[0], "renew", type="odd")
    stories[3].job = replace(stories[3].job, failures=9)
    long = next(story for story in stories[4:] if len(story.events) > 4)
    del long.events[2]
    whole = check_history(KNOWN, jobs_of(stories), events_of(stories), None, [n for s in stories for n in s.notes])
    auditor = Auditor(KNOWN)
    for story in stories:
        auditor.job(story.job, story.events, story.notes)

    assert auditor.finish() == whole
    assert whole.counts == {"I2": 1, "I3": 1, "I1": 1}


@pytest.mark.parametrize(("jobs", "events"), [(2, None), (None, 7), (2, 7)])
def test_a_store_that_counts_otherwise_than_it_shows_is_reported(jobs: int | None, events: int | None) -> None:
    auditor = Auditor(KNOWN)
    story = success()
    auditor.job(story.job, story.events)

    assert ids(auditor.finish(jobs=jobs, events=events).violations) == {"I3"}


def test_events_and_notes_without_a_record_are_orphans() -> None:
    story, gone = success(), renamed(success(), "j2")

    report = check_history(KNOWN, [story.job], [*story.events, *gone.events], None, [*story.notes, *gone.notes])

    assert report.counts == {"I3": len(gone.events) + len(gone.notes)}
    assert {violation.job_id for violation in report.violations} == {"j2"}


def test_a_record_without_events_is_an_orphan() -> None:
    story, bare = success(), renamed(success(), "j2")

    report = check_history(KNOWN, jobs_of([story, bare]), story.events)

    assert [(violation.invariant, violation.job_id) for violation in report.violations] == [("I3", "j2")]


@pytest.mark.requirement("ALL-18")
def test_the_same_id_in_another_tenant_is_another_job() -> None:
    mine, theirs = success(), success()
    theirs.events = [replace(event, tenant="other") for event in theirs.events]

    report = check_history(KNOWN, [mine.job], [*mine.events, *theirs.events])

    assert report.counts == {"I3": len(theirs.events)}


@pytest.mark.requirement("ALL-14")
def test_a_job_of_a_lifecycle_that_is_not_known_is_reported() -> None:
    story = success()
    spec = replace(story.job.spec, lifecycle_version=2)

    for known in (KNOWN, Registry(STANDARD)):
        report = check_history(known, [replace(story.job, spec=spec)], story.events)
        assert report.counts == {"I2": 1}
        assert report.events == len(story.events)


def test_only_so_many_violations_are_kept_but_all_are_counted() -> None:
    story = running()
    for _ in range(20):
        story.own(Renew)
    story.events = [replace(event, type="odd") for event in story.events]
    auditor = Auditor(KNOWN, violations_max=5)
    auditor.job(story.job, story.events)

    report = auditor.finish()

    assert (len(report.violations), report.counts) == (5, {"I2": 23})
    assert not report.is_clean


def test_lateness_is_judged_when_a_slack_is_given() -> None:
    story = running()
    now = story.now + 100 * SECOND

    assert check_history(KNOWN, [story.job], story.events, now=now).is_clean
    assert check_history(KNOWN, [story.job], story.events, slack_us=SECOND, now=now).counts == {"I17": 1}


def test_a_request_with_two_effects_is_found_without_recorded_calls() -> None:
    story = edited(running().own(Renew, request_id="r1").own(Renew), "renew", 2, request_id="r1")

    assert check_history(KNOWN, [story.job], story.events).counts == {"I12": 1}


def test_calls_need_an_auditor_that_keeps_something_to_hold_them_against() -> None:
    with pytest.raises(InvalidArgument, match="traced=True"):
        Auditor(KNOWN).call(Call(verb="get", outcome="ok", began=0))


def test_with_calls_recorded_even_none_every_job_must_have_been_asked_for() -> None:
    story = success()

    assert check_history(KNOWN, [story.job], story.events, [], story.notes).counts == {"I11": 1}


def test_records_and_logs_read_side_by_side_are_brought_together() -> None:
    stories = [renamed(success(), name) for name in ("a", "b", "c", "d", "e")]
    a, b, c, d, e = stories
    pairs = paired(jobs_of([b, c, d]), events_of([a, b, d, e]))

    seen = [(job.id if job else None, [event.job_id for event in events]) for job, events in pairs]

    assert seen == [
        (None, ["a"] * len(a.events)),
        ("b", ["b"] * len(b.events)),
        ("c", []),
        ("d", ["d"] * len(d.events)),
        (None, ["e"] * len(e.events)),
    ]


def test_a_paired_walk_finds_orphans_both_ways() -> None:
    a, b, c = (renamed(success(), name) for name in ("a", "b", "c"))
    auditor = Auditor(KNOWN)
    for job, events in paired(jobs_of([a, b]), events_of([b, c])):
        auditor.job(job, events)

    report = auditor.finish()

    assert report.counts == {"I3": 1 + len(c.events)}
    assert {violation.job_id for violation in report.violations} == {"a", "c"}
