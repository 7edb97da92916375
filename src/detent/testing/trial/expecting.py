"""What a test expects of jobs: that they were made, and the way they went. Without an event loop and beside one."""

from collections.abc import Iterator
from typing import Any, Literal

from detent.app import App, JobFunction, JobHandle
from detent.client import Event, Job
from detent.errors import InvalidArgument
from detent.store import JobQuery
from detent.store.query import PAGE_MAX
from detent.testing.trial.loops import anywhere
from detent.testing.trial.wanted import Wanted, shown_call

Kind = str | JobFunction[..., ..., Any, Any]
Named = JobHandle[Any] | Job | str
By = Literal["state", "verb", "event"]


class Expecting:
    app: App

    def made(self, job: Kind | None = None, *, tenant: str | None = None) -> list[Job]:
        """The jobs of this kind, or all, that there are now, in the order in which they were made."""
        return anywhere(self._made(None if job is None else kind_of(job), tenant))

    def assert_enqueued(self, job: Kind, *, times: int | None = None, **expected: Any) -> JobHandle[Any]:
        """That such a job was made: with these arguments of its function, and these options of `enqueue`.

        What is not named may be anything. `times`: exactly so many. It answers with the handle of the first.
        """
        __tracebackhide__ = True
        wanted = Wanted(job, expected)
        jobs = self.made(job, tenant=expected.get("tenant"))
        found = [each for each in jobs if not wanted.differences(each)]
        if not found or (times is not None and len(found) != times):
            raise AssertionError(self._not_found(wanted, jobs, found, times))
        return self.app.handle(found[0].id, tenant=found[0].tenant, result=wanted.result)

    def assert_not_enqueued(self, job: Kind, **expected: Any) -> None:
        """That no such job was made."""
        __tracebackhide__ = True
        wanted = Wanted(job, expected)
        found = [each for each in self.made(job, tenant=expected.get("tenant")) if not wanted.differences(each)]
        if found:
            lines = "\n".join(f"  {shown_call(each)}" for each in found)
            raise AssertionError(f"{wanted} was enqueued:\n{lines}")

    def assert_path(self, job: Named, *path: Any, by: By = "state") -> None:
        """That the job went this way: its states in their order, or, with `by`, the verbs or the events.

        `...` stands for any number of steps. Heartbeats, which lead nowhere, are left out.
        """
        __tracebackhide__ = True
        gone = self.path(job, by=by)
        if not _fits(path, gone):
            wanted = " → ".join("…" if step is ... else str(step) for step in path)
            raise AssertionError(
                f"job {_id(job)} did not go this way:\n  wanted: {wanted}\n  went:   {' → '.join(gone)}"
            )

    def path(self, job: Named, *, by: By = "state") -> list[str]:
        """The way a job has gone so far."""
        if by not in ("state", "verb", "event"):
            raise InvalidArgument(f"by is {by!r}; give 'state', 'verb' or 'event'")
        handle = job if isinstance(job, JobHandle) else self.app.handle(_id(job))
        events = anywhere(handle.ahistory())
        return list(_steps(events, by))

    async def _made(self, kind: str | None, tenant: str | None) -> list[Job]:
        own = await self.app.aclient()
        query = JobQuery(tenant=tenant or own.tenant, kind=kind)
        found: list[Job] = []
        cursor: str | None = None
        while True:
            page = await own.store.find(query, PAGE_MAX, cursor)
            found += [Job(record, own.codec) for record in page.items]
            cursor = page.cursor
            if cursor is None:
                return found[::-1]

    def _not_found(self, wanted: Wanted, jobs: list[Job], found: list[Job], times: int | None) -> str:
        if found:
            lines = "\n".join(f"  {shown_call(each)}" for each in found)
            return f"{wanted} was enqueued {len(found)} times, not {times}:\n{lines}"
        if jobs:
            lines = "\n".join(f"  {shown_call(each)}\n    {'; '.join(wanted.differences(each))}" for each in jobs)
            return f"{wanted} was not enqueued. What there is of it, and how it differs:\n{lines}"
        others = ", ".join(sorted({each.kind for each in self.made()}))
        there = f"there are jobs of {others}" if others else "there is no job at all"
        return f"no '{wanted.kind}' was enqueued; {there}"


def _steps(events: list[Event], by: By) -> Iterator[str]:
    for event in events:
        if event.verb != "renew":
            yield {"state": event.to_state, "verb": event.verb, "event": event.type}[by]


def _fits(wanted: tuple[Any, ...], gone: list[str]) -> bool:
    if not wanted:
        return not gone
    if wanted[0] is ...:
        return any(_fits(wanted[1:], gone[skipped:]) for skipped in range(len(gone) + 1))
    return bool(gone) and wanted[0] == gone[0] and _fits(wanted[1:], gone[1:])


def kind_of(job: Kind) -> str:
    return job if isinstance(job, str) else job.kind


def _id(job: Named) -> str:
    return job if isinstance(job, str) else job.id
