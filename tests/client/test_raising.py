"""Exceptions as failures: what a worker of one's own reports counts as it would from Detent's worker."""

from typing import Any, Final

import pytest

from detent import Policy, Retry
from detent.client import Job
from detent.errors import DetentError, PermanentError
from tests.client.world import World


class NoSuchPage(PermanentError):
    """As somebody derives their own from ours."""


class PageIsTorn(NoSuchPage): ...


class Unplugged(ConnectionError): ...


AGAIN: Final = Retry(max_attempts=9, base_s=0)


@pytest.mark.requirement("STD-20")
@pytest.mark.parametrize(
    ("raised", "policy", "state", "kept"),
    [
        (NoSuchPage("page 7"), Policy(retry=AGAIN), "failed", ("PermanentError", "NoSuchPage: page 7")),
        (PageIsTorn(), Policy(retry=AGAIN), "failed", ("PermanentError", "PageIsTorn")),
        (
            PageIsTorn("page 7"),
            Policy(retry=AGAIN, error_classes={"NoSuchPage": "TransientError"}),
            "queued",
            ("NoSuchPage", "PageIsTorn: page 7"),
        ),
        (Unplugged("cable"), Policy(retry=AGAIN), "queued", ("ConnectionError", "Unplugged: cable")),
        (KeyError("a"), Policy(retry=AGAIN, error_classes={"LookupError": "PermanentError"}), "failed",
         ("LookupError", "KeyError: 'a'")),
        (ValueError("page 7"), Policy(retry=AGAIN), "queued", ("ValueError", "page 7")),
        (PermanentError("page 7"), Policy(retry=AGAIN), "failed", ("PermanentError", "page 7")),
    ],
)  # fmt: skip
@pytest.mark.parametrize("in_a_batch", [False, True])
def test_exception_counts_as_the_first_of_its_classes_that_is_known(
    fresh: World, raised: Exception, policy: Policy, state: str, kept: tuple[str, str], in_a_batch: bool
) -> None:
    client = fresh.blocking
    client.enqueue("scan", job_id="42", policy=policy)
    client.claim(worker="w", start=True)
    fence: dict[str, Any] = {"worker": "w", "attempt": 1}

    if in_a_batch:
        (job,) = client.fail_many([{"job_id": "42", "error": raised, **fence}])
    else:
        job = client.fail("42", error=raised, **fence)

    assert isinstance(job, Job)
    error = job.error or job.last_error
    assert error is not None
    assert (job.state, (error.type, error.message)) == (state, kept)


def test_exception_says_what_code_and_stage_its_failure_has(fresh: World) -> None:
    fresh.prepare("running")
    raised = NoSuchPage("page 7", code="no_page", stage="input", reason_code="nonsense")

    job = fresh.blocking.fail("running", worker="w", attempt=1, error=raised)

    assert job.error is not None
    assert (job.error.code, job.error.stage) == ("no_page", "input")


def test_batch_of_failures_answers_what_names_no_job_each_by_itself(fresh: World) -> None:
    items = [
        {"job_id": job_id, "error": NoSuchPage("x"), "worker": "w", "attempt": 1} for job_id in ("a\0b", 7, "gone")
    ]

    answers = fresh.blocking.fail_many(items)

    assert [answer.code for answer in answers if isinstance(answer, DetentError)] == [
        "invalid_argument", "invalid_argument", "not_found",
    ]  # fmt: skip
