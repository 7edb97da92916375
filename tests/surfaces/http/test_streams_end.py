"""A live stream lasts as long as its token does, busy or not; and there are only so many."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from detent import connect
from detent.client import Client, Codec
from detent.client.connecting import Connecting
from detent.errors import StoreError
from detent.lifecycles import BUILT_IN
from detent.store.tokens import KeptToken
from detent.surfaces.http.service import Service
from detent.surfaces.http.settings import Settings
from detent.testing import MemoryStore
from tests.surfaces.http.serving import Served, running, served
from tests.surfaces.http.streams import Stream

HEARTBEAT_S = 0.2


@pytest.fixture(scope="module")
def brisk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("brisk"), heartbeat_s=HEARTBEAT_S, streams_max=3, reconcile_s=None) as service:
        yield service


def test_stream_ends_when_its_token_is_revoked(brisk: Served) -> None:
    token = brisk.new_token("read", name="gone")
    with Stream(brisk.port, token.text) as stream:
        stream.until(b"still here")
        brisk.ask("DELETE", f"/v1/tokens/{token.token.id}")

        assert stream.rest().endswith(b": the token is good no more\n\n\r\n0\r\n\r\n")


def test_stream_ends_when_its_token_expires(brisk: Served) -> None:
    token = brisk.new_token("read", name="short", expires_s=1.0)
    with Stream(brisk.port, token.text) as stream:
        assert b": the token is good no more" in stream.rest()


def test_stream_on_which_events_never_pause_ends_all_the_same(brisk: Served) -> None:
    token = brisk.new_token("read", name="busy")
    with Stream(brisk.port, token.text) as stream:
        stream.until(b"from here on")
        brisk.ask("DELETE", f"/v1/tokens/{token.token.id}")
        until_s = time.monotonic() + 60
        while b"good no more" not in stream.text:
            assert time.monotonic() < until_s
            brisk.job()  # far more often than the stream would have to be still for a heartbeat
            stream.until(b"\n\n")
            stream.more()


def test_stream_ends_with_its_token_while_others_try_tokens_that_are_none(tmp_path: Path) -> None:
    limits = {"rate_max": 0.001, "burst_max": 5}
    with served(tmp_path, heartbeat_s=HEARTBEAT_S, reconcile_s=None, **limits) as few:
        token = few.new_token("read", name="gone")
        with Stream(few.port, token.text) as stream:
            stream.until(b"from here on")
            for _ in range(8):
                few.ask("GET", "/v1/session", token="dt_0123456789abcdef_" + "A" * 43)
            with connect(few.url) as client:
                client.revoke_token(token.token.id)

            assert b": the token is good no more" in stream.rest()


class Forgetful(MemoryStore):
    """`is_deaf`: it looks up no token any more."""

    is_deaf = False

    async def token(self, token_id: str) -> KeptToken | None:
        if self.is_deaf:
            raise StoreError("the disk is on fire", code="store_io")
        return await super().token(token_id)


@pytest.mark.parametrize("expires_s", [None, 2.0])
def test_stream_outlives_a_store_in_trouble_and_not_its_own_time(expires_s: float | None) -> None:
    store = Forgetful()
    service = Service(
        Connecting(Client(store, tenant="default", codec=Codec(), lifecycles=tuple(BUILT_IN.values()))),
        Settings(heartbeat_s=HEARTBEAT_S, reconcile_s=None),
    )
    with running(service) as port:
        made = asyncio.run(service.client_of("default").create_token("t", scopes=["read"], expires_s=expires_s))
        with Stream(port, made.text) as stream:
            stream.until(b"from here on")
            store.is_deaf = True
            stream.until(b"still here")
            if expires_s is not None:
                assert b": the token is good no more" in stream.rest()


def test_one_stream_too_many_is_refused(brisk: Served) -> None:
    streams = [Stream(brisk.port, brisk.token) for _ in range(3)]
    for stream in streams:
        stream.__enter__()
        stream.until(b"from here on")

    answer = brisk.ask("GET", "/v1/events", headers={"accept": "text/event-stream"})

    assert (answer.status, answer.code, answer.headers["retry-after"]) == (503, "too_many_streams", "1")
    for stream in streams:
        stream.__exit__(None, None, None)
