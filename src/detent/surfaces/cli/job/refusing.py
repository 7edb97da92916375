"""What a person hears whose move was refused: what it means for this job, and what to do instead."""

from collections.abc import Iterator
from contextlib import contextmanager

from detent.client import Job, SyncClient
from detent.errors import Refused
from detent.surfaces.cli.failure import Failure, failure_of
from detent.surfaces.cli.suggesting import suggested


class RerunAlready(Failure):
    """It would have made a second job of it."""

    error_code = "already_rerun"


def refuse_second_rerun(client: SyncClient, job: Job) -> None:
    reruns = client.reruns(job.id)
    if reruns:
        raise _rerun_already(job, reruns[0].id)


def _rerun_already(job: Job, new_id: str) -> RerunAlready:
    look, more = suggested("job explain", new_id), suggested("job rerun --again", job.id)
    message = f"job {job.id} was run again already, as job {new_id}. See: {look}. To run it once more: {more}"
    failure = RerunAlready(message)
    failure.details = {"job_id": job.id, "new_job_id": new_id}
    return failure


@contextmanager
def reworded(verb: str, job: Job) -> Iterator[None]:
    try:
        yield
    except Refused as error:
        if verb == "rerun" and error.code == "request_conflict":  # somebody has just done it, as another or otherwise
            raise _rerun_already(job, error.job_id) from error
        message = _meant(verb, job) if error.code == "illegal_move" else None
        if message is None:
            raise
        plain, failure = failure_of(error), Failure(message)
        failure.error_code, failure.details = plain.error_code, plain.details
        raise failure from error


def _meant(verb: str, job: Job) -> str | None:
    """None: what the kernel says is all there is to say."""
    if verb == "rerun":
        wait = suggested("job wait", job.id)
        return f"job {job.id} has not ended, it is '{job.state}'; cancel it first, or wait for its end: {wait}"
    if job.is_ended:
        again = suggested("job rerun", job.id)
        return f"job {job.id} has ended ('{job.state}'); nothing to {verb}. To run it again: {again}"
    return None
