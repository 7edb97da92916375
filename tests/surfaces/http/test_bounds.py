"""How often, how many, how long: whoever asks too much is told so, and when to come again."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from detent.errors import ServiceError
from detent.surfaces.http.rating import BUCKETS_MAX, Rates
from tests.surfaces.http.serving import Served, served


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("small")
    with served(folder, rate_max=0.001, burst_max=5, waiting_max=2, wait_s_max=3.0, reconcile_s=None) as service:
        yield service


def test_token_that_asks_too_often_is_refused_and_others_are_not(small: Served) -> None:
    eager, calm = small.new_token("read", name="eager").text, small.new_token("read", name="calm").text

    answers = [small.ask("GET", "/v1/jobs", token=eager) for _ in range(7)]

    assert [answer.status for answer in answers] == [200] * 5 + [429] * 2
    assert (answers[-1].code, answers[-1].headers["retry-after"]) == ("too_many_requests", "1")
    assert small.ask("GET", "/v1/jobs", token=calm).status == 200


def test_rate_is_regained_with_time() -> None:
    now = [0.0]
    rates = Rates(rate_max=10, burst_max=2, clock=lambda: now[0])
    rates.take("a")
    rates.take("a")
    with pytest.raises(ServiceError, match="10 requests a second"):
        rates.take("a")

    now[0] = 0.1
    rates.take("a")

    with pytest.raises(ServiceError):
        rates.take("a")


def test_who_asks_a_little_too_often_is_let_in_as_often_as_it_may() -> None:
    now = [0.0]
    rates = Rates(rate_max=1_000, burst_max=1, clock=lambda: now[0])
    let_in = 0
    for number in range(1_100):
        now[0] = number / 1_100
        try:
            rates.take("a")
        except ServiceError:
            continue
        let_in += 1

    assert let_in >= 500


def test_only_so_many_are_remembered() -> None:
    rates = Rates(rate_max=1, burst_max=1)

    for number in range(BUCKETS_MAX + 10):
        rates.take(str(number))

    assert len(rates) == BUCKETS_MAX


def test_one_waiting_claim_too_many_is_refused(small: Served) -> None:
    tokens = [small.new_token("work", name=f"waiter{number}").text for number in range(3)]

    def wait(token: str) -> tuple[int, str | None]:
        answer = small.ask("POST", "/v1/claims", {"wait_s": 3.0, "queues": ["empty"]}, token=token)
        return answer.status, answer.code

    with ThreadPoolExecutor(3) as crowd:
        answers = sorted(crowd.map(wait, tokens))

    assert answers == [(200, None), (200, None), (503, "too_many_waiting")]


@pytest.mark.parametrize("wait_s", [3.1, -1, 1e300])
def test_wait_beyond_its_bound_is_refused(small: Served, wait_s: float) -> None:
    token = small.new_token("work", "read", name="patient").text

    claim = small.ask("POST", "/v1/claims", {"wait_s": wait_s}, token=token)
    news = small.ask("GET", f"/v1/news?wait_s={wait_s}", token=token)

    assert (claim.code, news.code) == ("invalid_argument", "invalid_argument")


def test_service_that_only_shows_changes_nothing(tmp_path_factory: pytest.TempPathFactory) -> None:
    with served(tmp_path_factory.mktemp("shown"), is_read_only=True) as shown:
        refused = shown.ask("POST", "/v1/jobs", {"kind": "k"})

        assert (refused.status, refused.code) == (403, "read_only")
        assert shown.ask("GET", "/v1/jobs").said["jobs"] == []
        assert shown.ask("POST", "/v1/lookups", {"job_ids": []}).status == 200
