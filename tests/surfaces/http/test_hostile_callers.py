"""What callers have tried, or might: values that are none, keys that nobody heeds, and more than their share."""

import base64
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from detent import connect
from detent.surfaces.http.budget import ANSWER_BYTES_MAX
from tests.surfaces.http.serving import Served, served

MEGABYTE = 1_000_000


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path, reconcile_s=None) as one:
        yield one


def compressed(text: bytes) -> dict[str, Any]:
    return {"sealed": {"payload": base64.b64encode(b"\x00z" + zlib.compress(text)).decode()}}


@pytest.mark.parametrize("text", [b'1,"state":"succeeded","x":1', b"}}} no", b"", b"\xff\xfe", b"[" * 100_000])
def test_compressed_value_that_is_no_json_is_refused(service: Served, text: bytes) -> None:
    answer = service.ask("POST", "/v1/jobs", {"kind": "k"} | compressed(text))

    assert (answer.status, answer.code) == (422, "value_unreadable")
    assert service.ask("GET", "/v1/jobs").said["jobs"] == []


def test_compressed_value_is_bounded_like_any_other(service: Served) -> None:
    answer = service.ask("POST", "/v1/jobs", {"kind": "k"} | compressed(b'"' + b"a" * (2 * MEGABYTE) + b'"'))

    assert (answer.status, answer.code) == (413, "value_too_large")


def test_encrypted_value_is_bounded_too(service: Served) -> None:
    sealed = base64.b64encode(b"\x00e" + b"a" * (3 * MEGABYTE)).decode()
    answer = service.ask("POST", "/v1/jobs", {"kind": "k", "sealed": {"payload": sealed}})

    assert (answer.status, answer.code) == (413, "value_too_large")


def test_schedule_takes_no_payload_that_is_none(service: Served) -> None:
    bad = base64.b64encode(b"\x00z" + zlib.compress(b'1,"paused_by":"ceo"')).decode()
    item = {"name": "n", "cron": "* * * * *", "kind": "k", "next_at": "2030-01-01T00:00:00Z"}
    answer = service.ask("PUT", "/v1/schedules", {"schedules": [item | {"sealed": bad, "digest": "d"}]})

    assert (answer.status, answer.code) == (422, "value_unreadable")


def test_digest_of_values_is_only_for_those_that_are_sealed(service: Served) -> None:
    answer = service.ask("POST", "/v1/jobs", {"kind": "k", "payload": 1, "value_digest": "same"})

    assert (answer.status, answer.code) == (422, "invalid_argument")


def test_repeat_of_a_claim_is_answered_though_another_stands_in_line(service: Served) -> None:
    service.job(queue="q")
    key, asked = {"idempotency-key": "K"}, {"worker": "w1", "queues": ["q"]}
    first = service.ask("POST", "/v1/claims", asked, headers=key).said["jobs"]
    waiting = {"worker": "w2", "queues": ["q"], "wait_s": 3}
    other = threading.Thread(target=lambda: service.ask("POST", "/v1/claims", waiting))
    other.start()
    service.until(lambda: len(service.service.waiting) == 1)
    again = service.ask("POST", "/v1/claims", asked | {"wait_s": 1}, headers=key).said["jobs"]
    service.job(queue="q")  # so that the other need not wait to the end
    other.join()

    assert [job["id"] for job in again] == [job["id"] for job in first]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/v1/batch", {"requests": [{"verb": "enqueue", "kind": "a", "priority": []}]}),
        ("/v1/batch", {"requests": [{"verb": "enqueue", "kind": "a", "run_at": "0001-01-01T00:00:00+23:59"}]}),
        ("/v1/batch", {"requests": [{"verb": "enqueue", "kind": "a", "run_at": "9999-12-31T23:59:59-23:00"}]}),
    ],
)
def test_item_of_a_batch_that_makes_no_sense_is_refused_by_itself(service: Served, path: str, said: Any) -> None:
    (answer,) = service.ask("POST", path, said).said["answers"]

    assert answer["problem"]["status"] == 422


def test_only_verdicts_are_paced(service: Served) -> None:
    said = {"rule": "r", "every_s": 1, "requests": [{"verb": "enqueue", "kind": "a"}]}

    assert service.ask("POST", "/v1/paces", said).code == "invalid_argument"


@pytest.mark.requirement("DSP-03")
def test_submit_that_comes_along_with_an_enqueue_is_for_whom_it_is_given_to(service: Served) -> None:
    listed = service.ask("GET", "/v1/lifecycles").said["lifecycles"]
    guarded = next(each["definition"] for each in listed if each["name"] == "document") | {"name": "guarded"}
    guarded["moves"] = [move | {"by": ["operator"]} if move["verb"] == "submit" else move for move in guarded["moves"]]
    assert service.ask("POST", "/v1/lifecycles", {"lifecycles": [guarded]}).status == 200
    token = service.new_token("submit").text
    said = {"kind": "k", "lifecycle": "guarded", "submit": True}
    job = service.ask("POST", "/v1/jobs", said, token=token).said
    events = service.ask("GET", f"/v1/jobs/{job['id']}/events").said["events"]

    assert [(event["verb"], event["role"]) for event in events] == [("enqueue", "client")]


def test_tenants_beyond_the_bound_see_nothing_of_each_other(service: Served) -> None:
    for each in range(1_000):
        service.service._meters.of(f"t{each}")
    alpha, beta = (service.new_token("admin", tenant=name, name=name).text for name in ("alpha", "beta"))
    service.ask("POST", "/v1/jobs", {"kind": "alphas-own"}, token=alpha)

    assert b"alphas-own" not in service.ask("GET", "/metrics", token=beta).body


@pytest.mark.parametrize("header", ["Idempotency-Key", "If-Match"])
def test_header_that_a_route_does_not_heed_is_refused(service: Served, header: str) -> None:
    said = {"requests": [{"verb": "enqueue", "kind": "a"}]}
    answer = service.ask("POST", "/v1/batch", said, headers={header: '"1"'})

    assert (answer.status, answer.code) == (422, "invalid_argument")
    assert service.ask("GET", "/v1/jobs").said["jobs"] == []


def test_secret_of_a_late_result_that_was_cut_short_is_not_shown(service: Served) -> None:
    job, who = service.claimed(), {"worker": "w1", "attempt": 1}
    path = f"/v1/jobs/{job['id']}"
    service.ask("POST", f"{path}/start", who)
    service.ask("POST", f"{path}/complete", who)
    late = {"result": {"password": "hunter2", "pad": "x" * 200_000}}
    service.ask("POST", f"{path}/complete", who | late)
    (note,) = service.ask("GET", f"{path}/notes").said["notes"]
    said = note["payload"]["result"].removeprefix("base64:")

    assert b"hunter2" not in base64.b64decode(said + "==")


def test_answer_holds_no_more_than_it_may_and_goes_on(service: Served) -> None:
    with connect(service.url) as client:
        payload = "x" * (MEGABYTE - 100)
        client.enqueue_many([{"kind": "k", "payload": payload, "job_id": f"j{number}"} for number in range(60)])
    ids = [f"j{number}" for number in range(60)]
    first = service.ask("GET", "/v1/jobs?limit=1000")
    seen = [job["id"] for job in first.said["jobs"]]
    found = service.ask("POST", "/v1/lookups", {"job_ids": ids * 10}).said["jobs"]
    cursor = first.said["cursor"]
    while cursor is not None:
        page = service.ask("GET", f"/v1/jobs?limit=1000&cursor={cursor}").said
        seen += [job["id"] for job in page["jobs"]]
        cursor = page["cursor"]

    assert len(first.body) < 2 * ANSWER_BYTES_MAX
    assert sorted(seen) == sorted(ids)
    assert 0 < len(found) < 120


def test_one_tenant_does_not_take_every_place(tmp_path: Path) -> None:
    with served(tmp_path, reconcile_s=None, waiting_max=10) as service:
        alpha, beta = (service.new_token("work", tenant=name, name=name).text for name in ("alpha", "beta"))
        asked = {"wait_s": 5}
        waits = [
            threading.Thread(target=lambda: service.ask("POST", "/v1/claims", asked, token=alpha)) for _ in range(9)
        ]
        for each in waits:
            each.start()
        service.until(lambda: len(service.service.waiting) == 9)
        tenth = service.ask("POST", "/v1/claims", asked, token=alpha)
        other = service.ask("POST", "/v1/claims", {"wait_s": 0.1}, token=beta)
        with connect(service.url, tenant="alpha") as client:
            client.enqueue_many([{"kind": "k"} for _ in waits])  # so that they need not wait to the end
        for each in waits:
            each.join()

    assert (tenth.status, tenth.code) == (503, "too_many_waiting")
    assert (other.status, other.said) == (200, {"jobs": []})


def test_who_has_no_token_may_try_now_and_then_only(tmp_path: Path) -> None:
    with served(tmp_path, reconcile_s=None, rate_max=0.001, burst_max=5) as service:
        tries = [service.ask("GET", "/v1/session", token="dt_0123456789abcdef_" + "A" * 43) for _ in range(8)]

    assert [each.code for each in tries] == ["token_unknown"] * 5 + ["too_many_requests"] * 3


def test_who_tries_tokens_that_are_none_locks_nobody_else_out(tmp_path: Path) -> None:
    """Behind a proxy all come from one address."""
    with served(tmp_path, reconcile_s=None, rate_max=0.001, burst_max=5) as service:
        before = service.ask("GET", "/v1/session").status
        for _ in range(8):
            service.ask("GET", "/v1/session", token="dt_0123456789abcdef_" + "A" * 43)

        assert (before, service.ask("GET", "/v1/session").status) == (200, 200)


def test_who_presents_no_token_at_all_uses_up_nothing(tmp_path: Path) -> None:
    with served(tmp_path, reconcile_s=None, rate_max=0.001, burst_max=5) as service:
        tries = [service.ask("GET", "/v1/session", token=token) for token in (None, "nonsense") for _ in range(5)]

        assert {each.code for each in tries} == {"token_missing", "token_malformed"}
        assert service.ask("GET", "/v1/session").status == 200


def test_token_that_was_revoked_is_a_stranger_again(tmp_path: Path) -> None:
    with served(tmp_path, reconcile_s=None, rate_max=0.001, burst_max=5) as service:
        token = service.new_token("read", name="gone")
        assert service.ask("GET", "/v1/session", token=token.text).status == 200
        with connect(service.url) as client:
            client.revoke_token(token.token.id)
        tries = [service.ask("GET", "/v1/session", token=token.text) for _ in range(6)]

    assert [each.code for each in tries] == ["token_revoked"] * 5 + ["too_many_requests"]


@pytest.mark.parametrize("verb", ["rerun", "enqueue"])
def test_who_may_not_read_is_not_told_what_others_have_put_in(service: Served, verb: str) -> None:
    with connect(service.url) as client:
        job = client.enqueue("k", {"secret": "of others"}, dedupe_key="d")
        if verb == "rerun":
            client.cancel(job.id, mode="hard")
    token = service.new_token("submit").text
    path, said = (
        ("/v1/jobs", {"kind": "k", "dedupe_key": "d"}) if verb == "enqueue" else (f"/v1/jobs/{job.id}/rerun", {})
    )
    answer = service.ask("POST", path, said, token=token)

    assert (answer.status, answer.said["payload"]) == (200, None)
    assert b"of others" not in answer.body


def test_worker_that_was_asked_to_stop_reports_that_it_did(service: Served) -> None:
    made = service.ask("POST", "/v1/job-requests", {"job_id": "j", "topic": "t"})
    assert made.status == 200
    service.ask("POST", "/v1/jobs/j/schedule", {"verdict": "allow", "rule": "default"})
    token = service.new_token("work", name="pool").text
    (job,) = service.ask("POST", "/v1/claims", {"queues": ["t"], "start": True}, token=token).said["jobs"]
    service.ask("POST", "/v1/jobs/j/cancel", {"mode": "soft"})
    answer = service.ask("POST", "/v1/job-results", {"job_id": "j", "status": "CANCELLED"}, token=token)

    assert (job["owner"], answer.status, answer.said["state"]) == ("pool", 200, "CANCELLED")


def test_service_that_drains_is_alive_and_not_ready(service: Served) -> None:
    service.service.begin_closing()

    assert (service.ask("GET", "/healthz").status, service.ask("GET", "/readyz").code) == (200, "closing")
