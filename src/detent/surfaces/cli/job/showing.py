"""`detent job show`: one job as it is now, all that is known of it."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import chain
from typing import Any, Final

import click
import msgspec
from rich.table import Table
from rich.text import Text

from detent.client import Artifact, Job
from detent.client.reasons import described
from detent.client.scope import DEFAULT_TENANT
from detent.surfaces.cli.command import Command
from detent.surfaces.cli.job.naming import JOB, opened_for
from detent.surfaces.cli.numbers import counted
from detent.surfaces.cli.options import JSON, store_options
from detent.surfaces.cli.output import clean, say, say_command, write_json
from detent.surfaces.cli.output import show as print_
from detent.surfaces.cli.palette import state_of
from detent.surfaces.cli.suggesting import suggested
from detent.surfaces.cli.times import full, relative
from detent.surfaces.shapes import VALUES, JobShape, job_shape

Line = tuple[str, str | Text]
VALUE_CHARS_MAX: Final = 500
ARTIFACTS_SHOWN_MAX: Final = 20


@click.command(cls=Command, example="detent job show 42", shape=JobShape)
@JOB
@store_options
@JSON
def show(url: str | None, tenant: str, as_json: bool, job_id: str) -> None:
    """Show a job as it is now: its state, its owner, its times, what went in and what came out."""
    with opened_for(job_id, url, tenant) as client:
        job = client.get(job_id)
        made = [] if as_json else client.artifacts(job_id)
    if as_json:
        write_json(job_shape(job))
        return
    write_facts(chain(facts_of(job, datetime.now(UTC)), _artifacts(made)))
    say()
    say_command("Its story:", suggested("job history", job.id))
    say_command("Why it is there:", suggested("job explain", job.id))


def _artifacts(made: list[Artifact]) -> Iterator[Line]:
    for each in made[:ARTIFACTS_SHOWN_MAX]:
        yield "artifact", f"{each.name}, {each.status}, at {_cut(each.pointer)}"
    if len(made) > ARTIFACTS_SHOWN_MAX:
        yield "", f"… and {len(made) - ARTIFACTS_SHOWN_MAX} more; detent job artifacts has all"


def write_facts(facts: Iterable[Line]) -> None:
    """Names on the left, what is known on the right; what is not known is left out."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in facts:
        table.add_row(name, value if isinstance(value, Text) else clean(value))
    print_(table)


def facts_of(job: Job, now: datetime) -> Iterator[Line]:
    yield "job", Text(clean(job.id), style="cyan")
    yield "state", Text.assemble(state_of(job), Text(f"  ({job.phase})", style="dim"))
    yield "kind", f"{job.kind}, on lifecycle {job.lifecycle} v{job.lifecycle_version}"
    yield "queue", f"{job.queue}, priority {job.priority}"
    yield "attempt", f"{job.attempt}, revision {job.rev}"
    if job.owner is not None:
        yield "owner", f"{job.owner}, end of its lease: {relative(job.lease_expires_at, now)}"
    elif job.last_owner is not None:
        yield "last owner", job.last_owner
    if job.failures or job.crashes or job.interruptions:
        lost = (job.failures, "failure", ""), (job.crashes, "crash", "crashes"), (job.interruptions, "interruption", "")
        yield "lost", ", ".join(counted(*each) for each in lost if each[0])
    if job.verdict is not None:
        yield "verdict", f"{job.verdict} by rule {job.rule}"
    yield from _values(job)
    yield from _times(job, now)
    for name in ("tenant", "correlation_id", "parent_job_id", "rerun_of", "workflow_id", "step_index", "topic"):
        yield from _other(job, name)
    for name in ("dedupe_key", "limit_key", "adapter_id", "context_ptr", "trace_id"):
        yield from _other(job, name)
    if job.env:
        yield "env", ", ".join(f"{name}={value}" for name, value in job.env.items())


def _values(job: Job) -> Iterator[Line]:
    shape = job_shape(job)
    for name in VALUES:
        if name in shape.unreadable:
            yield name, "sealed by a codec that this command does not have"
        elif (value := getattr(shape, name)) is not None:
            yield name, _cut(_json(value))
    if job.result_ptr is not None:
        yield "result", f"kept at {job.result_ptr}"
    if job.progress is not None and not job.is_ended:  # how far an attempt came is of no use once there is an end
        yield "progress", f"{job.progress.fraction:.0%} {job.progress.message}"
    if job.error is not None:
        yield "error", Text(clean(described(job.error)), style="red")
    elif job.last_error is not None:
        yield "last error", Text(clean(described(job.last_error)), style="yellow")


def _times(job: Job, now: datetime) -> Iterator[Line]:
    for name in ("created", "run", "claim", "claimed", "started", "deadline", "ended"):
        moment: datetime | None = getattr(job, f"{name}_at")
        if moment is not None:
            yield _WORDS.get(name, name), f"{full(moment)}  {relative(moment, now)}"
    if job.cancel_by is not None:
        yield "stops by", f"{full(job.cancel_by)}  {relative(job.cancel_by, now)}"


_WORDS = {"run": "run at", "claim": "claimable", "deadline": "time limit"}


def _other(job: Job, name: str) -> Iterator[Line]:
    value = getattr(job, name)
    plain = {"tenant": DEFAULT_TENANT, "correlation_id": job.id}
    if value is not None and value != plain.get(name):
        yield name.removesuffix("_id").replace("_", " ").replace("job", "").strip(), str(value)


def _cut(text: str) -> str:
    if len(text) <= VALUE_CHARS_MAX:
        return text
    return f"{text[:VALUE_CHARS_MAX]}… ({len(text):,} characters; --json has all)"


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
