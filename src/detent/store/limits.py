"""Limits per key: what is known of a key's use, whether it takes one more job, and what a claim makes of it. Pure.

The rate is counted over a window that moves along: in any `per_s` seconds there are at most `rate_max` claims, at every
moment, and those may come all at once. Claims are remembered one by one, and where there are many, in bundles that
count as long as their last one does: so a bundle can hold a claim back a little, and never lets one through too soon.
"""

from collections.abc import Iterable
from typing import Final, Protocol

from msgspec import Struct
from msgspec.structs import replace

from detent.kernel import Job
from detent.lifecycle import Limit

BUNDLES_MAX: Final = 128  # that are kept of a key
SLICES: Final = 64  # of the window: how long a bundle is at most
HOLDERS_MAX: Final = 20  # that are named
LimitKey = tuple[str, str]  # tenant and key


class Bundle(Struct, frozen=True, gc=False, array_like=True):
    """Claims that are close together."""

    first_at: int
    last_at: int
    claims: int


class Rate(Struct, frozen=True, gc=False):
    """The claims of a key, as far back as the longest window it was asked for. It takes none before `full_until`."""

    bundles: tuple[Bundle, ...] = ()
    kept_us: int = 0
    full_until: int = 0

    @property
    def expires_at(self) -> int:
        """From then on it says nothing any more."""
        return self.bundles[-1].last_at + self.kept_us if self.bundles else 0


class KeyUse(Struct, frozen=True, gc=False):
    """What is known of a key: how many of its jobs are leased, the least `concurrency_max` among them, its rate."""

    leased: int = 0
    strictest: int | None = None
    rate: Rate = Rate()


class KeyRate(Struct, frozen=True, gc=False):
    """A rate that is to be kept."""

    tenant: str
    limit_key: str
    rate: Rate


class KeyReport(Struct, frozen=True, gc=False):
    """The use of a key, for whoever asks why a job waits. `holders`: ids of jobs, with the workers that have them."""

    use: KeyUse
    holders: list[tuple[str, str]]


class UseFacts(Protocol):
    def use(self, tenant: str, limit_key: str) -> KeyUse | None: ...


class KeyUses:
    """The use of keys with the effects of the plan so far."""

    def __init__(self, facts: UseFacts) -> None:
        self._facts = facts
        self._known: dict[LimitKey, KeyUse | None] = {}
        self._left: dict[LimitKey, int] = {}  # how many leases were given up
        self._written: set[LimitKey] = set()

    def admits(self, job: Job, now: int) -> bool:
        """Whether the job's key takes it now. One that somebody else is counting does not."""
        key, limit = _key(job), job.spec.policy.limit
        use = self._use(key)
        return (
            use is not None and has_place(limit, use, self._left.get(key, 0)) and free_at(limit, use.rate, now) <= now
        )

    def took(self, job: Job, now: int) -> None:
        """One that was admitted was claimed."""
        key, limit = _key(job), job.spec.policy.limit
        use = self._use(key)
        if use is None:
            return
        rate = use.rate
        if limit is not None and limit.rate_max is not None:
            rate = counted(limit, rate, now)
            self._written.add(key)
        self._known[key] = KeyUse(use.leased + 1, strictest_of(limit, use), rate)

    def left(self, job: Job) -> None:
        """A lease was given up."""
        key = _key(job)
        self._left[key] = self._left.get(key, 0) + 1

    def rates(self) -> list[KeyRate]:
        """In a fixed order, so that two who write several do not wait for each other in a ring."""
        written = [(key, use) for key in sorted(self._written) if (use := self._known[key]) is not None]
        return [KeyRate(*key, use.rate) for key, use in written]

    def _use(self, key: LimitKey) -> KeyUse | None:
        if key not in self._known:
            self._known[key] = self._facts.use(*key)
        return self._known[key]


def has_place(limit: Limit | None, use: KeyUse, left: int = 0) -> bool:
    """Whether one more may be leased: no job runs beside more of its key than it allows, whichever came first."""
    strictest = strictest_of(limit, use)
    return strictest is None or use.leased - left < strictest


def strictest_of(limit: Limit | None, use: KeyUse) -> int | None:
    """How many may be leased at once, by this job and by those that are; None: any number."""
    return _least(use.strictest, None if limit is None else limit.concurrency_max)


def free_at(limit: Limit | None, rate: Rate, now: int) -> int:
    """When the rate takes one more: now, or as soon as enough claims are out of the window."""
    if rate.full_until > now:
        return rate.full_until
    if limit is None or limit.rate_max is None:
        return now
    inside = [each for each in rate.bundles if each.last_at > now - limit.per_us]
    claims = sum(each.claims for each in inside)
    for each in inside:
        if claims < limit.rate_max:
            break
        claims -= each.claims
        now = each.last_at + limit.per_us
    return now


def counted(limit: Limit, rate: Rate, now: int) -> Rate:
    """The rate after one more claim."""
    kept = [each for each in rate.bundles if each.last_at > now - max(rate.kept_us, limit.per_us)]
    kept_us = max(rate.kept_us, limit.per_us) if kept else limit.per_us
    if kept and kept[-1].last_at >= now:  # the same moment; or the clock went back, and it counts as the last one
        kept[-1] = replace(kept[-1], claims=kept[-1].claims + 1)
    else:
        kept.append(Bundle(now, now, 1))
    bundles = tuple(kept if len(kept) <= BUNDLES_MAX else _bundled(kept, kept_us // SLICES))
    after = Rate(bundles, kept_us)
    free = free_at(limit, after, now)
    return replace(after, full_until=free if free > now else 0)


def used_up(uses: Iterable[tuple[str, KeyUse]], now: int) -> set[str]:
    """Keys that take no job at all."""
    return {key for key, use in uses if not has_place(None, use) or use.rate.full_until > now}


def _bundled(bundles: Iterable[Bundle], width_us: int) -> list[Bundle]:
    made: list[Bundle] = []
    for each in bundles:
        if made and each.last_at - made[-1].first_at <= width_us:
            made[-1] = Bundle(made[-1].first_at, each.last_at, made[-1].claims + each.claims)
        else:
            made.append(each)
    return made


def _least(first: int | None, second: int | None) -> int | None:
    if first is None or second is None:
        return second if first is None else first
    return min(first, second)


def _key(job: Job) -> LimitKey:
    assert job.spec.limit_key is not None, "asked of jobs that have one"
    return job.spec.tenant, job.spec.limit_key
