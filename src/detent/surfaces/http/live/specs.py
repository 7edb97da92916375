"""Which queue and kind an event's job has: events do not say, but for the first of each job."""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Final, NamedTuple

from detent.kernel import Event
from detent.store.protocol import Store
from detent.store.query import PAGE_MAX


class Belonging(NamedTuple):
    """Where a job belongs; of one that is gone, nobody knows."""

    queue: str | None
    kind: str | None


_NOWHERE: Final = Belonging(None, None)


class Specs:
    """Of so many jobs at most: those that were last heard of. A job keeps its queue and its kind."""

    def __init__(self, store: Store, tenant: str, jobs_max: int) -> None:
        self._store = store
        self._tenant = tenant
        self._jobs_max = jobs_max
        self._known: OrderedDict[str, Belonging] = OrderedDict()

    async def of(self, events: Sequence[Event]) -> list[Belonging]:
        """One for each event. Whatever is not known is asked for in one go."""
        assert len(events) <= PAGE_MAX
        told = {event.job_id: told for event in events if (told := _told(event)) is not None}
        known = {event.job_id: self._known.get(event.job_id) for event in events} | told
        unknown = [job_id for job_id, belonging in known.items() if belonging is None]
        if unknown:
            jobs = await self._store.get(self._tenant, unknown)
            known |= {job.id: Belonging(job.spec.queue, job.spec.kind) for job in jobs if job is not None}
        self._keep({job_id: belonging for job_id, belonging in known.items() if belonging is not None})
        return [known[event.job_id] or _NOWHERE for event in events]

    def _keep(self, fresh: dict[str, Belonging]) -> None:
        for job_id, belonging in fresh.items():
            self._known[job_id] = belonging
            self._known.move_to_end(job_id)
        while len(self._known) > self._jobs_max:
            self._known.popitem(last=False)

    def clear(self) -> None:
        self._known.clear()

    def __len__(self) -> int:
        return len(self._known)


def _told(event: Event) -> Belonging | None:
    """What the first event of a job says; its payload may have expired."""
    if event.verb != "enqueue" or event.payload is None or not {"queue", "kind"} <= event.payload.keys():
        return None
    return Belonging(event.payload["queue"], event.payload["kind"])
