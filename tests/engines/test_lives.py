"""An engine of the npm client lives through everything that can happen to a job of it."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.engines.playing import HURRIED, KIND, Puppet, scene
from tests.surfaces.http.process import WAIT_S, Service, until

Engines = Callable[[], Puppet]


def telemetry(service: Service, job_id: str) -> list[dict[str, Any]]:
    status, said = service.ask("GET", f"/v1/jobs/{job_id}/telemetry")
    assert status == 200
    items: list[dict[str, Any]] = said["telemetry"]
    return items


def ended(service: Service, job_id: str) -> dict[str, Any]:
    until(lambda: service.state(job_id) in ("completed", "failed"))
    job: dict[str, Any] = service.ask("GET", f"/v1/jobs/{job_id}")[1]
    names = [item["name"] for item in telemetry(service, job_id)]
    assert names[0] == "JOB_QUEUED"
    assert sum(name in ("JOB_COMPLETED", "JOB_FAILED") for name in names) == 1
    return job


@pytest.mark.requirement("ENG-07", "ENG-05", "ENG-06")
@pytest.mark.parametrize("transport", ["websocket", "polling"])
def test_job_lives_from_offer_to_end(service: Service, engine: Engines, transport: str) -> None:
    one = engine().connected(service.token, transports=[transport])
    one.registered(f"whole-{transport}", capacity=2)
    job_id = scene(service)
    (offer,) = one.heard("job_offer")
    still = service.state(job_id)
    taken = one.ask("job_ack", {"jobId": job_id})
    started = one.ask("job_started", {"jobId": job_id, "attempt": 1})
    progress = one.ask("job_progress", {"jobId": job_id, "progress": 40, "message": "textures"})
    alive = one.ask("heartbeat")
    done = one.ask("job_complete", {"jobId": job_id, "result": {"triangles": 12}})

    assert offer["job"] == {
        "jobId": job_id, "userId": "u1", "jobType": KIND, "payload": {"scene": 7}, "status": "queued",
        "submittedAt": offer["job"]["submittedAt"], "queuedAt": offer["job"]["submittedAt"], "dispatchedAt": None,
        "startedAt": None, "completedAt": None, "error": None, "retryCount": 0, "engineId": None,
    }  # fmt: skip
    assert still == "queued"  # an offer is no move
    assert (taken["accepted"], taken["attempt"], taken["job"]["status"]) == (True, 1, "dispatched")
    assert (started["job"]["status"], progress["accepted"], alive["held"]) == ("running", True, 1)
    assert (done["job"]["status"], done["job"]["engineId"]) == ("completed", f"whole-{transport}")
    assert ended(service, job_id)["result"] == {"triangles": 12}
    names = [item["name"] for item in telemetry(service, job_id)]
    assert names == ["JOB_QUEUED", "JOB_DISPATCHED", "JOB_RUNNING", "JOB_PROGRESS", "JOB_COMPLETED"]


@pytest.mark.requirement("ENG-01", "ENG-07")
def test_job_is_started_once_it_was_acknowledged_and_ends_once_it_was_started(
    service: Service, engine: Engines
) -> None:
    one = engine().connected(service.token)
    one.registered("orderly")
    job_id = scene(service)
    one.heard("job_offer")
    early = one.ask("job_started", {"jobId": job_id, "attempt": 1})
    one.ask("job_ack", {"jobId": job_id})
    too_soon = one.ask("job_complete", {"jobId": job_id})

    assert (early["accepted"], early["code"], early["status"]) == (False, "illegal_move", "queued")
    assert (too_soon["accepted"], too_soon["code"], too_soon["status"]) == (False, "illegal_move", "dispatched")
    assert "start" in too_soon["allowed"]
    one.ask("job_started", {"jobId": job_id})
    one.ask("job_complete", {"jobId": job_id})
    assert ended(service, job_id)["state"] == "completed"


@pytest.mark.requirement("ENG-07")
def test_messages_that_come_twice_change_nothing(service: Service, engine: Engines) -> None:
    one = engine().connected(service.token)
    one.registered("twice")
    job_id = scene(service)
    one.heard("job_offer")
    said = [
        ("job_ack", {"jobId": job_id}),
        ("job_started", {"jobId": job_id}),
        ("job_complete", {"jobId": job_id, "result": 1}),
    ]
    answers = [one.ask(*each) for each in said for _ in range(2)]
    other = one.ask("job_complete", {"jobId": job_id, "result": 2})

    assert [answer["accepted"] for answer in answers] == [True] * 6
    assert (other["accepted"], other["code"]) == (False, "request_conflict")
    assert other["detail"] == "this attempt was reported to have ended otherwise; what was reported first stands"
    job = ended(service, job_id)
    assert (job["rev"], job["attempt"], job["result"]) == (4, 1, 1)


@pytest.mark.requirement("ENG-04", "ENG-10", "ENG-03")
@pytest.mark.parametrize(
    ("said", "category", "error"),
    [
        ({"error": "BAD_ASSET: corrupted_texture.png"}, "engine", "BAD_ASSET: corrupted_texture.png"),
        ({"error": "INVALID_ENTITY: hp < 0", "category": "validation"}, "validation", "INVALID_ENTITY: hp < 0"),
        ({"error": "OutOfMemory: 16 GB"}, "system", "OutOfMemory: 16 GB"),
        ({"error": "it fell over", "category": "system"}, "system", "EngineError: it fell over"),
    ],
)
def test_failure_has_its_category(
    service: Service, engine: Engines, said: dict[str, str], category: str, error: str
) -> None:
    one = engine().connected(service.token)
    one.registered("failing")
    job_id = scene(service)
    one.took(job_id)
    one.ask("job_started", {"jobId": job_id})
    failed = one.ask("job_failed", {"jobId": job_id, **said})

    assert (failed["job"]["status"], failed["job"]["error"]) == ("failed", error)
    assert ended(service, job_id)["error"]["category"] == category
    last = telemetry(service, job_id)[-1]
    assert (last["name"], last["data"]["category"], last["data"]["error"]) == ("JOB_FAILED", category, error)


@pytest.mark.requirement("ENG-11")
def test_failed_job_is_run_again_as_another_if_its_policy_asks_for_that(service: Service, engine: Engines) -> None:
    one = engine().connected(service.token)
    one.registered("again", queues=["rerun"])
    policy = {"rerun_failed": True, "retry": {"max_attempts": 2, "base_s": 0}}
    first = scene(service, queue="rerun", policy=policy)
    one.took(first)
    one.ask("job_started", {"jobId": first})
    failed = one.ask("job_failed", {"jobId": first, "error": "BAD_ASSET: torn.png"})
    second = one.heard("job_offer")[0]["job"]
    one.ask("job_ack", {"jobId": second["jobId"]})
    one.ask("job_started", {"jobId": second["jobId"]})
    one.ask("job_failed", {"jobId": second["jobId"], "error": "BAD_ASSET: torn.png"})
    jobs = service.ask("GET", "/v1/jobs?queue=rerun")[1]["jobs"]

    assert (failed["job"]["retryCount"], second["retryCount"]) == (0, 1)
    assert {each["id"]: each["rerun_of"] for each in jobs} == {first: None, second["jobId"]: first}
    assert {each["state"] for each in jobs} == {"failed"}


@pytest.mark.requirement("ENG-04", "ENG-10")
def test_what_no_engine_could_run_is_refused_before_it_is_queued(service: Service) -> None:
    status, problem = service.ask("POST", "/v1/jobs", {"lifecycle": "engine"})

    assert (status, problem["code"]) == (422, "invalid_argument")


@pytest.mark.requirement("ENG-02", "ENG-04", "ENG-10")
@pytest.mark.parametrize(
    ("state", "limits", "category"),
    [
        ("queued", {"timeouts": {"queued": 0.5}}, "queue"),
        ("dispatched", {"timeouts": {"dispatched": 0.5}}, "system"),
        ("running", {"timeouts": {"running": 0.5}}, "engine"),
    ],
)
def test_time_in_each_state_is_limited_and_the_engine_is_told(
    service: Service, engine: Engines, state: str, limits: dict[str, Any], category: str
) -> None:
    one = engine().connected(service.token)
    one.registered(f"slow-{state}")
    job_id = scene(service, policy=limits)
    one.heard("job_offer")
    if state != "queued":
        one.ask("job_ack", {"jobId": job_id})
    if state == "running":
        one.ask("job_started", {"jobId": job_id})
    job = ended(service, job_id)

    assert (job["state"], job["error"]["type"], job["error"]["category"]) == ("failed", "TimedOut", category)
    if state != "queued":
        (lost,) = one.heard("job_lost")
        assert (lost["jobId"], lost["attempt"], lost["status"]) == (job_id, 1, "failed")
        late = one.ask("job_complete", {"jobId": job_id, "result": "late"})
        assert (late["accepted"], late["status"]) == (False, "failed")


@pytest.mark.requirement("ENG-07")
def test_closed_socket_loses_nothing_and_the_engine_goes_on_where_it_was(service: Service, engine: Engines) -> None:
    one = engine().connected(service.token)
    one.registered("returning", instanceId="i1")
    job_id = scene(service, policy=HURRIED)
    attempt = one.took(job_id)["attempt"]
    one.ask("job_started", {"jobId": job_id})
    one.disconnect()
    held = service.state(job_id)
    one.connected(service.token)
    again = one.registered("returning", instanceId="i1", jobs=[{"jobId": job_id, "attempt": attempt}])
    repeated = one.ask("job_started", {"jobId": job_id})
    done = one.ask("job_complete", {"jobId": job_id})

    assert held == "running"
    assert [(each["job"]["jobId"], each["attempt"]) for each in again["jobs"]] == [(job_id, 1)]
    assert (repeated["accepted"], done["job"]["status"]) == (True, "completed")
    ended(service, job_id)


@pytest.mark.requirement("ENG-07", "ALL-07")
def test_engine_that_was_started_anew_does_not_get_what_it_held_before(service: Service, engine: Engines) -> None:
    one = engine().connected(service.token)
    one.registered("reborn")
    job_id = scene(service, policy=HURRIED)
    one.took(job_id)
    one.ask("job_started", {"jobId": job_id})
    one.disconnect()
    one.connected(service.token)
    wrong = one.registered("reborn", jobs=[{"jobId": job_id, "attempt": 2}, {"jobId": job_id}, {"jobId": "none"}])

    assert (wrong["jobs"], [each["jobId"] for each in wrong["lost"]]) == ([], [job_id, job_id, "none"])
    job = ended(service, job_id)  # nobody renews it, so that it is lost
    assert (job["state"], job["error"]["category"], job["error"]["type"]) == ("failed", "system", "LeaseExpired")


@pytest.mark.requirement("ENG-07")
def test_acknowledgement_whose_answer_was_lost_can_be_taken_up(service: Service, engine: Engines) -> None:
    one = engine().connected(service.token)
    one.registered("unsure")
    job_id = scene(service)
    one.took(job_id)
    one.disconnect()
    one.connected(service.token)
    again = one.registered("unsure", jobs=[{"jobId": job_id}])

    assert [each["attempt"] for each in again["jobs"]] == [1]
    one.ask("job_started", {"jobId": job_id})
    assert one.ask("job_complete", {"jobId": job_id})["accepted"]


@pytest.mark.requirement("ENG-07", "ENG-10")
def test_lost_engine_fails_its_jobs_and_no_others(service: Service, engine: Engines) -> None:
    lost, there = engine().connected(service.token), engine().connected(service.token)
    lost.registered("lost")
    mine = scene(service, policy=HURRIED)
    lost.took(mine)
    lost.ask("job_started", {"jobId": mine})
    there.registered("there")
    other = scene(service, policy=HURRIED)
    there.took(other)
    there.ask("job_started", {"jobId": other})
    lost.disconnect()
    began_s = time.monotonic()
    while service.state(mine) == "running":
        assert there.ask("heartbeat")["held"] == 1
        assert time.monotonic() - began_s < WAIT_S
        time.sleep(0.3)

    assert ended(service, mine)["error"]["category"] == "system"
    assert there.ask("job_complete", {"jobId": other})["accepted"]


@pytest.mark.requirement("ENG-07", "ALL-17")
@pytest.mark.parametrize("mode", ["soft", "hard"])
def test_engine_is_told_to_stop_and_says_when_it_has(service: Service, engine: Engines, mode: str) -> None:
    one = engine().connected(service.token)
    one.registered(f"stopping-{mode}")
    job_id = scene(service)
    one.took(job_id)
    one.ask("job_started", {"jobId": job_id})
    service.ask("POST", f"/v1/jobs/{job_id}/cancel", {"mode": mode, "actor": "ops", "reason": "not needed"})
    if mode == "soft":
        (told,) = one.heard("job_cancel")
        beat = one.ask("heartbeat")
        stopped = one.ask("job_cancelled", {"jobId": job_id})
        assert (told["reason"], told["attempt"]) == ("not needed", 1)
        assert [each["reason"] for each in beat["cancelled"]] == ["not needed"]
        assert (told["jobId"], [each["jobId"] for each in beat["cancelled"]]) == (job_id, [job_id])
        assert stopped["job"]["status"] == "failed"
    else:
        (told,) = one.heard("job_lost")
        assert (told["jobId"], told["status"]) == (job_id, "failed")

    assert ended(service, job_id)["error"]["category"] == "cancelled"


@pytest.mark.requirement("ENG-07")
def test_newer_connection_of_an_engine_takes_the_place_of_the_older(service: Service, engine: Engines) -> None:
    old, new = engine().connected(service.token), engine().connected(service.token)
    old.registered("same")
    new.registered("same")

    assert old.heard("superseded") == [{"engineId": "same"}]
    old.heard("disconnect")
    job_id = scene(service)
    assert new.took(job_id)["accepted"]
    new.ask("job_started", {"jobId": job_id})
    new.ask("job_complete", {"jobId": job_id})
