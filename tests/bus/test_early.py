"""What is said of a job before its submission is there waits for it, and for nothing else."""

import asyncio
import os
import signal
from collections.abc import Callable

import pytest
from cap.progress import cancel_payload, emit_cancel, emit_progress, progress_payload

from detent.surfaces.bus.early import EARLY_MAX, EARLY_S, Early
from tests.bus.ground import Clock
from tests.bus.playing import SENDER, WORKER, connection, ids, job, submit, until
from tests.bus.server import NatsServer
from tests.bus.site import BusSite

pytestmark = pytest.mark.requirement("DSP-09")


def test_message_waits_while_what_came_before_it_is_elsewhere() -> None:
    assert Early(Clock()).keep([5], settled=3, seen={5}) == {5}


def test_message_does_not_wait_if_all_before_it_is_dealt_with_or_at_hand() -> None:
    assert Early(Clock()).keep([5, 6], settled=3, seen={4, 5, 6}) == set()


def test_messages_that_wait_do_not_wait_for_each_other() -> None:
    early = Early(Clock())
    early.keep([5, 6], settled=3, seen={5, 6})

    assert early.keep([5, 6], settled=4, seen={5, 6}) == set()


def test_message_does_not_wait_for_ever() -> None:
    clock = Clock()
    early = Early(clock)
    early.keep([5], settled=3, seen={5})
    clock.now_s += EARLY_S

    assert early.keep([5], settled=3, seen={5}) == set()


def test_messages_about_jobs_that_never_were_leave_room_for_others_however_many_come() -> None:
    early = Early(Clock())
    kept: set[int] = set()
    for first in range(10, 1_000, 100):
        places = list(range(first, first + 100))
        kept |= early.keep(places, settled=3, seen=places)

    assert len(kept) == EARLY_MAX


def test_message_whose_time_is_over_does_not_begin_anew() -> None:
    clock = Clock()
    early = Early(clock)
    early.keep([5], settled=3, seen={5})
    clock.now_s += EARLY_S
    early.keep([7], settled=3, seen={7})

    assert early.keep([5], settled=3, seen={5}) == set()


def test_messages_about_jobs_that_never_were_hold_up_no_submission_of_several_services(
    start: Callable[..., BusSite], nats_server: NatsServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    site = start()
    other = BusSite(tmp_path_factory.mktemp("other"), nats_server.url, url=site.services.site.url)

    async def play() -> None:
        async with connection(nats_server.url) as bus:
            for number in range(2_000):
                await emit_progress(bus, progress_payload(WORKER, f"never-{number}", "step", 1, "hm"))
            await submit(bus, job("j1"))
            await until(lambda: site.in_state("j1", "SCHEDULED"), EARLY_S / 2)

    with other:
        asyncio.run(play())


def test_cancel_waits_for_a_submission_that_a_killed_service_had(
    start: Callable[..., BusSite], nats_server: NatsServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    site = start()
    other = BusSite(tmp_path_factory.mktemp("other"), nats_server.url, url=site.services.site.url)
    names = list(ids(30))

    async def play() -> None:
        async with connection(nats_server.url) as bus:
            assert other.service is not None
            os.kill(other.service.process.pid, signal.SIGSTOP)  # so that it has taken what it never deals with
            for name in names:
                await submit(bus, job(name))
                await emit_cancel(bus, cancel_payload(SENDER, name, "at once", "ann"))
            await bus.flush()
            other.kill()
            for name in names:
                await until(lambda name=name: site.in_state(name, "CANCELLED"), EARLY_S)  # type: ignore[misc]

    with other:
        asyncio.run(play())


def test_cancel_waits_for_a_submission_that_the_same_service_had_before_it_was_killed(site: BusSite) -> None:
    async def play() -> None:
        async with connection(site.nats_url) as bus:
            assert site.service is not None
            os.kill(site.service.process.pid, signal.SIGSTOP)
            await submit(bus, job("j1"))
            site.kill()
            await asyncio.to_thread(site.start)
            await asyncio.to_thread(site.wait_until_joined)
            await emit_cancel(bus, cancel_payload(SENDER, "j1", "at once", "ann"))
            await until(lambda: site.in_state("j1", "CANCELLED"), EARLY_S)

    asyncio.run(play())
