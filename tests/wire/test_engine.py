"""The engine job object, and old names beside new ones."""

from typing import Any

import msgspec
import pytest

from detent.errors import InvalidArgument
from detent.lifecycle import Policy
from detent.lifecycles import ENGINE
from detent.wire.engine import job_of, state_named, status_name
from tests.driving import Life


def shown(life: Life, *, legacy: bool = False) -> dict[str, Any]:
    decoded = msgspec.json.decode(msgspec.json.encode(job_of(ENGINE, life.job, legacy=legacy)))
    assert isinstance(decoded, dict)
    return decoded


def queued(**fields: Any) -> Life:
    return Life(
        ENGINE, kind="BUILD_SCENE", payload=b'{"scene": "lobby", "lod": 2}', env={"user_id": "user_123"}, **fields
    )


@pytest.mark.requirement("ENG-06")
def test_job_object_follows_a_job_from_queued_to_completed() -> None:
    life = queued()
    new = shown(life)
    life.wait(1)
    life.claim()
    life.wait(0.1)
    life.start()
    life.wait(3.9)
    life.complete()

    fixed = {
        "jobId": "job-1", "userId": "user_123", "jobType": "BUILD_SCENE", "payload": {"scene": "lobby", "lod": 2},
        "submittedAt": 1738425600123, "queuedAt": 1738425600123, "error": None, "retryCount": 0,
    }  # fmt: skip
    assert new == fixed | {
        "status": "queued", "dispatchedAt": None, "startedAt": None, "completedAt": None, "engineId": None,
    }  # fmt: skip
    assert shown(life) == fixed | {
        "status": "completed",
        "dispatchedAt": 1738425601123,
        "startedAt": 1738425601223,
        "completedAt": 1738425605123,
        "engineId": "worker-1",
    }


@pytest.mark.requirement("ENG-06")
def test_failed_job_shows_the_code_and_the_message_of_its_error() -> None:
    life = queued()
    life.claim(start=True)
    life.fail("EngineError", "corrupted_texture.png", code="BAD_ASSET")

    assert shown(life)["status"] == "failed"
    assert shown(life)["error"] == "BAD_ASSET: corrupted_texture.png"
    assert shown(life)["completedAt"] is not None


@pytest.mark.requirement("ENG-06")
def test_job_without_a_user_has_none() -> None:
    assert shown(Life(ENGINE))["userId"] is None
    assert shown(Life(ENGINE))["payload"] is None


@pytest.mark.requirement("ENG-06", "ENG-11")
def test_rerun_of_a_failed_job_is_a_new_object_with_the_count_carried_on() -> None:
    life = queued(policy=Policy(lease_s=30, rerun_failed=True))
    life.claim(start=True)
    life.fail("NetworkError")
    (spawned,) = life.spawned
    again = job_of(ENGINE, spawned.job)

    assert shown(life)["retryCount"] == 0
    assert (again.status, again.retry_count, again.user_id) == ("queued", 1, "user_123")
    assert again.job_id != "job-1"
    assert spawned.job.spec.parent_job_id == "job-1"


@pytest.mark.requirement("ENG-11")
def test_failed_job_is_not_run_again_unless_asked_for() -> None:
    life = queued()
    life.claim(start=True)
    life.fail("NetworkError")

    assert life.spawned == []


@pytest.mark.requirement("ENG-09")
def test_old_clients_see_the_names_they_know() -> None:
    life = queued()
    old = [shown(life, legacy=True)["status"]]
    life.claim()
    old.append(shown(life, legacy=True)["status"])
    life.start()
    old.append(shown(life, legacy=True)["status"])
    life.complete()
    old.append(shown(life, legacy=True)["status"])

    assert old == ["queued", "dispatched", "started", "finished"]
    assert shown(life)["status"] == "completed"


@pytest.mark.requirement("ENG-09")
@pytest.mark.parametrize("state", [state.name for state in ENGINE.states])
def test_status_is_understood_by_its_new_name_and_by_its_old_one(state: str) -> None:
    assert state_named(ENGINE, status_name(ENGINE, state)).name == state
    assert state_named(ENGINE, status_name(ENGINE, state, legacy=True)).name == state


@pytest.mark.requirement("ENG-09")
def test_renames_are_the_published_ones() -> None:
    assert state_named(ENGINE, "started").name == "running"
    assert state_named(ENGINE, "finished").name == "completed"


@pytest.mark.parametrize("status", ["", "STARTED", "done", "x" * 10_000])
def test_status_that_never_was_is_refused_with_those_that_are(status: str) -> None:
    with pytest.raises(InvalidArgument, match="dispatched") as refusal:
        state_named(ENGINE, status)

    assert refusal.value.code == "unknown_status"
    assert len(str(refusal.value)) < 300
