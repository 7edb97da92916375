"""Whoever waits is let in for as long as its token is good, and no longer."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from detent.client.tokens import NewToken
from tests.surfaces.http.serving import Answer, Served

WAIT_S = 20.0


def revoked_while_it_waits(service: Served, token: NewToken, ask: Callable[[], Answer]) -> Answer:
    with ThreadPoolExecutor(1) as other:
        waiting = other.submit(ask)
        service.until(lambda: len(service.service.waiting) == 1)
        service.ask("DELETE", f"/v1/tokens/{token.token.id}")
        service.job(queue="news")  # so that whatever waits looks up
        return waiting.result()


def test_claim_of_a_revoked_token_takes_nothing(service: Served) -> None:
    token = service.new_token("work", name="gone")

    answer = revoked_while_it_waits(
        service,
        token,
        lambda: service.ask("POST", "/v1/claims", {"wait_s": WAIT_S, "queues": ["news"]}, token=token.text),
    )

    assert (answer.status, answer.code) == (401, "token_revoked")
    (job,) = service.ask("GET", "/v1/jobs?queue=news").said["jobs"]
    assert job["state"] == "queued"
    service.ask("POST", f"/v1/jobs/{job['id']}/cancel", {})


def test_claim_that_another_waits_for_behind_it_is_not_held_up(service: Served) -> None:
    gone, stays = service.new_token("work", name="gone"), service.new_token("work", name="stays")
    said = {"wait_s": WAIT_S, "queues": ["news"]}
    with ThreadPoolExecutor(2) as others:
        first = others.submit(lambda: service.ask("POST", "/v1/claims", said, token=gone.text))
        service.until(lambda: len(service.service.waiting) == 1)
        second = others.submit(lambda: service.ask("POST", "/v1/claims", said, token=stays.text))
        service.until(lambda: len(service.service.waiting) == 2)
        service.ask("DELETE", f"/v1/tokens/{gone.token.id}")
        job = service.job(queue="news")

        assert first.result().code == "token_revoked"
        assert [each["id"] for each in second.result().said["jobs"]] == [job["id"]]


@pytest.mark.parametrize("what", ["jobs/{job}?wait_s={wait_s}", "events/end?after={end}&wait_s={wait_s}"])
def test_read_that_waited_shows_nothing_to_a_revoked_token(service: Served, what: str) -> None:
    token = service.new_token("read", name="gone")
    job, end = service.job(queue="waited"), service.ask("GET", "/v1/events/end").said["cursor"]
    path = f"/v1/{what.format(job=job['id'], end=end, wait_s=2.0)}"

    answer = revoked_while_it_waits(service, token, lambda: service.ask("GET", path, token=token.text))

    assert (answer.status, answer.code) == (401, "token_revoked")
