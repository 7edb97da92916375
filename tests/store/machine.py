"""Whatever can be asked of a store, in whatever order, with the model beside it."""

import shutil
import tempfile
from pathlib import Path
from random import Random
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from msgspec.structs import replace

from detent.errors import InvalidArgument
from detent.kernel import Error, Job
from detent.kernel.command import Cancel, Claim, Command, Complete, Enqueue, Fail, Rerun
from detent.lifecycle import Compensation, Lifecycle, Limit, Policy, Retry
from detent.lifecycle.soundness import check_policy
from detent.lifecycles import BUILT_IN
from detent.store import ClaimRequest, Request, Retention
from tests.postgres.shared import Shared
from tests.store.comparing import World
from tests.store.sites import Make, in_file, in_memory, on_postgres
from tests.strategies import WORKERS, coin, random_command, random_lifecycle, random_owner_command, random_policy

TENANTS: Final = ("default", "acme")
KINDS: Final = ("scan", "mail")
QUEUES: Final = ("default", "ocr", "narrow")
UNDOING: Final = "undoing"
NARROW: Final = "narrow"  # the queue that is limited
# Most jobs are alike, so that many wait in one line.
MOSTLY: Final[dict[str, tuple[Any, ...]]] = {
    "tenant": ("default", "default", "default", "acme"),
    "kind": ("scan", "scan", "scan", "mail"),
    "queue": ("default", "default", "default", "ocr", NARROW, NARROW),
    "adapter_id": (None, None, None, None, "gpu", "cpu"),
}
# Keys with limits. Those of one key differ in how many may be leased, and share one window, as the model has it.
LIMITED: Final[tuple[tuple[str | None, Limit | None], ...]] = (
    ("k", Limit(concurrency_max=1)), ("k", Limit(concurrency_max=2)), ("k", None), (None, Limit(concurrency_max=2)),
    ("r", Limit(rate_max=1, per_s=10)), ("r", Limit(rate_max=3, per_s=10)),
    ("b", Limit(concurrency_max=2, rate_max=2, per_s=10)),
)  # fmt: skip
JOB_IDS: Final = tuple("abcdefgh")
REQUEST_IDS: Final = ("r1", "r2", "r3", "r4")
WAITS_S: Final = (0.0, 0.4, 1.0, 4.0, 9.0, 12.0, 31.0, 61.0, 4 * 86_400.0, -0.5, -40.0)

seeds = st.integers(0, 2**32).map(Random)


class Differential(RuleBasedStateMachine):
    """Hypothesis picks what happens; a generator that it seeds picks the details, so that jobs get far."""

    def sites(self) -> list[tuple[Make, int]]:
        """Where everything is asked, and by how many stores in turn."""
        return [(in_file(self.folder), 2), (in_memory(), 1)]

    @initialize(rng=seeds)
    def begin(self, rng: Random) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="detent-differential-"))
        own = [replace(random_lifecycle(rng), version=version) for version in (1, 2)]
        self.world = World([*BUILT_IN.values(), *own], rng.getrandbits(32), self.sites())
        self.fresh = 0
        self.asked: list[Request] = []
        self.claims: list[ClaimRequest] = []

    @rule(rng=seeds)
    def enqueue(self, rng: Random) -> None:
        for _ in range(3):
            self._ask([self._enqueue(rng)])

    @rule(rng=seeds, queue=st.sampled_from(["default", NARROW]), depth_max=st.sampled_from([3, 1, None]))
    def queue_up(self, rng: Random, queue: str, depth_max: int | None) -> None:
        """Jobs that are alike, under ids made up for them: one by one, then some in a batch."""
        if queue == NARROW:
            self.world.limit_queue("default", NARROW, depth_max)
        ready = [each for each in self.world.lifecycles if each.table.start.leg.state.phase == "ready"]
        made = [self._fresh(rng, rng.choice(ready), queue) for _ in range(5)]
        for request in made[:2]:
            self._ask([request])
        self._ask(made[2:])

    @rule(rng=seeds)
    def ask(self, rng: Random) -> None:
        self._ask([self._about_some_job(rng)])

    @rule(rng=seeds)
    def ask_several_times(self, rng: Random) -> None:
        for _ in range(4):
            self._ask([self._about_some_job(rng)])

    @rule(rng=seeds)
    def work_on(self, rng: Random) -> None:
        """The owner of some job says what an owner may say; at first that it is still there."""
        leased = [key for key, job in self.world.model.jobs.items() if job.is_leased]
        key = rng.choice(leased) if leased else None
        for only in ("renew", None, "renew", None):
            job = None if key is None else self.world.model.jobs[key]
            if job is not None and job.is_leased:
                command = random_owner_command(rng, self._lifecycle(job), job, only=only)
                self._ask([Request(job.spec.tenant, job.id, command)])

    @rule(rng=seeds)
    def ask_in_a_batch(self, rng: Random) -> None:
        """Some of them of the same job."""
        made = [self._enqueue(rng) if rng.random() < 0.3 else self._about_some_job(rng) for _ in range(5)]
        made += [self._about(rng, request.tenant, request.job_id) for request in made[:2]]
        self._ask(made)

    @precondition(lambda self: self.asked)
    @rule(rng=seeds)
    def ask_again(self, rng: Random) -> None:
        self._ask([rng.choice(self.asked)])

    @precondition(lambda self: self.asked)
    @rule(rng=seeds)
    def ask_something_else_under_the_same_id(self, rng: Random) -> None:
        first = rng.choice(self.asked)
        other = self._enqueue(rng) if first.lifecycle is not None else self._about(rng, first.tenant, first.job_id)
        if isinstance(other.command, Claim):
            return
        self._ask([replace(other, command=replace(other.command, request_id=first.command.request_id))])

    @rule(rng=seeds)
    def claim(self, rng: Random) -> None:
        request = self._claim(rng)
        self.world.claim(request)
        if request.command.request_id is not None:
            self.claims.append(request)

    @rule(rng=seeds)
    def claim_in_turn(self, rng: Random) -> None:
        """Whatever waits in the queue of some job."""
        waiting = [job.spec for job in self.world.model.jobs.values() if job.claim_at is not None]
        for _ in range(3 if waiting else 0):
            spec, worker = rng.choice(waiting), rng.choice(WORKERS)
            claim = Claim(worker=worker, start=coin(rng))
            self.world.claim(ClaimRequest(spec.tenant, claim, (spec.queue,), limit=rng.choice([1, 1, 2])))

    @rule(rng=seeds)
    def work_in_vain(self, rng: Random) -> None:
        """A job that says how to undo it, what comes of it, and of that; each may be run again at any time."""
        ready = [each for each in self.world.lifecycles if each.table.start.leg.state.phase == "ready"]
        made = self._fresh(rng, rng.choice(ready), UNDOING)
        policy = Policy(lease_s=30, retry=Retry.never(), compensate=random_compensation(rng), rerun_failed=coin(rng))
        self._ask([replace(made, command=replace(made.command, policy=policy))])
        for _ in range(3):
            self.world.claim(ClaimRequest("default", Claim(worker="w1", start=rng.random() < 0.8), (UNDOING,)))
            there = [job for job in self.world.model.jobs.values() if job.spec.queue == UNDOING]
            self._ask([self._ending(rng, job) for job in there if job.is_leased])
            again = rng.choice([job for job in self.world.model.jobs.values() if job.spec.queue == UNDOING] or [None])
            if again is not None:
                rerun = Rerun(new_job_id=rng.choice(JOB_IDS), expected_rev=again.rev)
                self._ask([Request(again.spec.tenant, again.id, rerun)])
            self.wait(rng.choice([0.0, 31.0]))

    @precondition(lambda self: self.claims)
    @rule(rng=seeds)
    def claim_again(self, rng: Random) -> None:
        self.world.claim(rng.choice(self.claims))

    @rule(seconds=st.sampled_from(WAITS_S))
    def wait(self, seconds: float) -> None:
        self.world.now += round(seconds * 1_000_000)

    @rule(limit=st.sampled_from([1, 2, 3, 100]))
    def reconcile(self, limit: int) -> None:
        self.world.reconcile(limit)

    @rule(seconds=st.sampled_from([31.0, 61.0]), limits=st.lists(st.sampled_from([1, 2]), min_size=2, max_size=3))
    def neglect(self, seconds: float, limits: list[int]) -> None:
        """Until several leases are over; then they are looked at, a few at a time."""
        self.wait(seconds)
        for limit in limits:
            self.world.reconcile(limit)

    @rule(tenant=st.sampled_from(TENANTS), depth_max=st.sampled_from([0, 1, 3, None]))
    def limit_queue(self, tenant: str, depth_max: int | None) -> None:
        self.world.limit_queue(tenant, NARROW, depth_max)

    @rule(rng=seeds, queue=st.sampled_from(QUEUES), is_paused=st.booleans())
    def pause_queue(self, rng: Random, queue: str, is_paused: bool) -> None:
        """And ask for what is in it."""
        tenant = rng.choice(MOSTLY["tenant"])
        self.world.pause_queue(tenant, queue, is_paused=is_paused)
        self.world.claim(ClaimRequest(tenant, Claim(worker=rng.choice(WORKERS)), QUEUES, limit=2))

    @rule(tenant=st.sampled_from(TENANTS), kept_s=st.sampled_from([0.0, 20.0, 86_400.0]))
    def prune(self, tenant: str, kept_s: float) -> None:
        self.world.prune(tenant, Retention(successes_s=kept_s, others_s=kept_s * 2))

    @rule(tenant=st.sampled_from(TENANTS), rng=seeds)
    def purge(self, tenant: str, rng: Random) -> None:
        """Some that have ended, some that have not, and some that are not there."""
        self.world.purge(tenant, rng.sample(JOB_IDS, 4))

    @rule()
    def reopen(self) -> None:
        self.world.reopen()

    @invariant()
    def nothing_differs(self) -> None:
        self.world.compare()

    def teardown(self) -> None:
        try:
            self.world.close()
        finally:
            shutil.rmtree(self.folder)

    def _ask(self, requests: list[Request]) -> None:
        self.world.apply(requests)
        self.asked += [request for request in requests if request.command.request_id is not None]

    def _enqueue(self, rng: Random) -> Request:
        lifecycle = rng.choice(self.world.lifecycles)
        command = random_enqueue(rng, lifecycle, self.world.now)
        return Request(command.tenant, command.job_id, command, lifecycle)

    def _fresh(self, rng: Random, lifecycle: Lifecycle, queue: str) -> Request:
        """Of an id that nobody can have, for a job that can be claimed at once."""
        self.fresh += 1
        job_id, priority = f"fresh-{self.fresh}", rng.choice([0, 0, 1, -2])
        command = Enqueue(job_id=job_id, kind="scan", queue=queue, priority=priority, dedupe_key=seldom(rng, ["d1"]))
        return Request("default", job_id, command, lifecycle, is_fresh=True)

    def _about_some_job(self, rng: Random) -> Request:
        jobs = self.world.model.jobs
        known = [*jobs]
        if not known:
            return self._enqueue(rng)
        leased = [key for key in known if jobs[key].is_leased]
        if leased and coin(rng):
            return self._about(rng, *rng.choice(leased))
        if rng.random() < 0.95:
            return self._about(rng, *rng.choice(known))
        return self._about(rng, rng.choice(TENANTS), rng.choice(JOB_IDS))  # pruned, another's, or never there

    def _about(self, rng: Random, tenant: str, job_id: str) -> Request:
        job = self.world.model.jobs.get((tenant, job_id))
        command = Complete(worker="w1", attempt=1) if job is None else self._command(rng, job)
        # A claim of one job by its id is nobody's verb: its request id would stand for a claim from the queue.
        request_id = None if isinstance(command, Claim) else seldom(rng, REQUEST_IDS)
        return Request(tenant, job_id, replace(command, request_id=request_id, trace_id=maybe(rng, "t")))

    def _command(self, rng: Random, job: Job) -> Command:
        if job.is_ended and coin(rng):
            payload = maybe(rng, [b"2"])
            return Rerun(new_job_id=rng.choice(JOB_IDS), payload=payload, delay_s=rng.choice([0.0, 5.0]))
        command = random_command(rng, self._lifecycle(job), job)
        if isinstance(command, Complete):
            return replace(command, result=rng.choice([b"null", b'{"a":1}', b"x" * 5_000]))
        return command

    def _ending(self, rng: Random, job: Job) -> Request:
        fence: dict[str, Any] = {"worker": job.owner, "attempt": job.attempt, "expected_rev": job.rev}
        error = Error(rng.choice(["TransientError", "PermanentError"]))
        cancel = Cancel(role="operator", mode="hard", expected_rev=job.rev)
        command = rng.choice([Complete(**fence), Complete(**fence), Fail(**fence, error=error), cancel])
        return Request(job.spec.tenant, job.id, command)

    def _lifecycle(self, job: Job) -> Lifecycle:
        return self.world.model.lifecycles[job.spec.lifecycle, job.spec.lifecycle_version]

    def _claim(self, rng: Random) -> ClaimRequest:
        start = coin(rng)
        command = Claim(worker=rng.choice(WORKERS), start=start, request_id=seldom(rng, REQUEST_IDS))
        queues = tuple(rng.sample(QUEUES, rng.randint(1, 3)))
        kinds = rng.choice([None, None, ("scan",), ("mail", "scan"), ("nothing",)])
        adapters = rng.choice([None, None, ("gpu",), ("cpu", "gpu")])
        return ClaimRequest(rng.choice(MOSTLY["tenant"]), command, queues, kinds, adapters, rng.choice([1, 1, 2, 5]))


def on_postgresql(shared: Shared, *, is_alone: bool = False) -> type[Differential]:
    """One database beside the file and the memory; or by itself, for mistakes that are planted in its store."""

    class OnPostgresql(Differential):
        def sites(self) -> list[tuple[Make, int]]:
            beside = [] if is_alone else super().sites()
            return [*beside, (on_postgres(shared.emptied()), 2)]

    return OnPostgresql


def random_enqueue(rng: Random, lifecycle: Lifecycle, now: int) -> Enqueue:
    given: dict[str, Any] = {
        "payload": rng.choice([b"null", b"1", b"[" + b"1," * 9_000 + b"1]"]),  # the last is too large to remember
        "run_at": maybe(rng, [now - 1, now + 5_000_000]),
        "dedupe_key": maybe(rng, ["d1", "d2"]),
        "correlation_id": maybe(rng, ["c"]),
        "env": rng.choice([{}, {"USER": "ann"}]),
        "policy": suitable_policy(rng, lifecycle),
        "request_id": seldom(rng, REQUEST_IDS),
        "submit": coin(rng),
    }
    limited = seldom(rng, LIMITED)
    if limited is not None:
        given["limit_key"], limit = limited
        given["policy"] = replace(given["policy"] or lifecycle.defaults, limit=limit)
    names: dict[str, Any] = {name: rng.choice(choices) for name, choices in MOSTLY.items()}
    priority, delay_s = rng.choice([0, 0, 1, -2]), rng.choice([0.0, 0.0, 2.5])
    return Enqueue(job_id=rng.choice(JOB_IDS), priority=priority, delay_s=delay_s, **names, **given)


def suitable_policy(rng: Random, lifecycle: Lifecycle) -> Policy | None:
    policy = random_policy(rng)
    try:
        check_policy(lifecycle, policy)
    except InvalidArgument:
        return None  # a time limit that this lifecycle has no answer to
    if not coin(rng):
        return None
    return replace(policy, compensate=random_compensation(rng)) if coin(rng) else policy


def random_compensation(rng: Random) -> Compensation:
    name, version = rng.choice([*((name, 1) for name in BUILT_IN), ("random", 1), ("random", 2)])
    retry = Retry(max_attempts=rng.randint(1, 2), base_s=0)
    policy = rng.choice([None, Policy(lease_s=30, retry=retry, rerun_failed=coin(rng))])
    kind, queue = rng.choice(["undo", *KINDS]), rng.choice([None, None, "ocr", NARROW])
    return Compensation(kind=kind, queue=queue, lifecycle=name, lifecycle_version=version, policy=policy)


def seldom(rng: Random, choices: Any) -> Any:
    return rng.choice(choices) if rng.random() < 0.25 else None


def maybe(rng: Random, choices: Any) -> Any:
    return rng.choice([None, *choices])
