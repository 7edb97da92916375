"""Jobs that workers left behind when they were killed do not take the room of those that are there."""

import asyncio
from pathlib import Path

import pytest

from detent.store.fleet import SEEN_S
from detent.surfaces.bus.missing import GAP_S, WINDOW_S, Missing
from tests.bus.ground import SLOTS, STEP_S, ground
from tests.bus.playing import TOPIC
from tests.bus.server import NatsServer

pytestmark = pytest.mark.requirement("DSP-09")


def looked(missing: Missing, unaccounted: int, *, for_s: float, from_s: float = 0.0) -> int:
    """As often as somebody looks while jobs wait."""
    found, now_s = 0, from_s
    while now_s <= from_s + for_s:
        found = missing.look(unaccounted, now_s)
        now_s += STEP_S
    return found


def test_job_on_its_way_to_a_worker_is_not_missing() -> None:
    assert looked(Missing(), 3, for_s=WINDOW_S - STEP_S) == 0


def test_job_that_no_worker_has_for_a_whole_window_is_missing() -> None:
    assert looked(Missing(), 3, for_s=WINDOW_S) == 3


def test_job_that_a_worker_had_once_in_between_is_not_missing() -> None:
    missing = Missing()
    looked(missing, 3, for_s=WINDOW_S / 2)
    missing.look(1, WINDOW_S / 2 + STEP_S)

    assert looked(missing, 3, for_s=WINDOW_S / 2, from_s=WINDOW_S / 2 + 2 * STEP_S) == 1


def test_job_that_has_ended_is_missing_no_more() -> None:
    missing = Missing()
    looked(missing, 3, for_s=WINDOW_S)

    assert missing.look(1, WINDOW_S + STEP_S) == 1


def test_nothing_is_known_of_a_time_in_which_nobody_looked() -> None:
    missing = Missing()
    missing.look(3, 0.0)

    assert missing.look(3, WINDOW_S + GAP_S) == 0


def test_room_of_a_worker_that_is_there_is_not_taken_by_jobs_of_one_that_was_killed(
    nats_server: NatsServer, tmp_path: Path
) -> None:
    async def play() -> tuple[int, int, int]:
        async with ground(tmp_path, nats_server) as here:
            await here.beat("doomed", SLOTS)
            await here.hand_out(SLOTS + 1)
            await here.wait("doomed", SLOTS, for_s=SEEN_S)
            full = await here.pools.room(TOPIC)
            await here.wait("next", 0, for_s=SEEN_S + STEP_S)
            held = await here.pools.room(TOPIC)
            await here.wait("next", 0, for_s=2 * WINDOW_S)
            return full, held, await here.pools.room(TOPIC)

    assert asyncio.run(play()) == (0, 0, SLOTS)


def test_pool_that_never_says_it_is_busy_is_not_given_more_than_it_has_slots_for(
    nats_server: NatsServer, tmp_path: Path
) -> None:
    async def play() -> int:
        async with ground(tmp_path, nats_server) as here:
            await here.beat("quiet", 0)
            await here.hand_out(SLOTS + 1)
            await here.wait("quiet", 0, for_s=4 * WINDOW_S)
            return await here.pools.room(TOPIC)

    assert asyncio.run(play()) == 0


def test_pool_is_not_given_more_and_more_though_its_workers_have_more_slots_than_they_use(
    nats_server: NatsServer, tmp_path: Path
) -> None:
    async def play() -> int:
        async with ground(tmp_path, nats_server) as here:
            await here.beat("one-by-one", 1)
            given = 0
            for _ in range(10):
                await here.wait("one-by-one", 1, for_s=WINDOW_S)
                given += len(await here.hand_out(max(await here.pools.room(TOPIC), 0)))
            return given

    assert SLOTS + 1 < asyncio.run(play()) <= 2 * (SLOTS + 1)


def test_next_service_leaves_no_room_to_lost_jobs_either(nats_server: NatsServer, tmp_path: Path) -> None:
    """It and the workers were killed together, and new workers have not had a job yet."""

    async def play() -> int:
        async with ground(tmp_path, nats_server) as here:
            await here.beat("doomed", SLOTS)
            await here.hand_out(SLOTS + 1)
            await here.wait("doomed", SLOTS, for_s=STEP_S)
            await here.pools.report()
        async with ground(tmp_path, nats_server) as here:
            await here.wait("next", 0, for_s=SEEN_S + 2 * WINDOW_S + STEP_S)
            return await here.pools.room(TOPIC)

    assert asyncio.run(play()) == SLOTS
