"""Tenants never see each other, whatever they know of each other."""

from concurrent.futures import ThreadPoolExecutor, wait

import pytest
from msgspec import Struct

from tests.surfaces.http.serving import Answer, Served
from tests.surfaces.http.streams import Stream

SCOPES = ("submit", "work", "read", "operate")


class Tenant(Struct, frozen=True):
    service: Served
    token: str
    admin: str

    def ask(self, method: str, path: str, said: object = None, **more: str) -> Answer:
        headers = {name.replace("_", "-"): value for name, value in more.items()}
        return self.service.ask(method, path, said, token=self.token, headers=headers)


def tenant(service: Served, name: str) -> Tenant:
    token = service.new_token(*SCOPES, tenant=name, name=f"{name}-all", worker="w")
    return Tenant(service, token.text, service.new_token("admin", tenant=name, name=f"{name}-admin").text)


@pytest.fixture(scope="module")
def ours(service: Served) -> Tenant:
    return tenant(service, "ours")


@pytest.fixture(scope="module")
def theirs(service: Served) -> Tenant:
    """With something of everything."""
    found = tenant(service, "theirs")
    for number in range(3):
        body = {"kind": "theirs", "queue": "theirs", "dedupe_key": f"d{number}", "request_id": f"r{number}"}
        assert found.ask("POST", "/v1/jobs", body | {"payload": "theirs", "limit_key": "theirs"}).status == 201
    assert found.ask("PUT", "/v1/workers/w", {"queues": ["theirs"], "started_at": "2026-01-01T00:00:00Z"}).status == 204
    schedule = {"name": "theirs", "cron": "* * * * *", "kind": "theirs", "next_at": "2030-01-01T00:00:00Z"}
    assert found.ask("PUT", "/v1/schedules", {"schedules": [schedule]}).status == 200
    assert found.ask("POST", "/v1/queues/theirs/pause", {"reason": "theirs"}).status == 204
    letter = found.ask("POST", "/v1/jobs", {"kind": "theirs", "queue": "letters", "job_id": "letter"}).said["id"]
    said = {"reason_code": "timeout", "stage": "exec", "role": "operator"}
    assert found.ask("POST", f"/v1/jobs/{letter}/dead_letter", said).status == 200
    return found


@pytest.mark.parametrize(
    "path",
    [
        "/v1/jobs",
        "/v1/jobs?kind=theirs",
        "/v1/jobs?dedupe_key=d1",
        "/v1/counts?by=kind,queue",
        "/v1/events?limit=1000",
        "/v1/events?cursor=0&limit=1000",
        "/v1/events?kind=theirs",
        "/v1/events/recent?limit=1000",
        "/v1/stories?limit=1000",
        "/v1/stories?job_id=letter",
        "/v1/dead-letters",
        "/v1/queues",
        "/v1/queues/theirs",
        "/v1/queue-settings",
        "/v1/limit-keys/theirs",
        "/v1/workers",
        "/v1/schedules",
        "/metrics",
    ],
)
def test_listing_shows_nothing_of_another_tenant(ours: Tenant, theirs: Tenant, path: str) -> None:
    seen, shown = ours.ask("GET", path), theirs.ask("GET", path)

    assert (seen.status, shown.status) == (200, 200)
    about = seen.body.replace(b'"name":"theirs"', b"").replace(b'"key":"theirs"', b"")  # what was asked for, said back
    assert b"theirs" not in about
    if path not in ("/v1/limit-keys/theirs", "/v1/stories?job_id=letter", "/metrics"):
        assert seen.body != shown.body


def test_jobs_that_wait_for_a_verdict_are_not_shown_to_another_tenant(ours: Tenant, theirs: Tenant) -> None:
    asked = {"queues": ["gated"], "kinds": ["gated"]}
    theirs.ask("POST", "/v1/jobs", {"kind": "gated", "queue": "gated", "lifecycle": "dispatch"})
    seen, shown = ours.ask("POST", "/v1/unjudged", asked), theirs.ask("POST", "/v1/unjudged", asked)

    assert (seen.said["jobs"], len(shown.said["jobs"])) == ([], 1)


def test_tokens_of_another_tenant_are_neither_listed_nor_revoked(service: Served, ours: Tenant, theirs: Tenant) -> None:
    listed = service.ask("GET", "/v1/tokens", token=ours.admin)
    their_id = theirs.token.split("_")[1]

    revoked = service.ask("DELETE", f"/v1/tokens/{their_id}", token=ours.admin)

    assert {each["tenant"] for each in listed.said["tokens"]} == {"ours"}
    assert (revoked.status, revoked.code) == (404, "not_found")
    assert theirs.ask("GET", "/v1/session").status == 200


@pytest.mark.parametrize("path", ["/v1/tokens?all_tenants=true", "/v1/stories?all_tenants=true"])
def test_admin_of_one_tenant_does_not_see_all(service: Served, ours: Tenant, path: str) -> None:
    answer = service.ask("GET", path, token=ours.admin)

    assert (answer.status, answer.code) == (403, "tenant_denied")


def test_admin_of_one_tenant_does_not_change_what_all_share(service: Served, ours: Tenant) -> None:
    standard = service.ask("GET", "/v1/lifecycles/standard").said["definition"]
    newer = {"lifecycles": [standard | {"version": 9}]}

    added = service.ask("POST", "/v1/lifecycles", newer, token=ours.admin)
    brought = service.ask("POST", "/v1/lifecycles", {"lifecycles": [standard]}, token=ours.admin)
    checked = service.ask("POST", "/v1/checks", token=ours.admin)
    made = service.ask(
        "POST", "/v1/tokens", {"name": "x", "scopes": ["admin"], "is_any_tenant": True}, token=ours.admin
    )

    assert (added.status, added.code) == (403, "tenant_denied")
    assert brought.status == 200
    assert (checked.code, made.code) == ("tenant_denied", "tenant_denied")


@pytest.mark.parametrize("who", ["ours", "default"])
def test_no_admin_of_one_tenant_makes_jobs_for_another(service: Served, theirs: Tenant, who: str) -> None:
    admin = service.new_token("admin", tenant=who).text
    job = {"kind": "k", "tenant": "theirs"}

    alone = service.ask("POST", "/v1/jobs", job, token=admin)
    many = service.ask(
        "POST", "/v1/batch", {"requests": [job | {"verb": "enqueue"}, {"verb": "enqueue", "kind": "k"}]}, token=admin
    )

    assert (alone.status, alone.code) == (403, "tenant_denied")
    assert [each.get("problem", {}).get("code") for each in many.said["answers"]] == ["tenant_denied", None]


def test_request_id_and_dedupe_key_of_another_tenant_are_free(ours: Tenant, theirs: Tenant) -> None:
    made = ours.ask("POST", "/v1/jobs", {"kind": "other", "dedupe_key": "d0"}, idempotency_key="r0")

    assert (made.status, made.said["answer"], made.said["tenant"]) == (201, "applied", "ours")


def test_job_of_the_same_id_is_another_job(ours: Tenant, theirs: Tenant) -> None:
    before = theirs.ask("GET", "/v1/jobs/letter").said

    made = ours.ask("POST", "/v1/jobs", {"kind": "mine", "job_id": "letter", "parent_job_id": "letter"})

    assert (made.status, made.said["tenant"]) == (201, "ours")
    assert b"theirs" not in ours.ask("GET", "/v1/jobs/letter/tree").body
    assert b"theirs" not in ours.ask("GET", "/v1/jobs/letter/events").body
    assert theirs.ask("GET", "/v1/jobs/letter").said == before


def test_live_reader_hears_of_its_own_tenant_alone(service: Served, ours: Tenant, theirs: Tenant) -> None:
    with Stream(service.port, ours.token) as live, Stream(service.port, ours.token, "?cursor=0") as from_start:
        live.until(b"from here on")
        theirs.ask("POST", "/v1/jobs", {"kind": "theirs"})
        ours.ask("POST", "/v1/jobs", {"kind": "k", "correlation_id": "the-last"})
        for stream in (live, from_start):
            stream.until(b"the-last")

            assert {event["tenant"] for event in stream.events} == {"ours"}
        assert len(live.events) == 1


@pytest.mark.parametrize("path", ["/v1/events/end?wait_s=30&after=", "/v1/news?wait_s=30&seen="])
def test_who_waits_is_not_woken_by_another_tenant(ours: Tenant, theirs: Tenant, path: str) -> None:
    before = ours.ask("GET", "/v1/events/end").said["cursor"]
    with ThreadPoolExecutor(1) as background:
        waiting = background.submit(ours.ask, "GET", f"{path}{before}")
        theirs.ask("POST", "/v1/jobs", {"kind": "theirs", "queue": "loud"})
        woken, _ = wait([waiting], 0.5)
        made = ours.ask("POST", "/v1/jobs", {"kind": "k"})
        answer = waiting.result(30)

    assert not woken
    assert (made.status, answer.status) == (201, 200)
    (place,) = answer.said.values()
    assert ours.ask("GET", f"/v1/events?cursor={place}").said["events"] == []


def test_lookup_redrive_and_purge_find_nothing_of_another_tenant(service: Served, ours: Tenant, theirs: Tenant) -> None:
    job_id = theirs.ask("GET", "/v1/jobs?queue=theirs").said["jobs"][0]["id"]
    ids = {"job_ids": [job_id]}

    assert ours.ask("POST", "/v1/lookups", ids).said == {"jobs": [None]}
    assert ours.ask("POST", "/v1/dead-letters/redrive", ids).said["answers"][0]["problem"]["code"] == "not_found"
    assert service.ask("POST", "/v1/dead-letters/purge", ids, token=ours.admin).said["jobs"] == 0
    assert service.ask("POST", "/v1/purges", ids, token=ours.admin).said["jobs"] == 0
    assert ours.ask("POST", "/v1/batch", {"requests": [{"verb": "cancel", "job_id": job_id}]}).said["answers"][0][
        "problem"
    ]["code"] == "not_found"  # fmt: skip
    assert theirs.ask("GET", f"/v1/jobs/{job_id}").said["state"] == "queued"


def test_claim_takes_nothing_of_another_tenant(ours: Tenant, theirs: Tenant) -> None:
    theirs.ask("POST", "/v1/queues/theirs/resume")

    assert ours.ask("POST", "/v1/claims", {"queues": ["theirs"], "limit": 100}).said == {"jobs": []}


@pytest.mark.parametrize("name", ["größe", "日本", "a b"])
def test_tenant_of_any_name_can_be_asked_for(service: Served, name: str) -> None:
    headers = {"detent-tenant": name.encode().decode("latin-1")}

    made = service.ask("POST", "/v1/jobs", {"kind": "k", "request_id": name}, headers=headers)
    again = service.ask(
        "POST", "/v1/jobs", {"kind": "k"}, headers=headers | {"idempotency-key": headers["detent-tenant"]}
    )

    assert made.said["tenant"] == name
    assert again.said["answer"] == "repeat"


@pytest.mark.parametrize("name", ["", "a\tb", "\xff", "x" * 256])
def test_tenant_that_is_no_name_is_refused(service: Served, name: str) -> None:
    answer = service.ask("GET", "/v1/jobs", headers={"detent-tenant": name})

    assert (answer.status, answer.code) == (422, "invalid_argument")
