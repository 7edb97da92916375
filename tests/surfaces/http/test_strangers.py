"""Who shows no token is bounded by the address, and does not keep the store busy."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from detent.errors import ServiceError, StoreError
from detent.surfaces.http.readiness import KEPT_S, Readiness
from tests.surfaces.http.serving import Served, served
from tests.surfaces.http.stores import on_a_loop


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path, rate_max=0.001, burst_max=3, reconcile_s=None) as service:
        yield service


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/readyz", 200), ("GET", "/openapi.json", 200), ("GET", "/nowhere", 404), ("PUT", "/v1/batch", 405)],
)
def test_address_that_asks_too_often_without_a_token_is_refused(
    small: Served, method: str, path: str, status: int
) -> None:
    answers = [small.ask(method, path, token=None) for _ in range(5)]

    assert [answer.status for answer in answers] == [status] * 3 + [429] * 2
    assert (answers[-1].code, answers[-1].headers["retry-after"]) == ("too_many_requests", "1")
    assert small.ask("GET", "/v1/jobs").status == 200  # a token has its own


def test_process_is_never_taken_for_dead_because_it_is_asked_too_often(small: Served) -> None:
    assert {small.ask("GET", "/healthz", token=None).status for _ in range(10)} == {200}


def test_where_nobody_is_asked_who_they_are_an_address_is_bounded(tmp_path: Path) -> None:
    with served(tmp_path, is_authenticating=False, rate_max=0.001, burst_max=3, reconcile_s=None) as service:
        statuses = [service.ask("GET", "/v1/jobs", token=None).status for _ in range(5)]

    assert statuses == [200] * 3 + [429] * 2


@pytest.mark.parametrize("trouble", [None, StoreError("no disk", code="store_io")])
@on_a_loop
async def test_store_is_asked_once_however_many_want_to_know(trouble: StoreError | None) -> None:
    now, looks, let_go = [0.0], 0, asyncio.Event()

    async def probe() -> None:
        nonlocal looks
        looks += 1
        await let_go.wait()
        if trouble is not None:
            raise trouble

    readiness = Readiness(probe, clock=lambda: now[0])
    crowd = [asyncio.ensure_future(readiness.check()) for _ in range(20)]
    await asyncio.sleep(0)
    let_go.set()
    told = {str(each) for each in await asyncio.gather(*crowd, return_exceptions=True)}
    at_once = looks
    now[0] = KEPT_S
    again = await asyncio.gather(readiness.check(), return_exceptions=True)

    assert (at_once, looks) == (1, 2)
    assert len(told) == 1
    assert isinstance(again[0], ServiceError) == (trouble is not None)
