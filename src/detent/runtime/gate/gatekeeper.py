"""The duty: find what waits for a verdict, ask the policy, and put its verdicts on the record.

Any number may run at once. A verdict is fenced by the revision that the policy was shown, so the first one stands and
the others are refused. What the policy could not be asked about stays where it is, and is asked about again later.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Final

from detent.client import Client, Job
from detent.errors import DetentError, Forbidden, PolicyError, Refused
from detent.kernel.clock import micros
from detent.kernel.command import Schedule
from detent.runtime.backing_off import Backoff, jittered
from detent.runtime.gate.gate import Gate
from detent.runtime.gate.verdicts import Verdict
from detent.runtime.observing import Observer
from detent.runtime.settings import Settings
from detent.store import Replies, Reply, Request
from detent.store.judging import unjudged_states

LATER_MAX: Final = 10_000  # jobs that are put off; any others that have no verdict are asked about at every look
FUTILE_MIN: Final = 4  # times in a row that it is woken for nothing, before it waits a little
PAUSE_S: Final = 0.002
PAUSE_MAX_S: Final = 0.1
TROUBLES_MAX: Final = 100  # told once each


class Gatekeeper:
    """A worker asks about the jobs that it would run itself: of its queues, and of the kinds it has handlers for.

    So a worker without a policy cannot let through what another worker's policy is to judge.
    """

    def __init__(
        self,
        client: Client,
        gate: Gate,
        *,
        worker: str,
        kinds: Sequence[str],
        settings: Settings,
        observer: Observer,
        ready: Callable[[], None],
    ) -> None:
        """`ready` is told when some have become claimable."""
        self._client = client
        self._gate = gate
        self._worker = worker
        self._kinds = tuple(kinds)
        self._settings = settings
        self._observer = observer
        self._ready = ready
        self._later: dict[str, tuple[float, Backoff]] = {}
        self._told: set[str] = set()
        self._end: str | None = None  # of the log, when it last looked
        self._is_woken = False
        self._futile = 0  # times in a row that it was woken for nothing

    async def run(self, lifecycles: Sequence[str] = ()) -> None:
        """For ever. It hears of new jobs at once if jobs of one of these lifecycles wait for a verdict."""
        patience, is_prompt = Backoff(), False
        while True:
            try:
                is_prompt = is_prompt or await self._is_prompt(lifecycles)
                judged = await self.walk()
                patience.succeeded()
            except Forbidden as denied:
                self._leave(denied, is_needed=is_prompt or self._gate.policy is not None)
                return
            except DetentError as error:
                self._tell(error)
                await patience.wait()
            else:
                await self._wait(is_prompt=is_prompt, was_futile=not judged)

    async def _is_prompt(self, lifecycles: Sequence[str]) -> bool:
        known = await self._client.lifecycles() if lifecycles else []
        return not {each.name for each, _ in unjudged_states(known)}.isdisjoint(lifecycles)

    async def walk(self) -> int:
        """Once through all that waits. Returns how many were judged."""
        store, tenant, queues = self._client.store, self._client.tenant, self._settings.queues
        judged, cursor, seen = 0, None, set[str]()
        while True:
            page = await store.unjudged(tenant, queues, self._kinds, self._settings.gate_max, cursor)
            seen.update(job.id for job in page)
            judged += await self._judge([Job(job, self._client.codec) for job in page if self._is_due(job.id)])
            cursor = page.cursor
            if cursor is None:
                break
        self._later = {job_id: later for job_id, later in self._later.items() if job_id in seen}
        if not self._later:
            self._told.clear()
        return judged

    async def _judge(self, jobs: Sequence[Job]) -> int:
        if not jobs:
            return 0
        verdicts = await self._gate.judge(jobs)
        answered = [(job, each) for job, each in zip(jobs, verdicts, strict=True) if isinstance(each, Verdict)]
        for job, each in zip(jobs, verdicts, strict=True):
            if isinstance(each, PolicyError):
                self._tell(each)
                self._put_off(job.id)
        return await self._record(answered)

    async def _record(self, answered: Sequence[tuple[Job, Verdict]]) -> int:
        """Those of one rate together: the store gives each its moment."""
        by_rate: dict[tuple[str, float] | None, list[tuple[Job, Verdict]]] = {}
        for job, verdict in answered:
            rate = None if verdict.every_s is None else (self._rule(verdict), verdict.every_s)
            by_rate.setdefault(rate, []).append((job, verdict))
        judged = 0
        for rate, given in by_rate.items():
            requests = [self._request(job, verdict) for job, verdict in given]
            judged += self._count(requests, await self._carried_out(requests, rate))
        return judged

    async def _carried_out(self, requests: list[Request], rate: tuple[str, float] | None) -> Replies:
        store, tenant = self._client.store, self._client.tenant
        if rate is None:
            return await store.apply(requests)
        return await store.pace(tenant, rate[0], max(micros(rate[1]), 1), requests)

    def _request(self, job: Job, verdict: Verdict) -> Request:
        command = Schedule(
            verdict=verdict.verdict, rule=self._rule(verdict), delay_s=verdict.delay_s, expected_rev=job.rev,
            role="scheduler", actor=self._worker,
        )  # fmt: skip
        return Request(job.tenant, job.id, command)

    def _rule(self, verdict: Verdict) -> str:
        return verdict.rule or self._gate.name

    def _count(self, requests: Sequence[Request], replies: Replies) -> int:
        """Another gate may have been first, which is as good. What is refused for any other reason is asked later."""
        done = [reply.job for reply in replies if isinstance(reply, Reply) and reply.answer == "applied"]
        others = {reply.job_id for reply in replies if isinstance(reply, Refused) and reply.code == "stale_rev"}
        for job_id in {request.job_id for request in requests} - {job.id for job in done} - others:
            self._put_off(job_id)  # a rate may have no moment for it yet
        for word, count in Counter(job.verdict or "" for job in done).items():
            self._observer.judged(word, count)
        if any(job.claim_at is not None for job in done):
            self._ready()
        return len(done)

    def _is_due(self, job_id: str) -> bool:
        later = self._later.get(job_id)
        return later is None or later[0] <= monotonic()

    def _put_off(self, job_id: str) -> None:
        if job_id not in self._later and len(self._later) >= LATER_MAX:
            return
        _, patience = self._later.get(job_id) or (0.0, Backoff())
        self._later[job_id] = monotonic() + patience.next_s(), patience

    def _leave(self, denied: Forbidden, *, is_needed: bool) -> None:
        """A token's scopes do not change: verdicts are somebody else's to give. Told of only where any are due."""
        if is_needed:
            self._tell(denied)

    def _tell(self, error: DetentError) -> None:
        """Once for each trouble, until all is well again: it comes back every few seconds."""
        if str(error) not in self._told and len(self._told) < TROUBLES_MAX:
            self._told.add(str(error))
            self._observer.troubled("gate", error)

    async def _wait(self, *, is_prompt: bool, was_futile: bool) -> None:
        """Until the log has grown, or a while. A log that grows by others' doing is looked at less and less often."""
        self._futile = self._futile + 1 if was_futile and self._is_woken else 0
        if not is_prompt:
            await asyncio.sleep(jittered(self._settings.gate_s))
            return
        before = self._end
        try:
            self._end = await self._client.store.wait(before, self._waiting_s() if before else 0)
        except DetentError as error:
            self._tell(error)
            await asyncio.sleep(jittered(self._settings.gate_s))
        self._is_woken = self._end != before
        if self._futile > FUTILE_MIN:
            await asyncio.sleep(min(PAUSE_S * 2 ** min(self._futile - FUTILE_MIN, 10), PAUSE_MAX_S))

    def _waiting_s(self) -> float:
        """No longer than until the first that was put off is due."""
        due_s = min((until_s for until_s, _ in self._later.values()), default=None)
        longest = jittered(self._settings.gate_s)
        return longest if due_s is None else max(min(longest, due_s - monotonic()), 0.01)
