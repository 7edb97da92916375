"""The contract event: from where to where, when, by whom, on which request."""

import msgspec
import pytest

from detent.errors import InvalidArgument
from detent.kernel import Error
from detent.kernel.command import Claim, Complete, Fail, Renew, Requeue, Stall, Start
from detent.lifecycle.words import NOTING
from detent.lifecycles import BUILT_IN, CONTRACT
from detent.wire.contract import EVENT_TYPES, ContractEvent, event_of
from detent.wire.shape import read
from tests.driving import WORKER, Life


def a_life_with_every_move() -> Life:
    life = Life(CONTRACT, request_id="r-1")
    life.do(Claim(worker=WORKER, request_id="r-2"))
    life.do(Stall(role="scheduler", expected_rev=life.job.rev))
    life.do(Requeue(role="operator", actor="ops", expected_rev=life.job.rev, request_id="r-4"))
    life.claim()
    life.do(Start(**life.as_owner(), request_id="r-6"))
    life.do(Renew(**life.as_owner(), request_id="r-7"))
    life.do(Complete(**life.as_owner(), request_id="r-8"))
    return life


@pytest.mark.requirement("CON-06")
def test_events_of_a_life_tell_each_move_in_the_published_words() -> None:
    told = [event_of(event) for event in a_life_with_every_move().events]

    assert [(event.type, event.from_status, event.to_status, event.actor, event.request_id) for event in told] == [
        ("enqueued", None, "queued", "client", "r-1"),
        ("claimed", "queued", "claimed", WORKER, "r-2"),
        ("stalled", "claimed", "stalled", "scheduler", None),
        ("requeued", "stalled", "queued", "ops", "r-4"),
        ("claimed", "queued", "claimed", WORKER, None),
        ("started", "claimed", "running", WORKER, "r-6"),
        ("heartbeat", "running", "running", WORKER, "r-7"),
        ("succeeded", "running", "succeeded", WORKER, "r-8"),
    ]


@pytest.mark.requirement("CON-06")
def test_failure_is_told_as_failed() -> None:
    life = Life(CONTRACT)
    life.claim(start=True)
    life.do(Fail(**life.as_owner(), error=Error("PermanentError")))

    assert event_of(life.events[-1]).type == "failed"


@pytest.mark.requirement("CON-06")
def test_event_has_the_published_fields_and_reads_back() -> None:
    life = a_life_with_every_move()
    event = event_of(life.events[0])
    written = msgspec.json.encode(event)

    assert msgspec.json.decode(written) == {
        "type": "enqueued",
        "from_status": None,
        "to_status": "queued",
        "at": "2025-02-01T16:00:00.123456Z",
        "actor": "client",
        "request_id": "r-1",
    }
    assert read(ContractEvent, written) == event


@pytest.mark.requirement("CON-06")
def test_vocabulary_is_all_that_the_lifecycle_can_emit() -> None:
    table = CONTRACT.table
    routes = [route for verbs in table.routes.values() for verb, route in verbs.items() if verb not in NOTING]
    legs = [leg for route in (*routes, table.start) for leg in (route.forward, route.recovery) if leg]

    assert {leg.event for leg in legs} | {table.heartbeat_event} == set(EVENT_TYPES)


@pytest.mark.parametrize("name", sorted(BUILT_IN.keys() - {"contract"}))
def test_event_of_another_lifecycle_has_no_place_on_this_wire(name: str) -> None:
    (event, *_) = Life(BUILT_IN[name]).events

    with pytest.raises(InvalidArgument) as refusal:
        event_of(event)
    assert refusal.value.code == "unknown_event_type"
