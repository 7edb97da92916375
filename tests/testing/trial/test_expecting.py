"""What a test says of jobs that were made and of the way they went, and what it hears if that is not so."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from unittest.mock import ANY

import pytest

from detent import InvalidArgument, Retry
from detent.app import JobFunction
from detent.testing import Trial

Extract = JobFunction[..., ..., Any, Any]


@dataclass
class Scan:
    path: str
    pages: int = 1


@pytest.fixture
def extract(jobs: Trial) -> Extract:
    @jobs.app.job(queue="ocr", retry=Retry(max_attempts=2, base_s=1))
    def extract(scan: Scan, language: str = "en") -> int:
        return scan.pages

    return extract


def test_job_that_was_made_is_found_by_its_arguments_and_options(jobs: Trial, extract: Extract) -> None:
    extract.enqueue(Scan("a.pdf"))
    made = extract.enqueue(Scan("b.pdf"), language="de", priority="critical", delay_s=60, queue="slow")

    found = jobs.assert_enqueued(
        extract, scan=Scan("b.pdf"), language="de", priority="critical", delay_s=60, queue="slow"
    )

    assert found == made


def test_argument_that_was_not_given_is_the_functions_default(jobs: Trial, extract: Extract) -> None:
    extract.enqueue(Scan("a.pdf"))

    jobs.assert_enqueued(extract, language="en")
    jobs.assert_not_enqueued(extract, language="de")


def test_value_may_be_anything_that_can_be_compared(jobs: Trial, extract: Extract) -> None:
    extract.enqueue(Scan("a.pdf"), run_at=jobs.clock.now + timedelta(hours=1))

    jobs.assert_enqueued(extract, scan=ANY, run_at=jobs.clock.now + timedelta(hours=1))


def test_kind_alone_is_enough(jobs: Trial, extract: Extract) -> None:
    jobs.client.enqueue("elsewhere", {"a": 1})

    jobs.assert_enqueued("elsewhere", a=1)
    jobs.assert_not_enqueued("elsewhere", a=2)
    jobs.assert_not_enqueued(extract)


def test_handle_that_is_found_knows_the_type_of_its_result(jobs: Trial, extract: Extract) -> None:
    extract.enqueue(Scan("a.pdf", pages=3))
    jobs.drain()

    assert jobs.assert_enqueued(extract).result() == 3


def test_job_that_differs_is_shown_with_what_differs(jobs: Trial, extract: Extract) -> None:
    made = extract.enqueue(Scan("b.pdf"))

    with pytest.raises(AssertionError) as failed:
        jobs.assert_enqueued(extract, scan=Scan("a.pdf"), queue="default")

    assert str(failed.value) == (
        "extract(scan=Scan(path='a.pdf', pages=1), queue='default') was not enqueued."
        " What there is of it, and how it differs:\n"
        f"  {made.id} 'queued' in queue 'ocr': extract(scan={{'path': 'b.pdf', 'pages': 1}})\n"
        "    queue is 'ocr', not 'default'; scan is {'path': 'b.pdf', 'pages': 1}, not Scan(path='a.pdf', pages=1)"
    )


def test_other_kinds_are_named_if_there_is_no_such_job(jobs: Trial, extract: Extract) -> None:
    with pytest.raises(AssertionError, match="no 'extract' was enqueued; there is no job at all"):
        jobs.assert_enqueued(extract)

    jobs.client.enqueue("elsewhere")
    with pytest.raises(AssertionError, match="no 'extract' was enqueued; there are jobs of elsewhere"):
        jobs.assert_enqueued(extract)


def test_number_of_times_is_exact(jobs: Trial, extract: Extract) -> None:
    extract.enqueue(Scan("a.pdf"))
    extract.enqueue(Scan("a.pdf"))

    jobs.assert_enqueued(extract, times=2)
    with pytest.raises(AssertionError, match=r"extract\(\) was enqueued 2 times, not 1:\n  .*\n  .*"):
        jobs.assert_enqueued(extract, times=1)


def test_job_that_should_not_be_there_is_shown(jobs: Trial, extract: Extract) -> None:
    made = extract.enqueue(Scan("a.pdf"))

    with pytest.raises(AssertionError, match=rf"extract\(queue='ocr'\) was enqueued:\n  {made.id} 'queued'"):
        jobs.assert_not_enqueued(extract, queue="ocr")


def test_name_that_is_neither_argument_nor_option_is_a_slip(jobs: Trial, extract: Extract) -> None:
    with pytest.raises(InvalidArgument, match="job 'extract' takes no 'lang', and it is no option of enqueue"):
        jobs.assert_not_enqueued(extract, lang="de")


def test_path_is_told_by_states_verbs_or_events(jobs: Trial, extract: Extract) -> None:
    handle = extract.enqueue(Scan("a.pdf"))
    with jobs.failing(extract):
        jobs.drain(until="idle")

    once = ("queued", "assigned", "running")
    jobs.assert_path(handle, *once, *once, "succeeded")
    jobs.assert_path(handle, "queued", ..., "succeeded")
    jobs.assert_path(handle.job(), "enqueue", "claim", "start", "retry", ..., "complete", by="verb")
    jobs.assert_path(handle.id, "job_queued", ..., "job_succeeded", by="event")


@pytest.mark.parametrize(
    "path", [(), ("queued",), ("queued", "succeeded"), (..., "failed"), ("queued", ..., "queued", ..., "queued")]
)
def test_other_path_is_shown_beside_the_one_it_went(jobs: Trial, extract: Extract, path: tuple[Any, ...]) -> None:
    handle = extract.enqueue(Scan("a.pdf"))
    jobs.drain()

    with pytest.raises(AssertionError, match=r"went:   queued → assigned → running → succeeded$"):
        jobs.assert_path(handle, *path)


def test_heartbeats_are_no_steps_of_a_path(jobs: Trial) -> None:
    @jobs.app.job
    def slow() -> None:
        jobs.clock.advance(600)

    handle = slow.enqueue()
    jobs.drain()

    assert "renew" in [event.verb for event in handle.history()]
    jobs.assert_path(handle, "queued", "assigned", "running", "succeeded")


def test_path_by_something_else_is_refused(jobs: Trial) -> None:
    by: Any = "colour"

    with pytest.raises(InvalidArgument, match="by is 'colour'; give 'state', 'verb' or 'event'"):
        jobs.path(jobs.client.enqueue("x").id, by=by)


def test_made_are_all_jobs_in_their_order(jobs: Trial, extract: Extract) -> None:
    first = extract.enqueue(Scan("a.pdf"))
    second = jobs.client.enqueue("elsewhere")

    assert [job.id for job in jobs.made()] == [first.id, second.id]
    assert [job.id for job in jobs.made(extract)] == [first.id]
