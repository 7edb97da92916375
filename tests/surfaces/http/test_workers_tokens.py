"""A worker's token acts as its own worker, and nobody's token as more than it is."""

from typing import Any

import pytest

from detent.surfaces.http.grants import VERB_SCOPES
from tests.surfaces.http.asking import LEAST
from tests.surfaces.http.serving import SCOPES, Served

MOVES = [verb for verb in VERB_SCOPES if verb not in ("enqueue", "claim")]
WORKING = [verb for verb in MOVES if "work" in VERB_SCOPES[verb]]


@pytest.fixture(scope="module")
def ocr(service: Served) -> str:
    return service.new_token("work", name="ocr").text


def held(service: Served, worker: str) -> dict[str, Any]:
    return service.claimed(worker)


@pytest.mark.parametrize("verb", WORKING)
def test_worker_does_not_speak_for_another(service: Served, ocr: str, verb: str) -> None:
    job = held(service, "other")
    said = LEAST.get(verb, {}) | {"worker": "other", "attempt": 1}

    alone = service.ask("POST", f"/v1/jobs/{job['id']}/{verb}", said, token=ocr)
    request = said | {"verb": verb, "job_id": job["id"]}
    (in_batch,) = service.ask("POST", "/v1/batch", {"requests": [request]}, token=ocr).said["answers"]

    assert (alone.status, alone.code) == (403, "worker_denied")
    assert in_batch["problem"]["code"] == "worker_denied"
    assert service.ask("GET", f"/v1/jobs/{job['id']}").said["rev"] == job["rev"]


@pytest.mark.parametrize("verb", WORKING)
def test_worker_moves_no_job_that_another_holds(service: Served, ocr: str, verb: str) -> None:
    job = held(service, "other")

    answer = service.ask("POST", f"/v1/jobs/{job['id']}/{verb}", LEAST.get(verb, {}) | {"attempt": 1}, token=ocr)

    assert answer.status in (403, 409, 428)
    assert service.ask("GET", f"/v1/jobs/{job['id']}").said["rev"] == job["rev"]


def test_worker_claims_and_reports_as_itself_alone(service: Served, ocr: str) -> None:
    report = {"queues": ["default"], "started_at": "2026-01-01T00:00:00Z"}

    assert service.ask("POST", "/v1/claims", {"worker": "other"}, token=ocr).code == "worker_denied"
    assert service.ask("POST", "/v1/claims", {"worker": "ocr2"}, token=ocr).code == "worker_denied"
    assert service.ask("PUT", "/v1/workers/other", report, token=ocr).code == "worker_denied"
    assert service.ask("DELETE", "/v1/workers/other", token=ocr).code == "worker_denied"
    assert service.ask("PUT", "/v1/workers/ocr%2Fhost-7", report, token=ocr).status == 204


def test_worker_runs_its_own_jobs_without_saying_who_it_is(service: Served, ocr: str) -> None:
    service.job(queue="ocr")
    (job,) = service.ask("POST", "/v1/claims", {"queues": ["ocr"]}, token=ocr).said["jobs"]
    for verb in ("start", "renew", "progress"):
        said = LEAST.get(verb, {}) | {"attempt": 1}
        assert service.ask("POST", f"/v1/jobs/{job['id']}/{verb}", said, token=ocr).status == 200

    done = service.ask("POST", f"/v1/jobs/{job['id']}/complete", {"attempt": 1, "result": 7}, token=ocr)

    assert (job["owner"], done.said["state"], done.said["last_owner"]) == ("ocr", "succeeded", "ocr")


def test_worker_sees_its_own_jobs_alone(service: Served, ocr: str) -> None:
    theirs, mine = held(service, "other"), held(service, "ocr/host-7")

    assert service.ask("GET", f"/v1/jobs/{theirs['id']}", token=ocr).code == "not_found"
    assert service.ask("GET", f"/v1/jobs/{mine['id']}", token=ocr).status == 200
    found = service.ask("POST", "/v1/lookups", {"job_ids": [theirs["id"], mine["id"]]}, token=ocr).said["jobs"]
    assert [None if job is None else job["id"] for job in found] == [None, mine["id"]]


@pytest.mark.parametrize(
    "field",
    [
        "granted",
        "attempts",
        "state",
        "rev",
        "owner",
        "id",
        "created_at",
        "is_admin",
        "scopes",
        "tx",
        "lease_expires_at",
    ],
)
def test_what_is_not_for_the_asker_to_say_is_refused(service: Served, field: str) -> None:
    token = service.new_token("submit", name=f"mass-{field}").text
    said: dict[str, Any] = {"kind": "k", field: ["operator"] if field == "granted" else 1}

    alone = service.ask("POST", "/v1/jobs", said, token=token)
    (in_batch,) = service.ask("POST", "/v1/batch", {"requests": [said | {"verb": "enqueue"}]}, token=token).said[
        "answers"
    ]

    assert (alone.status, alone.code) == (422, "invalid_argument")
    assert in_batch["problem"]["status"] == 422


@pytest.mark.parametrize("name", ["worker", "actor", "role", "tenant"])
@pytest.mark.parametrize("value", [7, [], {}, True, ["worker"]])
def test_who_asks_is_said_in_text(service: Served, ocr: str, name: str, value: object) -> None:
    request = {"verb": "start", "job_id": "x", name: value}

    for token in (ocr, service.token):
        (answer,) = service.ask("POST", "/v1/batch", {"requests": [request]}, token=token).said["answers"]

        assert answer["problem"]["status"] == 422


@pytest.mark.parametrize("scope", ["submit", "work", "operate"])
@pytest.mark.parametrize(
    "role", ["client", "gateway", "worker", "owner", "operator", "policy", "scheduler", "reconciler"]
)
def test_role_beyond_the_scope_is_refused(service: Served, scope: str, role: str) -> None:
    token = service.new_token(scope, name=f"{scope}-{role}").text
    mine = {
        "submit": ("client", "gateway"),
        "work": ("worker", "owner"),
        "operate": ("operator", "policy", "scheduler"),
    }
    job = service.job()

    answer = service.ask("POST", f"/v1/jobs/{job['id']}/cancel", {"role": role}, token=token)

    assert (answer.code == "role_denied") == (role not in mine[scope])


def test_batch_is_judged_item_by_item(service: Served) -> None:
    token = service.new_token("submit", name="clerk").text
    job = service.job()
    requests = [
        {"verb": "enqueue", "kind": "k"},
        {"verb": "approve", "job_id": job["id"]},
        {"verb": "cancel", "job_id": job["id"]},
        {"verb": "claim", "job_id": job["id"]},
        {"verb": "expire", "job_id": job["id"]},
        {"verb": "enqueue", "kind": "k", "role": "operator"},
        {"verb": "enqueue", "kind": "k", "granted": ["operator"]},
        {"verb": "no such verb"},
        {},
    ]

    answers = service.ask("POST", "/v1/batch", {"requests": requests}, token=token).said["answers"]

    codes = [each.get("problem", {}).get("code") for each in answers]
    assert codes[:6] == [None, "scope_missing", None, "scope_missing", "scope_missing", "role_denied"]
    assert codes[6:] == ["invalid_argument", "scope_missing", "invalid_argument"]


def test_record_says_whose_token_it_was(service: Served) -> None:
    token = service.new_token("submit", name="clerk").text

    answer = service.ask("POST", "/v1/jobs", {"kind": "k", "actor": "root"}, token=token)

    (event,) = service.ask("GET", f"/v1/jobs/{answer.said['id']}/events").said["events"]
    assert event["actor"] == "clerk/root"


def test_every_actor_on_the_record_had_the_scope_for_its_verb(service: Served) -> None:
    """Everybody tries everything, on jobs in every state that the standard lifecycle and dispatch have."""
    tokens = {
        scope: service.new_token(scope, name=f"i24-{scope}", worker="w" if scope == "work" else None)
        for scope in SCOPES
    }
    asked = {
        everybody_tries(service, verb, token.text, lifecycle): verb
        for lifecycle in ("standard", "dispatch")
        for verb in MOVES
        for token in tokens.values()
    }

    events = [event for event in all_events(service) if event["actor"].startswith("i24-")]
    assert {event["actor"] for event in events} == {f"i24-{scope}" for scope in SCOPES if scope != "read"}
    for event in events:
        # What the kernel does of itself, such as a retry after a failure, follows from what was asked of it.
        is_own = event["role"] == "reconciler" or event["job_id"] not in asked
        verb = asked.get(event["job_id"], event["verb"]) if is_own else event["verb"]
        assert event["actor"].removeprefix("i24-") in VERB_SCOPES[verb], event


def everybody_tries(service: Served, verb: str, token: str, lifecycle: str) -> str:
    job = service.job(lifecycle=lifecycle, queue="i24", submit=True)
    service.ask("POST", "/v1/claims", {"queues": ["i24"], "worker": "w", "limit": 100, "start": verb != "start"})
    now = service.ask("GET", f"/v1/jobs/{job['id']}").said
    said = LEAST.get(verb, {}) | {"expected_rev": now["rev"]}
    service.ask("POST", f"/v1/jobs/{job['id']}/{verb}", said, token=token)
    made: str = job["id"]
    return made


def all_events(service: Served) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor = "0"
    while True:
        page = service.ask("GET", f"/v1/events?limit=1000&cursor={cursor}").said
        if not page["events"]:
            return found
        found += page["events"]
        cursor = page["cursor"]


def test_job_of_another_is_told_of_in_the_same_words_as_none_at_all(service: Served, ocr: str) -> None:
    other = service.claimed(worker="mail")["id"]
    theirs = service.ask("GET", f"/v1/jobs/{other}", token=ocr)
    none = service.ask("GET", "/v1/jobs/no-such-job", token=ocr)

    assert (theirs.status, none.status) == (404, 404)
    assert theirs.body.replace(other.encode(), b"X") == none.body.replace(b"no-such-job", b"X")
