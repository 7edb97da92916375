"""The audit at the end: the store's own verdict, the log folded anew, and every job held against the script."""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from detent.client import Event, Job, SyncClient
from detent.lifecycles import BUILT_IN
from detent.surfaces.cli.demo.asked import Asked
from detent.surfaces.cli.demo.director import Blow, returns
from detent.surfaces.cli.demo.script import Part
from detent.surfaces.cli.demo.tally import Tally
from detent.surfaces.cli.demo.trying import commands

PAGE: Final = 1_000


class Killed(Struct, frozen=True):
    """A worker that was killed, and the jobs that were running in its hands."""

    worker: str
    pid: int
    jobs: list[str]


class DemoReport(Struct, frozen=True, kw_only=True):
    """What a demo came to. `mutations` is the sum of all revisions; `recoveries` are moves that brought a job back.

    `repeats` were asked for twice and are there once. `violations` are sentences; `commands` are to try next.
    """

    jobs: int
    mutations: int
    events: int
    attempts: int
    retries: int
    recoveries: int
    dead_letters: int
    late_results: int
    repeats: int
    killed: Killed | None
    violations: list[str]
    file: str
    url: str
    seed: int
    seconds: float
    commands: list[str]


class Audit(Struct, frozen=True):
    """Everything that a report is made from, read from the store once the demo is over."""

    jobs: dict[str, Job]
    tally: Tally
    late_results: int
    violations: list[str]


def audit(client: SyncClient, script: list[Part]) -> Audit:
    jobs = {job.id: job for job in _jobs(client)}
    tally = Tally({job.id: job.lifecycle for job in jobs.values()})
    for event in _events(client):
        tally.add(event)
    late = sum(note.kind == "late_result" for job_id in jobs for note in client.notes(job_id))
    violations = [*_broken(client), *_off_script(jobs, script), *_uncounted(jobs, tally)]
    return Audit(jobs, tally, late, violations)


def report_of(asked: Asked, found: Audit, blow: Blow | None, *, repeats: int, seconds: float) -> DemoReport:
    killed = None if blow is None else Killed(blow.worker, blow.pid, [job.id for job in blow.held])
    unkilled = [] if killed is not None else ["no worker was killed: none held several running jobs at once"]
    return DemoReport(
        jobs=len(found.jobs),
        mutations=sum(job.rev for job in found.jobs.values()),
        events=found.tally.moves,
        attempts=found.tally.verbs["claim"],
        retries=found.tally.verbs["retry"],
        recoveries=found.tally.recoveries,
        dead_letters=sum(is_dead_letter(job) for job in found.jobs.values()),
        late_results=found.late_results,
        repeats=repeats,
        killed=killed,
        violations=[*found.violations, *unkilled],
        file=str(asked.file),
        url=asked.url,
        seed=asked.seed,
        seconds=round(seconds, 1),
        commands=commands(found.jobs, rescued(found, blow), asked.url),
    )


def is_dead_letter(job: Job) -> bool:
    return job.state in BUILT_IN[job.lifecycle].table.targets.get("dead_letter", ())


def rescued(found: Audit, blow: Blow | None) -> Job | None:
    """A job that outlived its worker."""
    held = [] if blow is None else [found.jobs[job.id] for job in blow.held if returns(job)]
    alive = [job for job in held if job.outcome == "success" and job.crashes]
    return min(alive, key=lambda job: (job.checkpoint is None, list(BUILT_IN).index(job.lifecycle)), default=None)


def _broken(client: SyncClient) -> Iterator[str]:
    yield from map(str, client.verify(all_tenants=True).violations)
    for difference in client.replay().differences:
        yield f"the log of {difference.job_id} gives {difference.column} {difference.folded}, not {difference.shown}"


def _off_script(jobs: dict[str, Job], script: list[Part]) -> Iterator[str]:
    parts = {part.job_id: part for part in script}
    for job_id in sorted({*parts, *jobs}):
        job, part = jobs.get(job_id), parts.get(job_id)
        if job is None:
            yield f"job {job_id} is in the script and not in the store"
        elif part is None:
            yield f"job {job_id} is in the store and not in the script"
        elif not part.may_end(job.state, is_lost=job.crashes > 0):
            yield f"job {job_id} is '{job.state}'; the script ends it in '{part.scene.end}'"


def _uncounted(jobs: dict[str, Job], tally: Tally) -> Iterator[str]:
    """Two ways to count, which must agree."""
    mutations, attempts = sum(job.rev for job in jobs.values()), sum(job.attempt for job in jobs.values())
    if mutations != tally.moves:
        yield f"the revisions add up to {mutations}, and there are {tally.moves} events"
    if attempts != tally.verbs["claim"]:
        yield f"the attempts add up to {attempts}, and there are {tally.verbs['claim']} claims"


def _jobs(client: SyncClient) -> Iterator[Job]:
    cursor: str | None = None
    while True:
        page = client.find(limit=PAGE, cursor=cursor)
        yield from page
        cursor = page.cursor
        if cursor is None:
            return


def _events(client: SyncClient) -> Iterator[Event]:
    cursor: str | None = None
    while page := client.events(limit=PAGE, cursor=cursor):
        cursor = page.cursor
        yield from page
