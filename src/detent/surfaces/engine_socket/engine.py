"""An engine that is connected: what it can do, what it holds, and what it is offered."""

from collections import OrderedDict
from datetime import datetime
from typing import Final

from detent.kernel import Job
from detent.store.clock import new_id
from detent.wire.engine_messages import Register

Lanes = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...] | None]  # queues, kinds and adapters
REMEMBERED_MAX: Final = 1_000  # offers that have lapsed: an acknowledgement may come late


class Engine:
    """One connection. The jobs it holds are on the record; what is known here is which of them this engine runs."""

    def __init__(self, sid: str, tenant: str, said: Register, since: datetime) -> None:
        self.sid = sid
        self.tenant = tenant
        self.since = since
        self.version = said.version
        self.name = said.engine_id
        self.kinds = tuple(dict.fromkeys(said.job_types))
        self.queues = tuple(dict.fromkeys(said.queues))
        self.adapters = None if said.adapters is None else frozenset(said.adapters)
        self.capacity = said.capacity
        # Of a start that is said twice the second changes nothing; another process of the same name is not the same.
        self._names_instance = said.instance_id is not None
        self.instance = said.instance_id or new_id()
        self.held: dict[str, int] = {}  # jobs, with their attempts
        self.offers: dict[str, float] = {}  # jobs, with the moment until which they are offered
        self.is_listed = False  # among the workers
        self.is_silent = False  # it let an offer lapse, and has said nothing since; for a while it gets no other
        self._silent_until_s = 0.0
        self.offered_s = 0.0
        self._lapsed: OrderedDict[str, None] = OrderedDict()
        self._past: OrderedDict[str, int] = OrderedDict()  # jobs that it held, with their attempts

    @property
    def lanes(self) -> Lanes:
        return self.queues, self.kinds, None if self.adapters is None else tuple(sorted(self.adapters))

    @property
    def room(self) -> int:
        return 0 if self.is_silent else max(self.capacity - len(self.held) - len(self.offers), 0)

    @property
    def load(self) -> float:
        return (len(self.held) + len(self.offers)) / self.capacity if self.capacity else 1.0

    def can_run(self, job: Job) -> bool:
        spec = job.spec
        has_adapter = self.adapters is None or spec.adapter_id is None or spec.adapter_id in self.adapters
        return spec.kind in self.kinds and spec.queue in self.queues and has_adapter

    def take_over(self, before: "Engine") -> None:
        """What is known of the same connection, which has registered anew."""
        self.offers, self._lapsed, self._past = before.offers, before._lapsed, before._past
        self.since = before.since
        if not self._names_instance:
            self.instance = before.instance

    def fall_silent(self, until_s: float) -> None:
        self.is_silent, self._silent_until_s = True, until_s

    def listen_again(self, now_s: float) -> None:
        """After a while it may have another chance, though it has said nothing."""
        if now_s >= self._silent_until_s:
            self.is_silent = False

    def offer(self, job_id: str, *, now_s: float, until_s: float) -> None:
        self.offers[job_id] = until_s
        self.offered_s = now_s

    def was_offered(self, job_id: str) -> bool:
        return job_id in self.offers or job_id in self._lapsed

    def lapse(self, job_id: str) -> None:
        """The offer stands no more; whoever acknowledges it all the same may still be the first."""
        if self.offers.pop(job_id, None) is not None:
            self._lapsed[job_id] = None
            if len(self._lapsed) > REMEMBERED_MAX:
                self._lapsed.popitem(last=False)

    def lapsed(self, now_s: float) -> list[str]:
        return [job_id for job_id, until_s in self.offers.items() if until_s <= now_s]

    def hold(self, job_id: str, attempt: int) -> None:
        self.offers.pop(job_id, None)
        self._lapsed.pop(job_id, None)
        self.held[job_id] = attempt

    def release(self, job_id: str) -> None:
        attempt = self.held.pop(job_id, None)
        if attempt is not None:
            self._past[job_id] = attempt
            if len(self._past) > REMEMBERED_MAX:
                self._past.popitem(last=False)

    def withdraw(self, job_id: str) -> None:
        """It is not to be had any more."""
        self.offers.pop(job_id, None)
        self._lapsed.pop(job_id, None)

    def fence_of(self, job_id: str) -> tuple[str, int]:
        """Of a job that it holds: whose it is, and by which attempt."""
        return self.name, self.held[job_id]

    def attempt_of(self, job_id: str, said: int | None) -> int | None:
        """What is said of a job that it held is a repeat, or comes too late; the record knows."""
        return self.held.get(job_id, self._past.get(job_id)) if said is None else said
