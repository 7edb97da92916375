"""How many jobs a pool gets whose workers say nothing of themselves, and how often it is asked who is there."""

import asyncio
from pathlib import Path

import pytest

from detent.surfaces.bus.silent import ABSENT_S, ABSENT_S_MAX, ANSWERED_S, EACH, FIRST, QUICK_MAX, Absent, Answers
from tests.bus.ground import Clock, ground
from tests.bus.playing import TOPIC, succeed, worker
from tests.bus.server import NatsServer

pytestmark = pytest.mark.requirement("DSP-09")


def test_pool_that_nobody_has_answered_for_gets_few_jobs() -> None:
    assert Answers(Clock()).room(TOPIC) == FIRST


def test_pool_gets_more_as_more_of_its_workers_answer() -> None:
    clock = Clock()
    answers = Answers(clock)
    for number in range(10):
        answers.heard(TOPIC, f"worker-{number}")
        clock.now_s += 10.0

    assert answers.room(TOPIC) == EACH * 10


def test_workers_that_have_not_answered_for_long_do_not_count() -> None:
    clock = Clock()
    answers = Answers(clock)
    for number in range(10):
        answers.heard(TOPIC, f"worker-{number}")
    clock.now_s += ANSWERED_S

    assert answers.room(TOPIC) == FIRST


def test_quick_worker_gets_what_it_does_in_a_second_up_to_a_bound() -> None:
    clock = Clock()
    answers = Answers(clock)
    for _ in range(20):
        answers.heard(TOPIC, "quick")
    quick = answers.room(TOPIC)
    for _ in range(2 * QUICK_MAX):
        answers.heard(TOPIC, "quick")

    assert (quick, answers.room(TOPIC)) == (20, QUICK_MAX)
    clock.now_s += 2.0
    assert answers.room(TOPIC) == FIRST


def test_topic_that_nobody_serves_is_asked_for_again_soon() -> None:
    clock = Clock()
    absent = Absent(clock)
    absent.add(TOPIC)

    assert TOPIC in absent
    clock.now_s += ABSENT_S
    assert TOPIC not in absent


def test_many_topics_that_nobody_serves_are_asked_for_less_often() -> None:
    clock = Clock()
    absent = Absent(clock)
    for number in range(10_000):
        absent.add(f"job.none.{number}")
    clock.now_s += ABSENT_S_MAX - 0.1

    assert "job.none.1" in absent
    clock.now_s += 0.1
    assert "job.none.1" not in absent


def test_topic_is_not_taken_for_served_after_its_worker_has_left(nats_server: NatsServer, tmp_path: Path) -> None:
    async def play() -> tuple[bool, bool]:
        async with ground(tmp_path, nats_server) as here:
            async with worker(nats_server.url, succeed):
                before = await here.pools.is_served(TOPIC)
            return before, await here.pools.is_served(TOPIC)

    assert asyncio.run(play()) == (True, False)
