"""Stores that keep jobs rightly, and are wrong about limits per key, with one mistake each."""

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from detent.kernel import Job
from detent.store import ClaimRequest, Plan, Pruned, Replies, Retention, plan_claim
from detent.store.limits import KeyReport, KeyUse, Rate
from detent.testing import MemoryStore, asking
from detent.testing.shelf import Shelf


class Blind:
    """Facts of a shelf, but for what is said here."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def __getattr__(self, name: str) -> Any:
        return getattr(self._shelf, name)

    def use(self, tenant: str, limit_key: str) -> KeyUse | None:
        return KeyUse()


class OtherFacts(MemoryStore):
    """It tells the planning something else when it claims."""

    facts: type[Blind] = Blind

    async def claim(self, request: ClaimRequest, tx: Any = None) -> Replies:
        return self._write(lambda shelf: self._planned(shelf, request), tx)

    def _planned(self, shelf: Shelf, request: ClaimRequest) -> Plan:
        return plan_claim(request, self._due(shelf, request), self.facts(shelf), shelf.now)

    def _due(self, shelf: Shelf, request: ClaimRequest) -> Iterable[Job]:
        return asking.claimable(shelf, request)


class CountsNoLeases(OtherFacts):
    """Within a claim it does."""


class CountsWhatIsStartedOnly(OtherFacts):
    class facts(Blind):  # noqa: N801 - in the place of the other
        def use(self, tenant: str, limit_key: str) -> KeyUse | None:
            use = self._shelf.use(tenant, limit_key)
            held = [job for job in self._shelf.jobs.values() if job.phase == "held" and job.spec.limit_key == limit_key]
            return replace(use, leased=use.leased - len(held))


class SharesLimitsAmongTenants(OtherFacts):
    class facts(Blind):  # noqa: N801
        def use(self, tenant: str, limit_key: str) -> KeyUse | None:
            uses = [self._shelf.use(each, limit_key) for each in ("default", "other")]
            limits = [use.strictest for use in uses if use.strictest is not None]
            return KeyUse(sum(use.leased for use in uses), min(limits, default=None), uses[0].rate)


class CountsQueuesApart(OtherFacts):
    """A key in one queue is another in the next."""

    def _planned(self, shelf: Shelf, request: ClaimRequest) -> Plan:
        class Apart(Blind):
            def use(self, tenant: str, limit_key: str) -> KeyUse | None:
                held = [job for job in shelf.jobs.values() if job.is_leased and job.spec.queue in request.queues]
                of_key = [job for job in held if job.spec.limit_key == limit_key and job.spec.tenant == tenant]
                return replace(shelf.use(tenant, limit_key), leased=len(of_key))

        return plan_claim(request, self._due(shelf, request), Apart(shelf), shelf.now)


class AllowsWhatTheNewestAllows(OtherFacts):
    """Whoever holds the key already is not asked."""

    class facts(Blind):  # noqa: N801
        def use(self, tenant: str, limit_key: str) -> KeyUse | None:
            return replace(self._shelf.use(tenant, limit_key), strictest=None)


class ForgetsTheRate(OtherFacts):
    class facts(Blind):  # noqa: N801
        def use(self, tenant: str, limit_key: str) -> KeyUse | None:
            return replace(self._shelf.use(tenant, limit_key), rate=Rate())


class GivesUpAtTheFirstUsedUpKey(OtherFacts):
    def _planned(self, shelf: Shelf, request: ClaimRequest) -> Plan:
        passed: set[str] = set()

        def until_one_is_passed() -> Iterable[Job]:
            for job in self._due(shelf, request):
                if passed:
                    return
                yield job

        return plan_claim(request, until_one_is_passed(), shelf, shelf.now, passed=passed)


class LooksAThousandFar(OtherFacts):
    """And never beyond, whatever stands there."""

    def _planned(self, shelf: Shelf, request: ClaimRequest) -> Plan:
        return plan_claim(request, asking.claimable(shelf, request)[:1_000], shelf, shelf.now)


class KeepsRatesForEver(MemoryStore):
    async def prune(self, tenant: str, retention: Retention, limit: int) -> Pruned:
        rates = dict(self.shelf.rates)
        pruned = await super().prune(tenant, retention, limit)
        self.shelf.rates = rates
        return pruned


class PrunesEveryRate(MemoryStore):
    async def prune(self, tenant: str, retention: Retention, limit: int) -> Pruned:
        self.shelf.rates.clear()
        return await super().prune(tenant, retention, limit)


class NamesWhoeverWaits(MemoryStore):
    async def key_use(self, tenant: str, limit_key: str) -> KeyReport:
        report = await super().key_use(tenant, limit_key)
        waiting = [job.id for job in self.shelf.jobs.values() if job.spec.limit_key == limit_key]
        return KeyReport(report.use, [(job_id, "w1") for job_id in waiting])


class NamesTheHoldersOfAllTenants(MemoryStore):
    async def key_use(self, tenant: str, limit_key: str) -> KeyReport:
        return await super().key_use("default", limit_key)
