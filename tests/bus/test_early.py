"""What is said of a job before its submission is there waits for it, and for nothing else."""

import asyncio
import os
import signal
from collections.abc import Callable

import pytest
from cap.progress import cancel_payload, emit_cancel

from detent.surfaces.bus.early import KEPT_MAX, KEPT_S, Early
from tests.bus.playing import SENDER, connection, ids, job, submit, until
from tests.bus.server import NatsServer
from tests.bus.site import BusSite

pytestmark = pytest.mark.requirement("DSP-09")


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


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
    clock.now_s = KEPT_S

    assert early.keep([5], settled=3, seen={5}) == set()


def test_messages_about_jobs_that_never_were_leave_room_for_others() -> None:
    places = list(range(10, 10 + 2 * KEPT_MAX))

    assert len(Early(Clock()).keep(places, settled=3, seen=places)) == KEPT_MAX


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
                await until(lambda name=name: site.in_state(name, "CANCELLED"), KEPT_S)  # type: ignore[misc]

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
            await until(lambda: site.in_state("j1", "CANCELLED"), KEPT_S)

    asyncio.run(play())
