"""Who is killed, and when: a worker that holds several running jobs, by the record, and not by a guess."""

from math import inf
from typing import Final

from msgspec import Struct

from detent.client import Job, SyncClient
from detent.lifecycles import BUILT_IN
from detent.surfaces.cli.demo.cast import Cast, Member, pause, resume
from detent.surfaces.cli.demo.script import ends_of_lost

HELD_MIN: Final = 3
RETURNING_MIN: Final = 2  # of those, jobs that another worker will go on with
WARM_UP_S: Final = 1.0  # until the crowd has come some steps further
PATIENCE_S: Final = 3.0  # then a single running job will do


class Blow(Struct, frozen=True):
    """A worker that was killed, and the jobs that were running in its hands at that moment."""

    worker: str
    pid: int
    held: list[Job]


class Director:
    """`crowd` are slow jobs that come in at once: the time begins when one of them runs."""

    def __init__(self, crowd: set[str]) -> None:
        self._crowd = crowd
        self._since_s = inf

    def strike(self, client: SyncClient, cast: Cast, now_s: float) -> Blow | None:
        """Kill somebody, if the moment is good: whoever holds most."""
        held = {member.name: running(client, member) for member in cast.workers}
        if any(job.id in self._crowd for jobs in held.values() for job in jobs):
            self._since_s = min(self._since_s, now_s)
        waited_s = now_s - self._since_s
        busiest = sorted(cast.workers, key=lambda member: -len(held[member.name]))
        good = [member for member in busiest if is_good(held[member.name], waited_s)]
        return next((blow for member in good if (blow := _blow(client, cast, member, waited_s))), None)


def _blow(client: SyncClient, cast: Cast, member: Member, waited_s: float) -> Blow | None:
    """Who is looked at again is stopped meanwhile, so that what is seen stays true."""
    pause(member)
    held = running(client, member)
    if not is_good(held, waited_s):
        resume(member)
        return None
    cast.kill(member)
    return Blow(member.name, member.pid, held)


def is_good(held: list[Job], waited_s: float) -> bool:
    """Whether whoever holds these jobs may be killed now."""
    returning = sum(returns(job) for job in held)
    if waited_s > PATIENCE_S:
        return returning >= 1
    return waited_s > WARM_UP_S and len(held) >= HELD_MIN and returning >= RETURNING_MIN


def running(client: SyncClient, member: Member) -> list[Job]:
    return client.find(owner=member.name, phase="active").items


def returns(job: Job) -> bool:
    """Whether its lifecycle lets a job go on whose worker was lost."""
    lifecycle = BUILT_IN[job.lifecycle]
    return lifecycle.table.targets[lifecycle.on_expiry] > ends_of_lost(lifecycle)
