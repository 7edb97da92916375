"""Which dead letters are meant: by id, by filter, or all of them."""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any, Final, TypeVar

import click
from msgspec import Struct

from detent.client import SyncClient
from detent.client.dead_letters import DeadLetter
from detent.kernel import Error
from detent.kernel.failure import REASON_CODES, STAGES
from detent.store.query import PAGE_MAX
from detent.surfaces.cli.definitions import complete_name
from detent.surfaces.cli.job.naming import complete_job
from detent.surfaces.cli.options import Moment

Function = TypeVar("Function", bound=Callable[..., Any])

FILTERS: Final = (
    click.option(
        "--reason",
        "reason_code",
        type=click.Choice(REASON_CODES),
        metavar="CODE",
        help=f"Set aside for this: {', '.join(REASON_CODES)}.",
    ),
    click.option(
        "--stage", type=click.Choice(STAGES), metavar="STAGE", help=f"Where it went wrong: {', '.join(STAGES)}."
    ),
    click.option("--error", "error_type", metavar="TYPE", help="With this type of error, such as TransientError."),
    click.option("--queue", help="In this queue."),
    click.option("--kind", help="Of this kind."),
    click.option("--lifecycle", shell_complete=complete_name, help="On this lifecycle."),
    click.option("--correlation", "correlation_id", metavar="ID", help="With this correlation id."),
    click.option("--ended-since", "ended_from", type=Moment(), help="Set aside since 2h ago, or since a time."),
    click.option("--ended-until", type=Moment(), help="Set aside until then."),
)

# Their parameters, by which a suggestion repeats them.
FILTER_NAMES: Final = (
    "reason_code", "stage", "error_type", "queue", "kind", "lifecycle", "correlation_id", "ended_from", "ended_until",
)  # fmt: skip
JOBS: Final = click.argument("job_ids", metavar="[JOB]...", nargs=-1, shell_complete=complete_job)


class DeadLetterShape(Struct, frozen=True, kw_only=True):
    """A job that was set aside, and what to judge it by. `redriven_as` are the jobs that ran it again."""

    job_id: str
    kind: str
    queue: str
    lifecycle: str
    state: str
    reason_code: str
    stage: str
    last_error: Error
    attempts: int
    last_owner: str | None
    last_lease_expires_at: datetime | None
    correlation_id: str
    created_at: datetime
    ended_at: datetime | None
    redriven_as: list[str]


def letter_filters(function: Function) -> Function:
    for option in reversed(FILTERS):
        function = option(function)
    return function


def letters(client: SyncClient, filters: dict[str, Any]) -> Iterator[DeadLetter]:
    """All that are meant, the newest first."""
    cursor: str | None = None
    while True:
        page = client.dead_letters(limit=PAGE_MAX, cursor=cursor, **filters)
        yield from page
        cursor = page.cursor
        if cursor is None:
            return


def chosen(
    client: SyncClient, job_ids: tuple[str, ...], filters: dict[str, Any], *, is_all: bool
) -> Iterator[DeadLetter]:
    """Those named, or those that a filter finds. Everything has to be asked for in so many words."""
    if job_ids and (filters or is_all):
        raise click.UsageError("Name jobs, or give filters, not both.")
    if not job_ids and not filters and not is_all:
        raise click.UsageError(
            "Which dead letters? Name jobs, give a filter such as --queue or --reason, or say --all."
        )
    named = dict.fromkeys(job_ids)  # whoever names one twice means it once
    return map(client.dead_letter_for, named) if named else letters(client, filters)


def redriven_as(client: SyncClient, job_id: str) -> list[str]:
    return [job.id for job in client.reruns(job_id)]


def letter_shape(letter: DeadLetter, again: list[str]) -> DeadLetterShape:
    job = letter.job
    return DeadLetterShape(
        job_id=job.id, kind=job.kind, queue=job.queue, lifecycle=job.lifecycle, state=job.state,
        reason_code=letter.reason_code, stage=letter.stage, last_error=letter.last_error, attempts=letter.attempts,
        last_owner=letter.last_owner, last_lease_expires_at=letter.last_lease_expires_at,
        correlation_id=letter.correlation_id, created_at=job.created_at, ended_at=job.ended_at, redriven_as=again,
    )  # fmt: skip
