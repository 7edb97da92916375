"""A live stream lasts as long as its token does, busy or not; and there are only so many."""

import time
from collections.abc import Iterator

import pytest

from tests.surfaces.http.serving import Served, served
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


def test_one_stream_too_many_is_refused(brisk: Served) -> None:
    streams = [Stream(brisk.port, brisk.token) for _ in range(3)]
    for stream in streams:
        stream.__enter__()
        stream.until(b"from here on")

    answer = brisk.ask("GET", "/v1/events", headers={"accept": "text/event-stream"})

    assert (answer.status, answer.code, answer.headers["retry-after"]) == (503, "too_many_streams", "1")
    for stream in streams:
        stream.__exit__(None, None, None)
