"""Real stores beside the model: everything is asked of all of them, and all must answer and hold the same."""

from collections.abc import Callable
from random import Random
from typing import Any, Final

from msgspec.structs import asdict, replace

from detent.client import Client, Codec
from detent.client.sync import run
from detent.errors import Refused
from detent.kernel import Event, Job
from detent.kernel.fold import differences, fold
from detent.lifecycle import Lifecycle
from detent.store import ClaimRequest, JobQuery, Reply, Request, Retention, Store, Story
from detent.store.clock import Random as Dice
from detent.store.query import COUNTED_BY
from tests.store.model import Answer, Key, Model
from tests.store.sites import Make, Site

START: Final = 1_738_425_600_123_456
ALL: Final = 1_000


class World:
    """Sites and the model, with one clock for all. Each site has as many stores as is said with what makes them.

    Each draws from a generator of its own, seeded alike: the same seed gives the same history everywhere.
    """

    def __init__(self, lifecycles: list[Lifecycle], seed: int, sites: list[tuple[Make, int]]) -> None:
        self.now = START
        self.lifecycles = lifecycles
        self.model, self._model_random = Model(lifecycles), Random(seed)
        self._sites = [Site(self._opening(make, Random(seed).random), stores=stores) for make, stores in sites]

    def apply(self, requests: list[Request]) -> list[Answer]:
        expected = self.model.apply(requests, self.now, self._model_random.random)
        for store in self._writers():
            self._compare(run(store.apply(requests)), expected)
        return expected

    def claim(self, request: ClaimRequest) -> None:
        expected = self.model.claim(request, self.now)
        for store in self._writers():
            self._compare(run(store.claim(request)), expected)

    def reconcile(self, limit: int) -> None:
        expected = self.model.reconcile(limit, self.now, self._model_random.random)
        for store in self._writers():
            self._compare(run(store.reconcile(limit)), expected)

    def limit_queue(self, tenant: str, queue: str, depth_max: int | None) -> None:
        self.model.depths_max[tenant, queue] = depth_max
        for store in self._writers():
            run(store.limit_queue(tenant, queue, depth_max))

    def pause_queue(self, tenant: str, queue: str, *, is_paused: bool) -> None:
        (self.model.paused.add if is_paused else self.model.paused.discard)((tenant, queue))
        for store in self._writers():
            run(store.pause_queue(tenant, queue, "ann", None) if is_paused else store.resume_queue(tenant, queue))

    def prune(self, tenant: str, retention: Retention) -> None:
        self.model.prune(tenant, retention, self.now)
        for store in self._writers():
            run(store.prune(tenant, retention, ALL))

    def purge(self, tenant: str, job_ids: list[str]) -> None:
        expected = self.model.purge(tenant, job_ids)
        for store in self._writers():
            removed = run(store.purge(tenant, job_ids))
            assert (removed.jobs, removed.events) == expected

    def reopen(self) -> None:
        for site in self._sites:
            site.reopen()

    def compare(self) -> None:
        """Read everything back, through the store that did not write last."""
        for site in self._sites:
            self._compare_site(site.reader)

    def close(self) -> None:
        stores = [store for site in self._sites for store in site.stores]
        try:
            for store in stores:
                self._verify(store)
        finally:
            for store in stores:
                run(store.close())

    def _compare_site(self, store: Store) -> None:
        told = {_key(story.job): story for story in run(store.stories(None, ALL)).items}
        assert list(told) == list(self.model.jobs), "the same jobs, in the order in which they were made"
        for key, story in told.items():
            self._compare_story(key, story)
        for tenant in {tenant for tenant, _ in told}:
            jobs = {key[1]: story.job for key, story in told.items() if key[0] == tenant}
            assert run(store.get(tenant, [*jobs, "nobody"])) == [*jobs.values(), None]
            assert run(store.count(JobQuery(tenant=tenant), COUNTED_BY)) == self.model.counts(tenant)

    def _compare_story(self, key: Key, story: Story) -> None:
        _compare_jobs(story.job, self.model.jobs[key])
        lifecycle = self._lifecycle(story.job)
        expected = self.model.events[key]
        shown = [_named(event, other, lifecycle) for event, other in zip(story.events, expected, strict=True)]
        assert shown == expected
        assert story.notes == self.model.notes[key]
        assert not differences(fold(story.events), story.job), "ALL-15: the log folds to the record"

    def _compare(self, replies: list[Answer], expected: list[Answer]) -> None:
        assert len(replies) == len(expected)
        for reply, other in zip(replies, expected, strict=True):
            assert type(reply) is type(other), f"{reply!r} is not {other!r}"
            if isinstance(reply, Reply) and isinstance(other, Reply):
                assert reply.answer == other.answer
                _compare_jobs(reply.job, other.job)
            elif isinstance(reply, Refused):
                assert vars(reply) == vars(other), f"{reply} is not {other}"

    def _writers(self) -> list[Store]:
        return [site.next_writer() for site in self._sites]

    def _opening(self, make: Make, random: Dice) -> Callable[[], Store]:
        def opened() -> Store:
            store = make(self._clock, random)
            run(store.open())
            run(store.register(*self.lifecycles))
            return store

        return opened

    def _verify(self, store: Store) -> None:
        client = Client(store, tenant="default", codec=Codec(), lifecycles=())
        report = run(client.verify(all_tenants=True))
        assert report.is_clean, report.violations

    def _lifecycle(self, job: Job) -> Lifecycle:
        return self.model.lifecycles[job.spec.lifecycle, job.spec.lifecycle_version]

    def _clock(self) -> int:
        return self.now


def _key(job: Job) -> Key:
    return job.spec.tenant, job.spec.id


def _named(event: Event, expected: Event, lifecycle: Lifecycle) -> Event:
    """Where every request has a name, one that came without gets one; which, is the store's to choose."""
    if expected.request_id is None and lifecycle.requires_rev and event.request_id is not None:
        return replace(event, request_id=None)
    return event


def _compare_jobs(job: Job, expected: Job) -> None:
    """Field by field, so that a difference is named."""
    shown, wanted = _fields(job), _fields(expected)
    assert {name: (shown[name], wanted[name]) for name in wanted if shown[name] != wanted[name]} == {}


def _fields(job: Job) -> dict[str, Any]:
    return asdict(job) | {f"spec.{name}": value for name, value in asdict(job.spec).items()}
