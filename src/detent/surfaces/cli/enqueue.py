"""`detent enqueue`: make a job from the shell."""

from collections.abc import Callable
from typing import Any, Final, TypeVar

import click
from msgspec.structs import replace

from detent.client import Job, SyncClient
from detent.errors import NotFound
from detent.lifecycle import Lifecycle, Policy
from detent.lifecycle.bounds import LEASE_S_MAX, LEASE_S_MIN
from detent.surfaces.cli.chatter import remark
from detent.surfaces.cli.command import Command
from detent.surfaces.cli.definitions import FILE_SUFFIX, complete_name, read
from detent.surfaces.cli.failure import failure_of, guess
from detent.surfaces.cli.job.naming import complete_job
from detent.surfaces.cli.job.steering import ANSWERS, login_name, show_job
from detent.surfaces.cli.job.waiting import await_end, show_end
from detent.surfaces.cli.opening import opened
from detent.surfaces.cli.options import JSON, Assignment, Instant, JsonValue, Priority, Seconds, store_options
from detent.surfaces.shapes import AnsweredShape, answered_shape

Function = TypeVar("Function", bound=Callable[..., Any])
OPTIONS: Final = (
    click.option("--queue", default="default", show_default=True, help="Where it waits for a worker."),
    click.option(
        "--lifecycle", default="standard", show_default=True, shell_complete=complete_name,
        help="A lifecycle's name, or the .toml file of one of your own.",
    ),
    click.option(
        "--priority", type=Priority(), default=0, metavar="N",
        help="A higher number goes sooner; or critical (20), interactive (10), batch (0).",
    ),
    click.option("--delay", "delay_s", type=Seconds(), default=0.0, help="Not before this has passed: 30s, 2h."),
    click.option("--run-at", type=Instant(), help="Not before this time: 2026-11-16T08:30:00Z."),
    click.option("--id", "job_id", help="Its id; one is made if not given."),
    click.option("--dedupe-key", metavar="KEY", help="No second job of this kind and key while one is not ended."),
    click.option("--limit-key", metavar="KEY", help="Shares the limits of the jobs with this key."),
    click.option("--request-id", metavar="ID", help="Makes a repeat of this very command safe."),
    click.option("--max-attempts", type=click.IntRange(1), metavar="N", help="So many failures and crashes at most."),
    click.option(
        "--rerun-failed", is_flag=True,
        help="Where its lifecycle has no way back: a new job when it fails, up to --max-attempts of them in all.",
    ),
    click.option("--timeout", "timeout_s", type=Seconds(), help="How long one attempt may run."),
    click.option("--lease", "lease_s", type=Seconds(), help="How long a worker has it without a heartbeat: 30s to 2m."),
    click.option("--correlation", "correlation_id", metavar="ID", help="What it belongs to."),
    click.option(
        "--parent", "parent_job_id", metavar="JOB", shell_complete=complete_job, help="The job that it is a part of."
    ),
    click.option("--workflow", "workflow_id", metavar="ID", help="The workflow that it is a step of."),
    click.option("--step", "step_index", type=click.IntRange(0), metavar="N", help="Which step."),
    click.option("--topic", help="The topic it is dispatched on. Pools over NATS have it for a queue, too."),
    click.option("--context-ptr", metavar="PTR", help="Where its context is kept."),
    click.option("--adapter", "adapter_id", metavar="ID", help="For a worker with this adapter, where there is one."),
    click.option("--env", type=Assignment(), multiple=True, help="NAME=VALUE, for policies; may be repeated."),
    click.option("--reason", help="Why, for the record."),
    click.option("--actor", envvar="DETENT_ACTOR", help="Who you are, for the record; else your login name."),
)  # fmt: skip


def job_options(function: Function) -> Function:
    for option in reversed(OPTIONS):
        function = option(function)
    return function


@click.command(
    cls=Command,
    example="""detent enqueue ocr '{"path": "a.pdf"}' --queue scans
detent enqueue report @order.json --delay 10m --wait""",
    shape=AnsweredShape,
)
@click.argument("kind")
@click.argument("payload", type=JsonValue(), required=False)
@job_options
@click.option("--wait", "is_waiting", is_flag=True, help="Wait until it has ended, as `detent job wait` does.")
@click.option("--wait-timeout", type=Seconds(), help="Wait, but no longer than this: 30s, 5m.")
@store_options
@JSON
def enqueue(
    url: str | None, tenant: str, as_json: bool, is_waiting: bool, wait_timeout: float | None, **given: Any
) -> None:
    """Make a job.

    KIND says what is to be done, PAYLOAD is its input: JSON, @FILE, or - for stdin. Where the lifecycle has a state for
    jobs that are created but not submitted, it is submitted at once. Prints the job.
    """
    if given["delay_s"] and given["run_at"] is not None:
        raise click.UsageError("--delay and --run-at both say when; give one of them.")
    own = [read(given["lifecycle"])] if given["lifecycle"].endswith(FILE_SUFFIX) else []
    given["lifecycle"] = own[0].name if own else given["lifecycle"]
    given["env"] = dict(given["env"]) or None
    given["actor"] = given["actor"] or login_name()
    with opened(url, tenant, create=True, lifecycles=own) as client:
        lifecycle = _lifecycle(client, given["lifecycle"])
        role = lifecycle.table.start.default_role  # named, so that a login such as `worker` does not decide it
        job = client.enqueue(submit=True, role=role, policy=_policy(lifecycle, given), **given)
        if not is_waiting and wait_timeout is None:
            show_job(job, as_json=as_json)
            return
        if not as_json:
            remark(f"Waiting for the end of job {job.id}{_known(job)}.")  # its id, should somebody lose patience
        ended = await_end(client, job.id, wait_timeout)
    show_end(replace(ended, answer=job.answer), as_json=as_json, shape=answered_shape)


def _lifecycle(client: SyncClient, name: str) -> Lifecycle:
    try:
        return client.lifecycle(name)
    except NotFound as error:
        hint = guess(name, [each.name for each in client.lifecycles()])
        raise failure_of(error, f"{hint} For one of your own give its .toml file") from error


def _known(job: Job) -> str:
    return f" ({ANSWERS[job.answer]})" if job.answer in ANSWERS else ""


def _policy(lifecycle: Lifecycle, given: dict[str, Any]) -> Policy | None:
    """The lifecycle's defaults with what was asked for; None: just these."""
    lease_s = given["lease_s"]
    if lease_s is not None and not LEASE_S_MIN <= lease_s <= LEASE_S_MAX:
        raise click.UsageError(f"--lease is {lease_s:g} s; a lease lasts {LEASE_S_MIN:g} s to {LEASE_S_MAX:g} s.")
    settings = {name: value for name in ("timeout_s", "lease_s") if (value := given.pop(name)) is not None}
    if given.pop("rerun_failed"):
        settings["rerun_failed"] = True
    attempts = given.pop("max_attempts")
    if attempts is not None:
        settings["retry"] = replace(lifecycle.defaults.retry, max_attempts=attempts)
    return lifecycle.policy(**settings) if settings else None
