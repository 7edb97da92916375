"""The JOB argument: what it completes to, and what a mistyped id gets to hear."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import click

from detent.client import SyncClient
from detent.errors import DetentError, NotFound
from detent.surfaces.cli.failure import failure_of, guess
from detent.surfaces.cli.opening import opened

LOOKED_AT_MAX: Final = 1_000  # of the newest, for completion and for a guess


def complete_job(ctx: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """The newest jobs' ids. A shell that completes must never be shown an error."""
    try:
        with opened(ctx.params.get("url"), ctx.params.get("tenant") or "default") as client:
            return [found for found in _ids(client) if found.startswith(typed)]
    except DetentError:
        return []


JOB: Final = click.argument("job_id", metavar="JOB", shell_complete=complete_job)


@contextmanager
def opened_for(job_id: str, url: str | None, tenant: str) -> Iterator[SyncClient]:
    """A client to ask about one job. If there is none of that id, one that is spelled much like it is named."""
    with opened(url, tenant) as client:
        try:
            yield client
        except NotFound as error:
            others = (found for found in _ids(client) if found != job_id)  # it may be there, and not be what was meant
            raise failure_of(error, guess(job_id, others)) from error


def _ids(client: SyncClient) -> list[str]:
    return [job.id for job in client.find(limit=LOOKED_AT_MAX)]
