"""All engines of a service: by connection, by name, and who of them is to get a job."""

from collections.abc import Iterable, Iterator, Set
from typing import Final

from detent.errors import ServiceError
from detent.kernel import Job
from detent.surfaces.engine_socket.engine import Engine

SHARE: Final = 0.9  # of all engines, for one tenant: whoever else comes still finds a place


class Roster:
    def __init__(self, engines_max: int) -> None:
        self._engines_max = engines_max
        self._by_sid: dict[str, Engine] = {}
        self._by_name: dict[tuple[str, str], Engine] = {}
        self._by_job: dict[tuple[str, str], Engine] = {}

    def add(self, engine: Engine) -> Engine | None:
        """The one of the same name that it takes the place of, if there is one. One that registers anew on its own
        connection keeps what it holds.
        """
        before = self._by_name.get((engine.tenant, engine.name))
        if before is None:
            self._check_room(engine.tenant)
        known = self.remove(engine.sid)
        if before is not None and before is not known:
            self.remove(before.sid)
        self._by_name[engine.tenant, engine.name] = self._by_sid[engine.sid] = engine
        if before is not None and before is known:
            for job_id, attempt in before.held.items():
                self.hold(engine, job_id, attempt)
            engine.take_over(before)
        return before

    def remove(self, sid: str) -> Engine | None:
        engine = self._by_sid.pop(sid, None)
        if engine is not None:
            del self._by_name[engine.tenant, engine.name]
            for job_id in engine.held:
                if self._by_job.get((engine.tenant, job_id)) is engine:
                    del self._by_job[engine.tenant, job_id]
        return engine

    def hold(self, engine: Engine, job_id: str, attempt: int) -> None:
        engine.hold(job_id, attempt)
        if self._by_sid.get(engine.sid) is engine:
            self._by_job[engine.tenant, job_id] = engine

    def release(self, engine: Engine, job_id: str) -> None:
        engine.release(job_id)
        if self._by_job.get((engine.tenant, job_id)) is engine:
            del self._by_job[engine.tenant, job_id]

    def of(self, sid: str) -> Engine | None:
        return self._by_sid.get(sid)

    def named(self, tenant: str, name: str) -> Engine | None:
        return self._by_name.get((tenant, name))

    def of_tenant(self, tenant: str) -> list[Engine]:
        return [engine for engine in self._by_sid.values() if engine.tenant == tenant]

    def holder(self, tenant: str, job_id: str) -> Engine | None:
        return self._by_job.get((tenant, job_id))

    @property
    def tenants(self) -> list[str]:
        return list(dict.fromkeys(engine.tenant for engine in self._by_sid.values()))

    def __iter__(self) -> Iterator[Engine]:
        return iter(list(self._by_sid.values()))

    def __len__(self) -> int:
        return len(self._by_sid)

    def _check_room(self, tenant: str) -> None:
        share = self._engines_max * SHARE
        if len(self) >= self._engines_max or len(self.of_tenant(tenant)) >= max(share, 1):
            raise ServiceError("too_many_engines")


def least_loaded(engines: Iterable[Engine], job: Job, passing: Set[str]) -> Engine | None:
    """Of those that have room for the job and have not let it pass: the one that is least busy for its capacity. Of
    several, the one whose last offer is longest ago.
    """
    able = [each for each in engines if each.room > 0 and each.can_run(job) and each.name not in passing]
    return min(able, key=lambda each: (each.load, each.offered_s, each.name), default=None)
