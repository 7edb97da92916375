"""The service under a prefix, and inside another app whose lifespan opens it."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route

from detent import connect
from detent.surfaces.engine_socket.socket import EngineSocket
from detent.surfaces.http.asgi import app_of
from detent.surfaces.http.service import Service
from detent.surfaces.http.settings import Settings
from tests.surfaces.http.serving import Served, running


@pytest.fixture(scope="module")
def mounted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder: Path = tmp_path_factory.mktemp("mounted")
    url = f"sqlite:///{folder}/jobs.db"
    with connect(url) as client:
        token = client.create_token("root", scopes=["admin"], any_tenant=True).text
    service = Service(connect(url), Settings(reconcile_s=None), [EngineSocket()])

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await service.open()
        yield
        await service.close()

    async def own(request: Request) -> PlainTextResponse:
        return PlainTextResponse("the other app's")

    outer = Starlette(routes=[Route("/", own), Mount("/jobs", app_of(service))], lifespan=lifespan)
    with running(service, app=outer) as port:
        yield Served(url, port, service, token)


def test_service_answers_under_its_prefix_and_the_other_app_beside_it(mounted: Served) -> None:
    made = mounted.ask("POST", "/jobs/v1/jobs", {"kind": "k"})

    assert made.status == 201
    assert made.headers["location"] == f"/jobs/v1/jobs/{made.said['id']}"
    assert mounted.ask("GET", made.headers["location"]).said["id"] == made.said["id"]
    assert mounted.ask("GET", "/").body == b"the other app's"
    assert mounted.ask("GET", "/jobs/nowhere").code == "no_such_path"
    assert mounted.ask("PUT", "/jobs/v1/jobs").code == "method_not_allowed"


def test_names_with_slashes_are_names_under_a_prefix_too(mounted: Served) -> None:
    assert mounted.ask("GET", "/jobs/v1/queues/a%2Fb%20%C3%BC").said["name"] == "a/b ü"


def test_nobody_gets_in_by_another_spelling_of_the_path(mounted: Served) -> None:
    for path in ("/jobs/v1/session", "/jobs//v1/session", "/jobs/%76%31/session", "/jobs/./v1/session"):
        assert mounted.ask("GET", path, token=None).status in (401, 404)


def test_socket_for_engines_is_under_the_prefix_too(mounted: Served) -> None:
    opened = mounted.ask("GET", "/jobs/socket.io/?EIO=4&transport=polling")

    assert (opened.status, opened.body[:8]) == (200, b'0{"sid":')
    assert opened.headers["x-content-type-options"] == "nosniff"
    assert mounted.ask("GET", "/jobs/socket.iox/").code == "no_such_path"
