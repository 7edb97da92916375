"""Which engine is offered a job: one that can run it and has room, the least busy first; then the next."""

import base64
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from detent.errors import ServiceError
from detent.kernel import Job
from detent.surfaces.engine_socket.engine import REMEMBERED_MAX, Engine
from detent.surfaces.engine_socket.roster import Roster, least_loaded
from detent.wire.engine_messages import Register
from tests.engines.playing import Puppet, scene
from tests.kernel.test_engine_limits import queued
from tests.surfaces.http.process import Service

Engines = Callable[[], Puppet]
SINCE = datetime(2026, 11, 18, tzinfo=UTC)
FIELDS = {"kind": "BUILD", "queue": "default"}


def made(name: str, tenant: str = "default", **said: Any) -> Engine:
    given: dict[str, Any] = {"engine_id": name, "job_types": ["BUILD"], "capacity": 2, **said}
    return Engine(f"{tenant}-{name}", tenant, Register(**given), SINCE)


def job(**fields: Any) -> Job:
    return queued(**(FIELDS | fields)).job


def test_least_busy_for_its_capacity_gets_the_job_and_of_several_who_waited_longest() -> None:
    small, large = made("small", capacity=1), made("large", capacity=10)
    first, second = made("first"), made("second")
    small.hold("a", 1)
    large.hold("b", 1)
    first.offer("c", now_s=2.0, until_s=9.0)
    second.offer("d", now_s=1.0, until_s=9.0)

    assert least_loaded([small, large, first, second], job(), set()) is large
    assert least_loaded([first, second], job(), set()) is second
    assert least_loaded([first, second], job(), {"second"}) is first
    assert least_loaded([small], job(), set()) is None


@pytest.mark.parametrize(
    ("said", "fields", "can"),
    [
        ({}, {}, True),
        ({"job_types": ["OTHER"]}, {}, False),
        ({"queues": ["render"]}, {}, False),
        ({"queues": ["render"]}, {"queue": "render"}, True),
        ({}, {"adapter_id": "gpu"}, True),
        ({"adapters": ["gpu"]}, {"adapter_id": "gpu"}, True),
        ({"adapters": ["gpu"]}, {}, True),
        ({"adapters": ["cpu"]}, {"adapter_id": "gpu"}, False),
        ({"capacity": 0}, {}, False),
    ],
)
def test_engine_is_offered_what_it_can_run(said: dict[str, Any], fields: dict[str, Any], can: bool) -> None:
    one = made("one", **said)

    assert (least_loaded([one], job(**fields), set()) is one) == can


def test_engine_that_let_an_offer_lapse_has_no_room_until_it_says_something() -> None:
    one = made("one")
    one.offer("a", now_s=0.0, until_s=5.0)
    lapsed = [one.lapsed(4.9), one.lapsed(5.0)]
    one.lapse("a")
    one.fall_silent(15.0)

    assert lapsed == [[], ["a"]]
    assert (one.room, one.was_offered("a")) == (0, True)
    one.listen_again(14.9)
    assert one.room == 0
    one.listen_again(15.0)
    assert one.room == 2


def test_what_is_remembered_of_an_engine_is_bounded() -> None:
    one = made("one", capacity=1_000)
    for number in range(REMEMBERED_MAX + 10):
        one.offer(f"o{number}", now_s=0.0, until_s=0.0)
        one.lapse(f"o{number}")
        one.hold(f"h{number}", 1)
        one.release(f"h{number}")

    assert (one.was_offered("o0"), one.was_offered(f"o{REMEMBERED_MAX}")) == (False, True)
    assert (one.attempt_of("h0", None), one.attempt_of(f"h{REMEMBERED_MAX}", None)) == (None, 1)


def test_roster_knows_who_holds_what_and_forgets_who_has_gone() -> None:
    roster, one, other = Roster(10), made("one"), made("one", tenant="other")
    roster.add(one)
    roster.add(other)
    roster.hold(one, "a", 1)
    roster.hold(other, "a", 1)
    again = Engine("sid-new", "default", Register(engine_id="one", job_types=["BUILD"]), SINCE)
    replaced = roster.add(again)

    assert replaced is one
    assert (roster.holder("default", "a"), roster.holder("other", "a")) == (None, other)
    assert roster.remove(one.sid) is None
    assert (len(roster), sorted(roster.tenants)) == (2, ["default", "other"])
    roster.remove(other.sid)
    assert (roster.holder("other", "a"), roster.tenants) == (None, ["default"])


def test_engine_that_registers_anew_on_its_connection_keeps_what_it_holds() -> None:
    roster, one = Roster(10), made("one")
    roster.add(one)
    roster.hold(one, "a", 3)
    again = made("one", capacity=5)
    roster.add(again)

    assert (again.held, roster.holder("default", "a"), len(roster)) == ({"a": 3}, again, 1)


def test_no_tenant_takes_all_places_of_engines() -> None:
    roster = Roster(10)
    for number in range(9):
        roster.add(Engine(str(number), "greedy", Register(engine_id=f"e{number}", job_types=["BUILD"]), SINCE))

    with pytest.raises(ServiceError) as caught:
        roster.add(Engine("9", "greedy", Register(engine_id="e9", job_types=["BUILD"]), SINCE))

    assert caught.value.code == "too_many_engines"
    roster.add(Engine("10", "modest", Register(engine_id="e", job_types=["BUILD"]), SINCE))


@pytest.mark.requirement("ENG-07")
def test_jobs_are_spread_by_capacity_and_no_engine_is_offered_more_than_it_has_room_for(
    service: Service, engine: Engines
) -> None:
    small, large = engine().connected(service.token), engine().connected(service.token)
    small.registered("small", capacity=1, queues=["spread"])
    large.registered("large", capacity=3, queues=["spread"])
    for number in range(6):
        scene(service, job_id=f"spread-{number}", queue="spread")
    offered = [one.heard("job_offer")[0]["job"]["jobId"] for one in (small, large, large, large)]

    assert len(set(offered)) == 4
    assert not small.has_heard("job_offer")
    assert not large.has_heard("job_offer")
    for one, job_id in zip((small, large, large, large), offered, strict=True):
        assert one.ask("job_ack", {"jobId": job_id})["accepted"]
    one_more = offered[1]
    large.ask("job_started", {"jobId": one_more})
    large.ask("job_complete", {"jobId": one_more})
    assert large.heard("job_offer")[0]["job"]["jobId"] not in offered


@pytest.mark.requirement("ENG-07")
def test_job_that_an_engine_rejects_is_offered_to_another(service: Service, engine: Engines) -> None:
    one, two = engine().connected(service.token), engine().connected(service.token)
    one.registered("one", queues=["passed"])
    job_id = scene(service, queue="passed")
    one.heard("job_offer")
    two.registered("two", queues=["passed"])
    one.ask("job_reject", {"jobId": job_id, "reason": "no textures here"})
    two.took(job_id)
    late = one.ask("job_ack", {"jobId": job_id})

    assert (late["accepted"], late["code"], late["status"]) == (False, "illegal_move", "dispatched")
    assert Counter([service.state(job_id)]) == {"dispatched": 1}


@pytest.mark.requirement("ENG-07")
def test_job_whose_offer_lapses_is_offered_to_another(service: Service, engine: Engines) -> None:
    silent, awake = engine().connected(service.token), engine().connected(service.token)
    silent.registered("silent", queues=["lapsed"])
    job_id = scene(service, queue="lapsed")
    silent.heard("job_offer")
    awake.registered("awake", queues=["lapsed"])

    assert awake.took(job_id)["accepted"]
    awake.ask("job_started", {"jobId": job_id})
    awake.ask("job_complete", {"jobId": job_id})


@pytest.mark.requirement("ENG-07")
def test_jobs_that_are_none_of_an_engines_do_not_stand_in_its_way(service: Service, engine: Engines) -> None:
    others = [{"verb": "enqueue", "kind": "BUILD_SCENE", "queue": "mixed"} for _ in range(250)]
    others += [{"verb": "enqueue", "kind": "BUILD_SCENE", "queue": "mixed", "adapter_id": "gpu"} for _ in range(250)]
    service.ask("POST", "/v1/batch", {"requests": others})
    job_id = scene(service, queue="mixed")
    one = engine().connected(service.token)
    one.registered("mixed", queues=["mixed"], adapters=["cpu"])

    assert one.took(job_id)["accepted"]
    one.ask("job_started", {"jobId": job_id})
    one.ask("job_complete", {"jobId": job_id})


def test_engine_that_registers_twice_on_a_connection_keeps_its_offers(service: Service, engine: Engines) -> None:
    one = engine().connected(service.token)
    one.registered("again", queues=["again"])
    job_id = scene(service, queue="again")
    one.heard("job_offer")
    one.registered("again", queues=["again"], capacity=3)

    assert one.ask("job_ack", {"jobId": job_id})["accepted"]


def test_job_that_no_engine_could_read_keeps_no_other_from_being_offered(service: Service, engine: Engines) -> None:
    one = engine().connected(service.token)
    one.registered("reading", queues=["sealed"])
    sealed = {"payload": base64.b64encode(b"\0e" + b"secret").decode()}
    service.enqueue("BUILD_SCENE", lifecycle="engine", queue="sealed", sealed=sealed, job_id="unreadable")
    job_id = scene(service, queue="sealed")

    assert one.took(job_id)["accepted"]
