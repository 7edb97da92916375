"""Queries, filters and pages; names that are not known are refused, and nothing is guessed."""

import pytest

from tests.surfaces.http.serving import Served


@pytest.mark.parametrize(
    "path",
    [
        "/v1/jobs?limit=0",
        "/v1/jobs?limit=1001",
        "/v1/jobs?limit=-1",
        "/v1/jobs?limit=ten",
        "/v1/jobs?limit=",
        "/v1/jobs?limit=10&limit=20",
        "/v1/jobs?no_such=1",
        "/v1/jobs?tenant=other",
        "/v1/jobs?Limit=1",
        "/v1/jobs?cursor=nonsense",
        "/v1/jobs?cursor=",
        "/v1/jobs?created_from=yesterday",
        "/v1/jobs?created_from=2026-01-01",
        "/v1/jobs?state=",
        "/v1/jobs?state=%00",
        "/v1/jobs?state=%E2%80%AE",
        "/v1/jobs?state=a%0Ab",
        "/v1/jobs?created_from=null",
        "/v1/jobs?limit=NULL",
        "/v1/counts?by=secret",
        "/v1/counts?by=state,state",
        "/v1/queues?x=1",
        "/healthz?x=1",
        "/v1/events?cursor=x",
        "/v1/jobs?state=" + "x" * 256,
        "/v1/jobs?state=" + "x" * 20_000,
    ],
)
def test_query_that_is_not_understood_is_refused(service: Served, path: str) -> None:
    answer = service.ask("GET", path)

    assert answer.status == 422
    assert len(answer.body) < 1_500


def test_word_null_is_a_name_like_any_other(service: Served) -> None:
    service.job(queue="null")

    found = service.ask("GET", "/v1/jobs?queue=null").said["jobs"]

    assert [job["queue"] for job in found] == ["null"]


def test_pages_have_every_job_once(service: Served) -> None:
    made = {service.job(queue="paged")["id"] for _ in range(7)}
    found: list[str] = []
    cursor, pages = "", 0
    while True:
        page = service.ask("GET", f"/v1/jobs?queue=paged&limit=3{cursor}").said
        found += [job["id"] for job in page["jobs"]]
        pages += 1
        if page["cursor"] is None:
            break
        cursor = f"&cursor={page['cursor']}"

    assert pages == 3
    assert len(found) == 7
    assert set(found) == made


def test_pages_of_the_log_go_on_from_their_cursor(service: Served) -> None:
    job = service.job(queue="logged")
    service.ask("POST", f"/v1/jobs/{job['id']}/cancel", {})
    first = service.ask("GET", "/v1/events?queue=logged&limit=1&cursor=0").said

    second = service.ask("GET", f"/v1/events?queue=logged&limit=1&cursor={first['cursor']}").said
    none = service.ask("GET", f"/v1/events?queue=logged&limit=1&cursor={second['cursor']}").said

    assert [event["type"] for event in first["events"] + second["events"]] == ["job_queued", "job_cancelled"]
    assert none["events"] == []
    assert none["cursor"] is not None


def test_lists_are_given_by_commas_or_one_by_one(service: Served) -> None:
    service.job(queue="counted")

    together = service.ask("GET", "/v1/counts?queue=counted&by=state,kind").said
    apart = service.ask("GET", "/v1/counts?queue=counted&by=state&by=kind").said

    assert together == apart
    assert together["counts"] == [{"values": ["queued", "work"], "jobs": 1}]


@pytest.mark.parametrize(
    "path", ["/", "/v1", "/v1/", "/v1/jobs/", "//v1/jobs", "/v1//jobs", "/V1/jobs", "/v1/jobs/a/b/c"]
)
def test_path_that_is_none_is_not_found(service: Served, path: str) -> None:
    answer = service.ask("GET", path)

    assert (answer.status, answer.code) == (404, "no_such_path")


@pytest.mark.parametrize(
    "path", ["/v1/../healthz", "/v1/jobs/../../healthz", "/v1/jobs/%2e%2e/%2e%2e", "/..%2f..%2fetc/passwd"]
)
def test_dots_lead_nowhere(service: Served, path: str) -> None:
    assert service.ask("GET", path).status in (404, 422)


@pytest.mark.parametrize(
    "pointer",
    ["file:///etc/passwd", "http://127.0.0.1:1/", "../../../etc/passwd", "gopher://x", "\\\\host\\share", "$(id)"],
)
def test_pointer_is_kept_and_never_followed(service: Served, pointer: str) -> None:
    """A service that fetched one would have had to open a socket or a file; whatever does so here is a fault."""
    job = service.job(context_ptr=pointer)
    (taken,) = [
        each
        for each in service.ask("POST", "/v1/claims", {"worker": "w1", "limit": 1000, "start": True}).said["jobs"]
        if each["id"] == job["id"]
    ]
    fence = {"worker": "w1", "attempt": taken["attempt"]}

    kept = service.ask("POST", f"/v1/jobs/{job['id']}/artifact", fence | {"name": "n", "pointer": pointer})
    done = service.ask("POST", f"/v1/jobs/{job['id']}/complete", fence | {"result_ptr": pointer})

    assert (kept.status, done.status) == (200, 200)
    assert (done.said["context_ptr"], done.said["result_ptr"]) == (pointer, pointer)
    assert service.ask("GET", f"/v1/jobs/{job['id']}/artifacts").said["artifacts"][0]["pointer"] == pointer
