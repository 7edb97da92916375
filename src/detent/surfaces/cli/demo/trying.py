"""What to try next on a demo's file: commands that can be copied as they stand, with jobs that are really there."""

import shlex
from collections.abc import Mapping

from detent.client import Job
from detent.surfaces.cli.suggesting import program


def commands(jobs: Mapping[str, Job], recovered: Job | None, url: str) -> list[str]:
    """The story of a job that outlived its worker, what was set aside, and why a job that waits is waiting."""
    lost = recovered or next(job for job in jobs.values() if job.attempt)
    waiting = next((job for job in jobs.values() if not job.is_ended), lost)
    asked = (f"job history {lost.id}", "dlq list", f"job explain {waiting.id}")
    return [f"{program()} {each} --url {shlex.quote(url)}" for each in asked]
