"""A job's story, and a whole period, from the log alone: as an engineer on call would ask for it."""

from datetime import timedelta

import pytest

from detent.client.replaying import DIFFERENCES_MAX, Difference, Replay
from detent.client.verifying import PAGE
from tests.client.world import World


@pytest.mark.requirement("ENG-08", "ALL-15")
def test_job_replays_to_the_end_that_its_record_shows(fresh: World) -> None:
    client = fresh.blocking
    client.enqueue("build", lifecycle="engine", job_id="42")
    fresh.clock.pass_s(1)
    client.claim(worker="engine-1", start=True)
    fresh.clock.pass_s(1)
    client.fail("42", worker="engine-1", attempt=1, error={"type": "BuildError", "message": "no roof"})
    events = client.history("42")
    states = [client.state_at("42", event.at) for event in events]

    assert [event.to_state for event in events] == ["queued", "dispatched", "running", "failed"]
    assert client.state_at("42", events[0].at - timedelta(microseconds=1)) is None
    assert [state and state["state"] for state in states] == ["queued", "running", "running", "failed"]
    assert client.replay().is_same
    assert client.replay().after == {("engine", client.get("42").state): 1}


@pytest.mark.requirement("ENG-08")
def test_period_replays_from_what_was_before_it_to_what_was_after(fresh: World) -> None:
    client = fresh.blocking
    client.enqueue_many([{"kind": "build", "lifecycle": "engine", "job_id": name} for name in "abc"])
    fresh.clock.pass_s(1)
    began = client.claim(worker="engine-1", limit=2, start=True)[0].claimed_at
    fresh.clock.pass_s(1)
    ended = client.complete("a", worker="engine-1", attempt=1).ended_at
    fresh.clock.pass_s(1)
    client.complete("b", worker="engine-1", attempt=1)
    period = client.replay(since=began, until=ended)

    assert period.before == {("engine", "queued"): 3}
    assert period.after == {("engine", "completed"): 1, ("engine", "running"): 1, ("engine", "queued"): 1}
    assert period.events == 5
    assert client.replay().after == {("engine", "completed"): 2, ("engine", "queued"): 1}


def test_replay_says_how_far_it_is(fresh: World) -> None:
    seen: list[int] = []
    fresh.blocking.enqueue_many([{"kind": "scan"} for _ in range(PAGE)])

    fresh.blocking.replay(on_progress=lambda jobs, _: seen.append(jobs))

    assert seen == [PAGE]


def test_prune_of_no_job_at_all_does_not_claim_to_be_done(fresh: World) -> None:
    assert not fresh.blocking.prune(jobs_max=0).is_done


def test_replay_counts_the_differences_that_it_does_not_keep() -> None:
    replayed = Replay()
    replayed.differ([Difference(str(number), "rev", 0, 1) for number in range(DIFFERENCES_MAX + 5)])

    assert (len(replayed.differences), replayed.differing) == (DIFFERENCES_MAX, DIFFERENCES_MAX + 5)
    assert not replayed.is_same
