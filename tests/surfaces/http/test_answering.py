"""What every answer has, and what a repeated or conditional request gets."""

from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import pytest

from tests.surfaces.http.serving import Served

SECURITY = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/healthz", 200),
        ("GET", "/v1/nowhere", 404),
        ("PUT", "/v1/jobs", 405),
        ("OPTIONS", "/v1/jobs", 405),
        ("HEAD", "/v1/jobs", 200),
        ("GET", "/v1/jobs/nowhere", 404),
        ("POST", "/v1/jobs", 422),
        ("GET", "/v1/jobs/%FF", 404),
    ],
)
def test_every_answer_has_security_headers_and_none_names_the_server(
    service: Served, method: str, path: str, status: int
) -> None:
    answer = service.ask(method, path)

    assert answer.status == status
    assert {name: answer.headers.get(name) for name in SECURITY} == SECURITY
    assert "server" not in answer.headers
    assert "strict-transport-security" not in answer.headers
    assert not [name for name in answer.headers if name.startswith("access-control-")]


def test_refused_method_says_which_are_allowed(service: Served) -> None:
    answer = service.ask("PATCH", "/v1/jobs/x")

    assert (answer.status, answer.code) == (405, "method_not_allowed")
    assert "GET" in answer.headers["allow"]


def test_problem_of_a_refused_move_has_its_state_and_what_is_allowed(service: Served) -> None:
    job = service.job()

    answer = service.ask("POST", f"/v1/jobs/{job['id']}/start", {"worker": "w", "attempt": 1})

    assert (answer.status, answer.headers["content-type"]) == (409, "application/problem+json")
    assert answer.said["code"] == "illegal_move"
    assert answer.said["type"] == "urn:detent:problem:illegal_move"
    assert (answer.said["state"], answer.said["verb"], answer.said["job_id"]) == ("queued", "start", job["id"])
    assert "claim" in answer.said["allowed"]


def test_read_with_its_etag_is_answered_with_304_until_something_changes(service: Served) -> None:
    job = service.job()
    path = f"/v1/jobs/{job['id']}"
    etag = service.ask("GET", path).headers["etag"]

    again = service.ask("GET", path, headers={"if-none-match": f'"other", {etag}'})
    service.ask("POST", f"{path}/cancel", {})
    changed = service.ask("GET", path, headers={"if-none-match": etag})

    assert (again.status, again.body, again.headers["etag"]) == (304, b"", etag)
    assert changed.status == 200
    assert changed.headers["etag"] != etag


def test_listing_has_an_etag_too(service: Served) -> None:
    service.job(kind="listed")
    etag = service.ask("GET", "/v1/jobs?kind=listed").headers["etag"]

    assert service.ask("GET", "/v1/jobs?kind=listed", headers={"if-none-match": etag}).status == 304
    service.job(kind="listed")
    assert service.ask("GET", "/v1/jobs?kind=listed", headers={"if-none-match": etag}).status == 200


def test_head_says_what_get_would_without_the_body(service: Served) -> None:
    path = f"/v1/jobs/{service.job()['id']}"

    looked, asked = service.ask("GET", path), service.ask("HEAD", path)

    assert (asked.status, asked.body) == (200, b"")
    assert asked.headers["etag"] == looked.headers["etag"]
    assert service.ask("HEAD", path, headers={"if-none-match": looked.headers["etag"]}).status == 304


def test_head_of_the_live_stream_ends(service: Served) -> None:
    answer = service.ask("HEAD", "/v1/events", headers={"accept": "text/event-stream"})

    assert (answer.status, answer.body) == (200, b"")


def test_stale_if_match_is_refused_and_the_right_one_accepted(service: Served) -> None:
    job = service.job()
    path = f"/v1/jobs/{job['id']}/cancel"

    stale = service.ask("POST", path, {}, headers={"if-match": '"7"'})
    nonsense = service.ask("POST", path, {}, headers={"if-match": '"abc"'})
    twice = service.ask("POST", path, {"expected_rev": 2}, headers={"if-match": '"1"'})
    right = service.ask("POST", path, {}, headers={"if-match": '"1"'})

    assert (stale.status, stale.code) == (412, "stale_rev")
    assert (nonsense.status, twice.status, right.status) == (422, 422, 200)


def test_etag_of_a_job_is_no_other_jobs_of_the_same_id(service: Served) -> None:
    path = "/v1/jobs/reborn"
    service.job(job_id="reborn")
    old = service.ask("GET", path).headers["etag"]
    assert service.ask("POST", f"{path}/cancel", {}).status == 200
    assert service.ask("POST", "/v1/purges", {"job_ids": ["reborn"]}).said["jobs"] == 1
    service.job(job_id="reborn")

    looked = service.ask("GET", path, headers={"if-none-match": old})
    stale = service.ask("POST", f"{path}/cancel", {}, headers={"if-match": old})
    bare = service.ask("POST", f"{path}/cancel", {}, headers={"if-match": '"1"'})

    assert (looked.status, looked.said["rev"]) == (200, 1)
    assert (stale.status, stale.code) == (412, "stale_rev")
    assert bare.status == 200


def test_etag_is_what_if_match_takes(service: Served) -> None:
    job = service.claimed()
    path, who = f"/v1/jobs/{job['id']}", {"worker": "w1", "attempt": 1}
    service.ask("POST", f"{path}/start", who)
    service.ask("POST", f"{path}/progress", who | {"progress": {"fraction": 0.5}})
    etag = service.ask("GET", path).headers["etag"]

    assert service.ask("POST", f"{path}/renew", who, headers={"if-match": etag}).status == 200
    assert service.ask("POST", f"{path}/renew", who, headers={"if-match": etag}).code == "stale_rev"


def test_result_for_another_job_of_the_same_id_is_stale(service: Served) -> None:
    job = service.job(lifecycle="dispatch")
    result = {"job_id": job["id"], "status": "CANCELLED"}

    stale = service.ask("POST", "/v1/job-results", result, headers={"if-match": f'"{job["rev"]}-abc"'})

    assert (stale.status, stale.code) == (412, "stale_rev")


@pytest.mark.parametrize(
    "given", ['"7-x"', '"7--1"', '"-1"', '"7-1-2-3"', "7;8", '"' + "9" * 30 + '"', '"7-' + "a" * 99]
)
def test_what_is_no_etag_of_a_job_is_refused(service: Served, given: str) -> None:
    answer = service.ask("POST", f"/v1/jobs/{service.job()['id']}/cancel", {}, headers={"if-match": given})

    assert (answer.status, answer.code) == (422, "invalid_argument")


def test_repeat_of_an_idempotency_key_is_the_same_job_as_it_is_now(service: Served) -> None:
    first = service.ask("POST", "/v1/jobs", {"kind": "k"}, headers={"idempotency-key": "once"})
    service.ask("POST", f"/v1/jobs/{first.said['id']}/cancel", {})

    again = service.ask("POST", "/v1/jobs", {"kind": "k"}, headers={"idempotency-key": "once"})
    other = service.ask("POST", "/v1/jobs", {"kind": "other"}, headers={"idempotency-key": "once"})

    assert (first.status, again.status) == (201, 200)
    assert (again.said["id"], again.said["answer"], again.said["state"]) == (first.said["id"], "repeat", "cancelled")
    assert (other.status, other.code) == (409, "request_conflict")


def test_repeated_move_is_the_job_as_it_is_now_and_other_content_is_refused(service: Served) -> None:
    job = service.job()
    path, key = f"/v1/jobs/{job['id']}/cancel", {"idempotency-key": "cancel-it"}
    first = service.ask("POST", path, {"reason": "no need"}, headers=key)

    again = service.ask("POST", path, {"reason": "no need"}, headers=key)
    other = service.ask("POST", path, {"reason": "because"}, headers=key)

    assert (again.said["rev"], again.said["answer"]) == (first.said["rev"], "repeat")
    assert (other.status, other.code) == (409, "request_conflict")


def test_key_that_is_used_by_many_at_once_makes_one_job(service: Served) -> None:
    def ask(_: int) -> tuple[int, str]:
        answer = service.ask("POST", "/v1/jobs", {"kind": "crowd"}, headers={"idempotency-key": "crowd"})
        return answer.status, answer.said["id"]

    with ThreadPoolExecutor(16) as crowd:
        answers = list(crowd.map(ask, range(64)))

    assert len({job_id for _, job_id in answers}) == 1
    assert sorted(status for status, _ in answers) == [200] * 63 + [201]
    assert len(service.ask("GET", "/v1/jobs?kind=crowd").said["jobs"]) == 1


@pytest.mark.parametrize("job_id", [None, "a/b", "ü…", "50%", "a?b#c"])
def test_new_job_says_where_it_is(service: Served, job_id: str | None) -> None:
    answer = service.ask("POST", "/v1/jobs", {"kind": "k", "job_id": job_id})

    assert answer.headers["location"].isascii()
    assert service.ask("GET", answer.headers["location"]).said["id"] == answer.said["id"]


@pytest.mark.parametrize("name", ["a/b", "a%2Fb", "ünï/cødé", "…", "a?b#c", "%", "..", "a;b"])
def test_names_in_paths_may_have_any_printable_characters(service: Served, name: str) -> None:
    path = f"/v1/queues/{quote(name, safe='')}"

    assert service.ask("POST", f"{path}/pause", {"reason": "for now"}).status == 204
    shown = service.ask("GET", path)

    assert (shown.status, shown.said["name"], shown.said["paused_reason"]) == (200, name, "for now")


@pytest.mark.parametrize("path", ["/openapi.json", "/metrics"])
def test_document_that_the_asker_has_is_not_sent_again(service: Served, path: str) -> None:
    first = service.ask("GET", path)
    again = service.ask("GET", path, headers={"if-none-match": first.headers["etag"]})

    assert first.status == 200
    assert (again.status, again.body) == (304, b"") or path == "/metrics"  # it may have counted something meanwhile
    assert service.ask("GET", path, headers={"if-none-match": '"another"'}).status == 200
