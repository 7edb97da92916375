"""Asking a client why a job is where it is, at a time that the test sets."""

from datetime import datetime, timedelta
from pathlib import Path

from detent.client.explaining import Explanation
from detent.client.moments import to_moment
from detent.client.reasons import Reason
from tests.client.world import World

ARTICLE = Path(__file__).resolve().parents[2] / "docs" / "examples" / "article.toml"
BUSY = {"type": "TransientError", "message": "scanner is busy"}
BROKEN = {"type": "PermanentError", "message": "no such page"}


def explained(world: World, job_id: str = "42", *, after_s: float = 0) -> Explanation:
    return world.blocking.explain(job_id, now=now(world) + timedelta(seconds=after_s))


def reasons(world: World, job_id: str = "42", *, after_s: float = 0) -> dict[str, Reason]:
    """By their codes, the most important first."""
    return {reason.code: reason for reason in explained(world, job_id, after_s=after_s).reasons}


def first(world: World, job_id: str = "42", *, after_s: float = 0) -> Reason:
    return explained(world, job_id, after_s=after_s).reasons[0]


def now(world: World) -> datetime:
    return to_moment(world.clock())


def run(world: World, job_id: str = "42", *, worker: str = "w1", queue: str = "default") -> None:
    """A worker takes the next job and starts it."""
    (job,) = world.blocking.claim(worker=worker, queues=[queue], start=True)
    assert job.id == job_id
