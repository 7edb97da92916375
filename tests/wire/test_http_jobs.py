"""A job over HTTP and back: nothing is lost, and jobs of one policy share it."""

import msgspec
import pytest

import detent
from detent.errors import InvalidArgument
from detent.kernel import Job
from detent.lifecycle import Policy, Retry
from detent.wire.http.jobs import JobRecord, job_shape, record_of


def some_jobs() -> list[Job]:
    policy = Policy(lease_s=45.0, retry=Retry(max_attempts=3))
    with detent.connect("sqlite:///:memory:") as client:
        made = [client.enqueue("mail", {"to": name}, policy=policy) for name in ("ann", "bob")]
        return [job.record for job in made]


def sent(job: Job) -> bytes:
    return msgspec.json.encode(job_shape(job))


def read(raw: bytes) -> Job:
    return record_of(msgspec.json.decode(raw, type=JobRecord))


def test_job_that_went_over_http_is_the_same_job() -> None:
    jobs = some_jobs()

    assert [read(sent(job)) for job in jobs] == jobs


def test_jobs_of_one_policy_share_it_when_they_are_read() -> None:
    first, second = (read(sent(job)) for job in some_jobs())

    assert first.spec.policy is second.spec.policy


def test_policy_that_is_none_is_refused() -> None:
    said = msgspec.json.decode(sent(some_jobs()[0]))

    with pytest.raises(InvalidArgument, match="policy is not as it should be") as refused:
        read(msgspec.json.encode(said | {"policy": {"lease_s": "long"}}))

    assert refused.value.code == "value_unreadable"
