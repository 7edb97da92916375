"""Whatever is asked, in whatever order: SQLite in a file, SQLite in memory and the plain model stay the same."""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
from hypothesis import Phase, Verbosity, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from msgspec.structs import replace

from detent.client import Client, Codec, SyncClient
from detent.client.sync import run
from detent.errors import DetentError, InvalidArgument
from detent.kernel import Event, Job
from detent.kernel.command import Claim, Command, Complete, Enqueue, Rerun
from detent.lifecycle import Lifecycle, Policy
from detent.lifecycle.soundness import check_policy
from detent.lifecycles import BUILT_IN
from detent.store import ClaimRequest, Keeping, Replies, Request, Retention, planning, rows
from detent.store.sqlite import File, SqliteStore, finding, statements, writing
from detent.store.sqlite.session import Session
from detent.testing import VirtualClock
from tests.store.comparing import World
from tests.strategies import WORKERS, coin, random_command, random_lifecycle, random_policy

TENANTS: Final = ("default", "acme")
KINDS: Final = ("scan", "mail")
QUEUES: Final = ("default", "ocr", "narrow")
NARROW: Final = "narrow"  # the queue that is limited
JOB_IDS: Final = tuple("abcdefgh")
REQUEST_IDS: Final = ("r1", "r2", "r3", "r4")
WAITS_S: Final = (0.0, 0.4, 1.0, 4.0, 9.0, 12.0, 31.0, 61.0, 4 * 86_400.0, -0.5, -40.0)
SMALL: Final = settings(max_examples=100, stateful_step_count=40)

seeds = st.integers(0, 2**32).map(Random)


class Differential(RuleBasedStateMachine):
    """Hypothesis picks what happens; a generator that it seeds picks the details, so that jobs get far."""

    @initialize(rng=seeds)
    def begin(self, rng: Random) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="detent-differential-"))
        own = [replace(random_lifecycle(rng), version=version) for version in (1, 2)]
        self.world = World(self.folder, [*BUILT_IN.values(), *own], seed=rng.getrandbits(32))
        self.asked: list[Request] = []
        self.claims: list[ClaimRequest] = []

    @rule(rng=seeds)
    def enqueue(self, rng: Random) -> None:
        for _ in range(3):
            self._ask([self._enqueue(rng)])

    @rule(rng=seeds)
    def ask(self, rng: Random) -> None:
        self._ask([self._about_some_job(rng)])

    @rule(rng=seeds)
    def ask_several_times(self, rng: Random) -> None:
        for _ in range(4):
            self._ask([self._about_some_job(rng)])

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

    @rule(tenant=st.sampled_from(TENANTS), depth_max=st.sampled_from([None, 0, 1, 3]))
    def limit_queue(self, tenant: str, depth_max: int | None) -> None:
        self.world.limit_queue(tenant, NARROW, depth_max)

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
        lifecycle = self.world.model.lifecycles[job.spec.lifecycle, job.spec.lifecycle_version]
        command = random_command(rng, lifecycle, job)
        if isinstance(command, Complete):
            return replace(command, result=rng.choice([b"null", b'{"a":1}', b"x" * 5_000]))
        return command

    def _claim(self, rng: Random) -> ClaimRequest:
        start = coin(rng)
        command = Claim(worker=rng.choice(WORKERS), start=start, request_id=seldom(rng, REQUEST_IDS))
        queues = tuple(rng.sample(QUEUES, rng.randint(1, 3)))
        kinds = rng.choice([None, None, ("scan",), ("mail", "scan"), ("nothing",)])
        adapters = rng.choice([None, None, ("gpu",), ("cpu", "gpu")])
        return ClaimRequest(rng.choice(TENANTS), command, queues, kinds, adapters, rng.choice([1, 1, 2, 5]))


def random_enqueue(rng: Random, lifecycle: Lifecycle, now: int) -> Enqueue:
    given: dict[str, Any] = {
        "payload": rng.choice([b"null", b"1", b"[" + b"1," * 9_000 + b"1]"]),  # the last is too large to remember
        "run_at": maybe(rng, [now - 1, now + 5_000_000]),
        "dedupe_key": maybe(rng, ["d1", "d2"]),
        "adapter_id": maybe(rng, ["gpu", "cpu"]),
        "correlation_id": maybe(rng, ["c"]),
        "env": rng.choice([{}, {"USER": "ann"}]),
        "policy": suitable_policy(rng, lifecycle),
        "request_id": seldom(rng, REQUEST_IDS),
        "submit": coin(rng),
    }
    names: dict[str, Any] = {"tenant": rng.choice(TENANTS), "kind": rng.choice(KINDS), "queue": rng.choice(QUEUES)}
    priority, delay_s = rng.choice([0, 0, 1, -2]), rng.choice([0.0, 0.0, 2.5])
    return Enqueue(job_id=rng.choice(JOB_IDS), priority=priority, delay_s=delay_s, **names, **given)


def suitable_policy(rng: Random, lifecycle: Lifecycle) -> Policy | None:
    policy = random_policy(rng)
    try:
        check_policy(lifecycle, policy)
    except InvalidArgument:
        return None  # a time limit that this lifecycle has no answer to
    return policy if coin(rng) else None


def seldom(rng: Random, choices: Any) -> Any:
    return rng.choice(choices) if rng.random() < 0.25 else None


def maybe(rng: Random, choices: Any) -> Any:
    return rng.choice([None, *choices])


TestDifferential = pytest.mark.requirement("ALL-03", "ALL-05", "ALL-13", "ALL-15", "ALL-18")(Differential.TestCase)
TestDifferential.settings = SMALL


# -- up to ids ---------------------------------------------------------------------------------------------------------


def told(store: SqliteStore, clock: VirtualClock, seed: int) -> list[tuple[object, ...]]:
    """A random story through the client, which makes the ids; jobs are named by the order in which they were made."""
    rng, client = Random(seed), SyncClient(Client(store, tenant="default", codec=Codec(), lifecycles=()))
    client.open()
    made: list[str] = []
    for _ in range(40):
        clock.pass_s(rng.choice([0, 1, 20]))
        if not made or rng.random() < 0.4:
            lifecycle = rng.choice([*BUILT_IN])
            made.append(client.enqueue(rng.choice(KINDS), lifecycle=lifecycle, submit=True).id)
        elif rng.random() < 0.5:
            client.claim(worker=rng.choice(WORKERS), limit=2, start=coin(rng))
        else:
            job = client.get(rng.choice(made))
            command = random_command(rng, BUILT_IN[job.lifecycle], job.record)
            run(store.apply([Request("default", job.id, command)]))
        client.reconcile(limit=rng.choice([1, 10]))
    stories = run(store.stories(None, 1_000)).items
    numbers = {story.job.id: number for number, story in enumerate(stories)}
    events = [event for story in stories for event in story.events]
    return [
        (numbers[each.job_id], each.rev, each.verb, each.type, each.to_state, each.at, each.actor, each.changes)
        for each in events
    ]


@settings(max_examples=15)
@given(seed=st.integers(0, 2**32))
def test_same_seed_gives_the_same_history_on_every_store(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    """I27, up to the ids that the client makes."""
    histories = []
    for path in (":memory:", str(tmp_path_factory.mktemp("seed") / "jobs.db")):
        clock, file = VirtualClock(), File(path, synchronous="normal")
        store = SqliteStore(file, clock=clock, random=Random(seed).random)
        run(store.open())
        run(store.register(*BUILT_IN.values()))
        histories.append(told(store, clock, seed))
        run(store.close())

    assert histories[0] == histories[1]
    assert histories[0]


# -- that it notices ---------------------------------------------------------------------------------------------------

# It ends with the first example that notices: the bound is for the rare run in which that takes long.
QUICK: Final = settings(
    SMALL, max_examples=300, phases=[Phase.generate], report_multiple_bugs=False, verbosity=Verbosity.quiet
)
Patch = Callable[[pytest.MonkeyPatch], None]


def forget_checkpoints(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(rows.ENCODERS, "checkpoint", lambda value: None)


def forget_late_results(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(planning, "late_result", lambda job, command, refused, now: None)


def forget_receipts(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(writing.Batch, "receipt", lambda batch, kept: None)


def forget_notes(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(writing.Batch, "note", lambda batch, note: None)


def forget_who_asked(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(writing, "event_row", lambda event, number, payload: rows.event_row(nameless(event), number, payload))


def nameless(event: Event) -> Event:
    return replace(event, trace_id=None)


def remember_what_others_changed(patch: pytest.MonkeyPatch) -> None:
    def begin(session: Session, now: int) -> None:
        session.now = now

    patch.setattr(Session, "begin", begin)


def ignore_the_queue_s_order(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(statements.SQL, "due", "select job from detent_records where wake_at <= ? order by job desc limit ?")


def ignore_the_dice(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SqliteStore, "_apply", apply_without_dice)


def apply_without_dice(store: SqliteStore, session: Session, requests: list[Request]) -> Replies:
    planned = planning.plan(requests, session, session.now, lambda: 0.5)
    writing.write(session, planned, Keeping())
    return planned.replies


def purge_what_lives(patch: pytest.MonkeyPatch) -> None:
    kept = statements.SQL["ended_jobs"].replace("and r.ended_at is not null", "and r.phase <> 'ready'")
    patch.setitem(statements.SQL, "ended_jobs", kept)


def count_what_lives(patch: pytest.MonkeyPatch) -> None:
    counting = statements.counting
    patch.setattr(finding, "counting", lambda tables, filters, by: counting(tables, (*filters, "find_live"), by))


@pytest.mark.parametrize(
    "sabotage",
    [
        forget_checkpoints,
        forget_late_results,
        forget_receipts,
        forget_notes,
        forget_who_asked,
        remember_what_others_changed,
        ignore_the_queue_s_order,
        ignore_the_dice,
        purge_what_lives,
        count_what_lives,
    ],
)
def test_differential_test_notices_a_store_that(sabotage: Patch, monkeypatch: pytest.MonkeyPatch) -> None:
    sabotage(monkeypatch)

    with pytest.raises((AssertionError, DetentError)):
        run_state_machine_as_test(Differential, settings=QUICK)
