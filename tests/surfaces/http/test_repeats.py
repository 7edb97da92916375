"""A request that is repeated with another token is the same request."""

from tests.surfaces.http.serving import Served


def test_key_may_be_repeated_with_the_token_that_replaced_the_first(service: Served) -> None:
    old, new = (service.new_token("submit", name=name).text for name in ("shop", "shop-2"))
    key = {"idempotency-key": "order-7"}

    made = service.ask("POST", "/v1/jobs", {"kind": "k", "payload": 1}, token=old, headers=key)
    again = service.ask("POST", "/v1/jobs", {"kind": "k", "payload": 1}, token=new, headers=key)
    other = service.ask("POST", "/v1/jobs", {"kind": "k", "payload": 2}, token=new, headers=key)

    assert (made.status, again.status) == (201, 200)
    assert (again.said["id"], again.said["answer"]) == (made.said["id"], "repeat")
    assert other.code == "request_conflict"


def test_two_operators_redrive_a_dead_letter_into_one_job(service: Served) -> None:
    letter = service.job()["id"]
    said = {"reason_code": "timeout", "stage": "exec", "role": "operator"}
    assert service.ask("POST", f"/v1/jobs/{letter}/dead_letter", said).status == 200
    tokens = [service.new_token("operate", name=name).text for name in ("ann", "ben")]

    redriven = [
        service.ask("POST", "/v1/dead-letters/redrive", {"job_ids": [letter]}, token=token).said["answers"][0]
        for token in tokens
    ]

    assert [each["job"]["answer"] for each in redriven] == ["applied", "repeat"]
    assert len({each["job"]["id"] for each in redriven}) == 1
