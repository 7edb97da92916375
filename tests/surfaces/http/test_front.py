"""The app as a server calls it: over TLS, without the raw path, and when its store does not answer."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from detent import connect
from detent.errors import StoreError
from detent.surfaces.http.asgi import app_of
from detent.surfaces.http.service import Service
from detent.surfaces.http.settings import Settings


def called(folder: Path, service: Service | None = None, **scope: Any) -> tuple[int, dict[bytes, bytes], Any]:
    return asyncio.run(_called(service or new_service(folder), scope))


def new_service(folder: Path) -> Service:
    settings = Settings(is_authenticating=False, hosts=("here",), reconcile_s=None)
    return Service(connect(f"sqlite:///{folder}/jobs.db"), settings)


async def _called(service: Service, scope: dict[str, Any]) -> tuple[int, dict[bytes, bytes], Any]:
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    whole = {"type": "http", "method": "GET", "query_string": b"", "headers": [(b"host", b"here")], "scheme": "http"}
    await service.open()
    try:
        await app_of(service)({**whole, **scope}, receive, send)
    finally:
        await service.close()
    return sent[0]["status"], dict(sent[0]["headers"]), msgspec.json.decode(sent[1]["body"])


def test_over_tls_a_browser_is_told_to_keep_to_it(tmp_path: Path) -> None:
    _, plain, _ = called(tmp_path, path="/healthz")
    _, secure, _ = called(tmp_path, path="/healthz", scheme="https")

    assert b"strict-transport-security" not in plain
    assert secure[b"strict-transport-security"] == b"max-age=31536000"


def test_server_that_gives_no_raw_path_is_understood(tmp_path: Path) -> None:
    status, _, said = called(tmp_path, path="/v1/queues/50% ü")

    assert (status, said["name"]) == (200, "50% ü")


@pytest.mark.parametrize("trouble", [TimeoutError(), StoreError("no disk", code="store_io")])
def test_service_whose_store_does_not_answer_is_not_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trouble: Exception
) -> None:
    async def probe(self: Service) -> None:
        raise trouble

    monkeypatch.setattr(Service, "probe", probe)
    status, headers, said = called(tmp_path, path="/readyz")

    assert (status, said["code"], headers[b"retry-after"]) == (503, "not_ready", b"1")


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/openapi.json"])
def test_health_is_told_to_anybody(tmp_path: Path, path: str) -> None:
    status, _, _ = called(tmp_path, path=path)

    assert status == 200
