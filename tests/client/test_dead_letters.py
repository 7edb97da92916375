"""`client.dead_letters`: what was set aside, by why and where, whatever its lifecycle calls the state."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from detent import Lifecycle, Move, State, move
from detent.client import Job, SyncClient, connect
from detent.client.sync import run
from detent.errors import InvalidArgument, NotFound
from detent.lifecycle import Policy, Retry
from detent.lifecycles import STANDARD
from tests.client.explained import BROKEN, BUSY, now
from tests.client.world import World

# A lifecycle of somebody's own, that calls the place for dead letters otherwise.
PARCEL = Lifecycle(
    name="parcel",
    version=1,
    summary="A parcel is delivered, or ends up among the lost ones.",
    states=(
        State("ready", "ready"),
        State("carried", "active"),
        State("delivered", "ended", "success"),
        State("lost_and_found", "ended", "failure"),
    ),
    moves=(
        move("-", "enqueue", "ready", by="client"),
        move("ready", "claim", "carried", by="worker"),
        move("carried", "renew", "same", by="owner"),
        move("carried", "complete", "delivered", by="owner"),
        move("carried", "fail", "lost_and_found", by="owner"),
        move("carried", "expire", "lost_and_found", by="reconciler"),
        move("ready, carried", "dead_letter", "lost_and_found", by="operator"),
    ),
)


@pytest.fixture
def client(url: str) -> Iterator[SyncClient]:
    with connect(url, lifecycles=[PARCEL]) as opened:
        yield opened


def bury(client: SyncClient, job_id: str, **how: Any) -> Job:
    about = {name: how.pop(name) for name in ("reason_code", "stage", "error") if name in how}
    client.enqueue(how.pop("kind", "scan"), job_id=job_id, **how)
    return client.dead_letter(job_id, role="operator", **about)


def ids(client: SyncClient, **asked: Any) -> list[str]:
    """All of them, page by page."""
    found: list[str] = []
    cursor: str | None = None
    while True:
        page = client.dead_letters(cursor=cursor, **asked)
        found += [letter.job.id for letter in page]
        cursor = page.cursor
        if cursor is None:
            return found


def test_letter_carries_what_is_needed_to_judge_it(fresh: World) -> None:
    fresh.blocking.enqueue(
        "scan", job_id="42", correlation_id="order-1", policy=Policy(retry=Retry(max_attempts=2, base_s=0))
    )
    for attempt in (1, 2):
        fresh.blocking.claim(worker=f"w{attempt}", start=True)
        fresh.blocking.fail("42", worker=f"w{attempt}", attempt=attempt, error=BUSY)

    letter = fresh.blocking.dead_letter_for("42")

    assert (letter.job.state, letter.reason_code, letter.stage) == ("dead_lettered", "exhausted_retries", "exec")
    assert (letter.attempts, letter.last_owner, letter.correlation_id) == (2, "w2", "order-1")
    assert letter.last_error.message == "scanner is busy"
    assert letter.last_lease_expires_at == now(fresh) + timedelta(seconds=60)


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({}, ["timed", "policy", "typed"]),
        ({"reason_code": "timeout"}, ["timed"]),
        ({"stage": "commit"}, ["timed"]),
        ({"error_type": "PermanentError"}, ["typed"]),
        ({"queue": "slow"}, ["policy"]),
        ({"kind": "mail"}, ["typed"]),
        ({"lifecycle": "standard"}, ["timed", "policy", "typed"]),
        ({"lifecycle": "document"}, []),
        ({"correlation_id": "order-1"}, ["policy"]),
        ({"workflow_id": "wf"}, ["typed"]),
        ({"ended_from": datetime(2020, 1, 1, tzinfo=UTC), "kind": "mail"}, ["typed"]),
        ({"ended_until": datetime(2020, 1, 1, tzinfo=UTC)}, []),
        ({"reason_code": "timeout", "queue": "slow"}, []),
    ],
    ids=str,
)
def test_each_filter_finds_what_it_names(client: SyncClient, filters: dict[str, Any], found: list[str]) -> None:
    bury(client, "typed", kind="mail", workflow_id="wf", error=BROKEN)
    bury(client, "policy", queue="slow", correlation_id="order-1")
    bury(client, "timed", reason_code="timeout", stage="commit")

    assert ids(client, **filters) == found


def test_failed_job_that_was_not_set_aside_is_no_dead_letter(client: SyncClient) -> None:
    client.enqueue("scan", job_id="42")
    client.claim(worker="w1", start=True)
    client.fail("42", worker="w1", attempt=1, error=BROKEN)

    assert ids(client) == []
    with pytest.raises(NotFound, match="job 42 is 'failed', and no dead letter; see: detent job explain 42"):
        client.dead_letter_for("42")


def test_letters_of_every_lifecycle_are_found_whatever_it_calls_the_state(client: SyncClient) -> None:
    bury(client, "standard-1")
    bury(client, "parcel-1", lifecycle="parcel")
    bury(client, "standard-2")
    bury(client, "parcel-2", lifecycle="parcel")

    assert ids(client) == ["standard-2", "standard-1", "parcel-2", "parcel-1"]
    assert ids(client, limit=1) == ids(client)
    assert ids(client, lifecycle="parcel") == ["parcel-2", "parcel-1"]
    assert client.dead_letter_for("parcel-1").job.state == "lost_and_found"


def test_many_letters_are_paged_through_without_loss(client: SyncClient) -> None:
    names = [str(number) for number in range(25)]
    for name in names:
        bury(client, name)

    assert ids(client, limit=10) == names[::-1]


def test_letters_of_another_tenant_are_not_found(client: SyncClient, url: str) -> None:
    bury(client, "42")

    with connect(url, tenant="acme") as other:
        assert ids(other) == []
        with pytest.raises(NotFound):
            other.dead_letter_for("42")


@pytest.mark.parametrize("filters", [{"reason_code": "whim"}, {"stage": "heaven"}])
def test_word_that_no_letter_can_have_is_refused(client: SyncClient, filters: dict[str, str]) -> None:
    with pytest.raises(InvalidArgument, match="use one of"):
        client.dead_letters(**filters)  # type: ignore[arg-type]


@pytest.mark.parametrize("cursor", ["x", "", ".", "0", "-1.", "1.1.1.x", "99.", "999999.", "²."])
def test_cursor_that_no_listing_gave_is_refused(client: SyncClient, cursor: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        client.dead_letters(cursor=cursor)

    assert caught.value.code == "bad_cursor"


def test_cursor_stays_right_when_a_lifecycle_is_registered_between_pages(fresh: World) -> None:
    client = fresh.blocking
    for number in range(4):
        client.enqueue("scan", job_id=f"job-{number}")
        client.dead_letter(f"job-{number}", role="operator")
    first = client.dead_letters(limit=2)
    earlier = replace(STANDARD, name="earlier", states=_renamed(STANDARD.states), moves=_rerouted(STANDARD.moves))
    run(fresh.client.store.register(earlier))

    rest = client.dead_letters(limit=2, cursor=first.cursor)

    assert {letter.job.id for letter in [*first, *rest]} == {f"job-{number}" for number in range(4)}


def _renamed(states: tuple[State, ...]) -> tuple[State, ...]:
    return tuple(replace(state, name="abandoned") if state.name == "dead_lettered" else state for state in states)


def _rerouted(moves: tuple[Move, ...]) -> tuple[Move, ...]:
    return tuple(replace(move, target="abandoned") if move.target == "dead_lettered" else move for move in moves)
