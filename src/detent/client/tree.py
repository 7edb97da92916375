"""Parents and children: a job's whole tree, put together from listings, so that every store can give it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from detent.client.views import Job
from detent.errors import InvalidArgument, NotFound
from detent.store.query import PAGE_MAX

if TYPE_CHECKING:
    from detent.client.reads import Reads

JOBS_MAX: Final = 10_000


class Tree(Struct):
    """A job and those that name it as their parent, in the order of their steps, else of their making."""

    job: Job
    children: list["Tree"]

    def walk(self) -> Iterator[tuple[int, Job]]:
        """Every job with its depth, a parent before its children. No recursion: reruns of reruns grow long chains."""
        waiting = [(0, self)]
        while waiting:
            depth, node = waiting.pop()
            yield depth, node.job
            waiting += [(depth + 1, child) for child in reversed(node.children)]

    def size(self) -> int:
        return sum(1 for _ in self.walk())


async def grown(reads: "Reads", job_id: str) -> Tree:
    root = Tree(await _first(reads, await reads.get(job_id)), [])
    waiting, known = [root], {root.job.id}
    while waiting:
        node = waiting.pop()
        for job in await children_of(reads, node.job.id):
            if job.id not in known:  # parents are what callers said: they may go round in a circle
                known.add(job.id)
                node.children.append(Tree(job, []))
        if len(known) > JOBS_MAX:
            raise InvalidArgument(
                f"the tree of job {job_id} has more than {JOBS_MAX} jobs; find its parts by workflow_id"
            )
        waiting += node.children
    return root


async def again(reads: "Reads", job_id: str) -> list[Job]:
    """The jobs that run this one again, the newest first. They are children of it, among others."""
    children = await children_of(reads, job_id)
    found = [child for child in children if child.rerun_of == job_id]
    return sorted(found, key=lambda job: job.created_at, reverse=True)


async def _first(reads: "Reads", job: Job) -> Job:
    """The first of its parents that is there."""
    known = {job.id}
    while job.parent_job_id is not None and job.parent_job_id not in known:
        known.add(job.parent_job_id)
        try:
            job = await reads.get(job.parent_job_id)
        except NotFound:  # pruned, or never one of ours
            return job
    return job


async def children_of(reads: "Reads", job_id: str) -> list[Job]:
    found: list[Job] = []
    cursor: str | None = None
    while True:
        page = await reads.find(parent_job_id=job_id, limit=PAGE_MAX, cursor=cursor)
        found += page.items
        cursor = page.cursor
        if cursor is None or len(found) > JOBS_MAX:
            found.reverse()  # the oldest first, among those without a step
            return sorted(found, key=lambda job: (job.step_index is None, job.step_index or 0))
