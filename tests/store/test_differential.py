"""Whatever is asked, in whatever order: SQLite in a file or in memory, PostgreSQL and the plain model stay the same."""

from random import Random
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test

from detent.client import Client, Codec, SyncClient
from detent.client.sync import run
from detent.lifecycles import BUILT_IN
from detent.store import Request, Store
from detent.store.clock import Clock
from detent.store.clock import Random as Dice
from detent.testing import MemoryStore, VirtualClock
from tests.chance import examples
from tests.postgres.shared import Shared
from tests.store.machine import KINDS, Differential, on_postgresql
from tests.store.sites import in_file, in_memory, on_postgres
from tests.strategies import WORKERS, coin, random_command

MANY: Final = settings(max_examples=examples(60), stateful_step_count=40)
SOME: Final = settings(max_examples=examples(20), stateful_step_count=40)  # a server takes its time

shows = pytest.mark.requirement("ALL-03", "ALL-05", "ALL-13", "ALL-15", "ALL-18")
TestDifferential = pytest.mark.hypothesis(shows(Differential.TestCase))
TestDifferential.settings = MANY


@shows
@pytest.mark.hypothesis
def test_whatever_is_asked_postgresql_stays_the_same_as_the_others(pg_shared: Shared) -> None:
    run_state_machine_as_test(on_postgresql(pg_shared), settings=SOME)


# -- up to ids ---------------------------------------------------------------------------------------------------------


def told(store: Store, clock: VirtualClock, seed: int) -> list[tuple[object, ...]]:
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


def remembered(clock: Clock, random: Dice) -> Store:
    return MemoryStore(clock=clock, random=random)


@settings(max_examples=examples(10))
@given(seed=st.integers(0, 2**32))
def test_same_seed_gives_the_same_history_on_every_store(
    tmp_path_factory: pytest.TempPathFactory, pg_shared: Shared, seed: int
) -> None:
    """I27, up to the ids that the client makes."""
    places = [in_memory(), in_file(tmp_path_factory.mktemp("seed")), on_postgres(pg_shared.emptied()), remembered]
    histories = []
    for make in places:
        clock = VirtualClock()
        store = make(clock, Random(seed).random)
        run(store.open())
        run(store.register(*BUILT_IN.values()))
        histories.append(told(store, clock, seed))
        run(store.close())

    assert histories == [histories[0]] * len(places)
    assert histories[0]
