"""`detent job wait`: until a job has ended; how it did is the exit code."""

from collections.abc import Callable
from time import monotonic
from typing import Final

import click
from rich.text import Text

from detent.client import Job, SyncClient
from detent.client.reasons import described
from detent.errors import WaitTimedOut
from detent.surfaces.cli.chatter import waited
from detent.surfaces.cli.command import Command
from detent.surfaces.cli.failure import Failure
from detent.surfaces.cli.job.naming import JOB, opened_for
from detent.surfaces.cli.options import JSON, Seconds, store_options
from detent.surfaces.cli.output import clean, write_json
from detent.surfaces.cli.output import show as print_
from detent.surfaces.cli.palette import state_of
from detent.surfaces.shapes import JobShape, job_shape

GLANCE_S: Final = 0.5
CODES: Final = {"success": 0, "failure": 10, "cancelled": 11}


class TimedOut(Failure):
    exit_code = 124  # as timeout(1) has it
    error_code = "wait_timed_out"


@click.command(cls=Command, example="detent job wait 42 --timeout 5m && echo done", shape=JobShape)
@JOB
@click.option("--timeout", type=Seconds(), help="Wait no longer than this: 30s, 5m. For ever if not given.")
@store_options
@JSON
def wait(url: str | None, tenant: str, as_json: bool, job_id: str, timeout: float | None) -> None:
    """Wait until a job has ended.

    The exit code says how: 0 a success, 10 a failure, 11 cancelled; 124 if it has not ended in time.
    """
    with opened_for(job_id, url, tenant) as client:
        job = await_end(client, job_id, timeout)
    show_end(job, as_json=as_json)


def await_end(client: SyncClient, job_id: str, timeout: float | None) -> Job:
    """A glance at a time, so that a person at a terminal sees where the job is meanwhile."""
    deadline_s = None if timeout is None else monotonic() + timeout
    with waited(f"waiting for {clean(job_id)}:") as status:
        while True:
            left_s = GLANCE_S if deadline_s is None else max(deadline_s - monotonic(), 0)
            try:
                return client.wait(job_id, timeout_s=min(left_s, GLANCE_S))
            except WaitTimedOut as late:
                if left_s == 0:
                    raise _timed_out(WaitTimedOut(job_id, late.state, timeout or 0)) from late
                status.tell(_seen(client.get(job_id)))


def _timed_out(error: WaitTimedOut) -> TimedOut:
    failure = TimedOut(str(error))
    failure.details = {"job_id": error.job_id, "state": error.state}
    return failure


def _seen(job: Job) -> str:
    done = "" if job.progress is None else f", {job.progress.fraction:.0%} {clean(job.progress.message)}".rstrip()
    whom = "" if job.owner is None else f" with {clean(job.owner)}"
    return f"{clean(job.state)}{whom}{done}"


def show_end(job: Job, *, as_json: bool, shape: Callable[[Job], JobShape] = job_shape) -> None:
    if as_json:
        write_json(shape(job))
    else:
        why = "" if job.error is None else f"  {clean(described(job.error))}"
        print_(Text.assemble(Text(clean(job.id), style="bold"), "  ", state_of(job), why))
    code = code_of(job)
    if code:
        raise SystemExit(code)


def code_of(job: Job) -> int:
    """A lifecycle without a state for it ends a cancelled job as failed, in the category `cancelled`."""
    if job.error is not None and job.error.category == "cancelled":
        return CODES["cancelled"]
    assert job.outcome is not None, "it has ended"
    return CODES[job.outcome]
