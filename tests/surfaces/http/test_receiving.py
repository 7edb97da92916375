"""Connections that dawdle, that are too many, and that do not speak HTTP."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import Final

import pytest

from tests.surfaces.http.raw import Line, exchanged, head, status
from tests.surfaces.http.serving import HOST, Served, served

RECEIPT_S: Final = 0.5


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("hasty"), receipt_s=RECEIPT_S, reconcile_s=None) as service:
        yield service


def test_connection_that_says_nothing_is_ended(hasty: Served) -> None:
    with closing(Line(hasty)) as line:
        answer = line.heard()

        assert status(answer) == 408
        assert b'"code":"receipt_timed_out"' in answer
        assert b"x-content-type-options: nosniff" in answer
        assert time.monotonic() - line.began_s >= RECEIPT_S


def test_head_that_comes_byte_by_byte_is_not_waited_for(hasty: Served) -> None:
    with closing(Line(hasty)) as line:
        line.say(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        line.trickle(b"a")

        assert status(line.heard()) == 408


def test_second_head_is_watched_as_the_first(hasty: Served) -> None:
    with closing(Line(hasty)) as line:
        line.say(head(hasty, "GET", "/healthz"))
        first = line.answer()
        line.say(b"GET /healthz HTTP/1.1\r\nX-Slow: ")
        line.trickle(b"a")

        assert (status(first), status(line.heard())) == (200, 408)


def test_head_that_follows_at_once_is_watched_too(hasty: Served) -> None:
    with closing(Line(hasty)) as line:
        line.say(head(hasty, "GET", "/healthz") + b"GET /healthz HTTP/1.1\r\nX-Slow: ")
        first = line.answer()
        line.trickle(b"a")

        assert (status(first), status(line.heard())) == (200, 408)


def test_body_that_nobody_waits_for_does_not_hold_the_connection(hasty: Served) -> None:
    """A path that takes no body was answered; its body goes on and on."""
    with closing(Line(hasty)) as line:
        line.say(head(hasty, "GET", "/healthz", "Content-Length: 1000000"))
        first = line.answer()
        try:
            line.trickle(b"a")
            line.heard()
        except (BrokenPipeError, ConnectionResetError):
            line.close()

        assert status(first) == 200


def test_request_that_takes_its_time_to_be_answered_is_not_cut_off(hasty: Served) -> None:
    body = b'{"worker":"w","wait_s":1.5}'
    asked = head(hasty, "POST", "/v1/claims", f"Content-Length: {len(body)}", "Content-Type: application/json")

    assert status(exchanged(hasty, asked + body)) == 200


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 300,
        b"GET\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost : a\r\n\r\n",
        b"GET /\x00 HTTP/1.1\r\nHost: a\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 200_000 + b"\r\n\r\n",
        b"A" * 200_000,
    ],
)
def test_what_is_not_http_is_refused_with_a_problem(hasty: Served, data: bytes) -> None:
    with closing(Line(hasty)) as line:
        line.say(data)
        answer = line.heard()

        assert status(answer) in (0, 400, 501)  # 0: hung up on before all of it was sent
        assert not answer or b'"code":"not_http"' in answer


def test_request_is_not_smuggled_past_a_length_in_a_body_of_chunks(hasty: Served) -> None:
    """Chunks win over a length, and what follows the last chunk is a request of its own: told apart, or refused."""
    smuggled = b"0\r\n\r\nGET /v1/session HTTP/1.1\r\nHost: a\r\n\r\n"
    lines = (f"Content-Length: {len(smuggled)}", "Transfer-Encoding: chunked", "Content-Type: application/json")
    with closing(Line(hasty)) as line:
        line.say(head(hasty, "POST", "/v1/reconciliations", *lines) + smuggled)
        answers = line.heard()

        assert b"HTTP/1.1 200" not in answers.partition(b"\r\n\r\n")[2] or b"token_missing" in answers


def test_one_connection_too_many_is_refused_at_once(tmp_path_factory: pytest.TempPathFactory) -> None:
    with served(tmp_path_factory.mktemp("few"), connections_max=3, reconcile_s=None) as few, ExitStack() as stack:
        lines = [stack.enter_context(closing(Line(few))) for _ in range(3)]
        for line in lines:
            line.say(head(few, "GET", "/healthz"))
            assert status(line.answer()) == 200

        refused = stack.enter_context(closing(Line(few))).heard()
        lines[0].close()
        until_s = time.monotonic() + 60
        while status(exchanged(few, head(few, "GET", "/healthz"))) != 200:
            assert time.monotonic() < until_s

        assert status(refused) == 503
        assert b'"code":"too_many_connections"' in refused
        assert b"retry-after: 1" in refused


def test_upgrade_to_a_socket_is_not_heeded(hasty: Served) -> None:
    lines = ("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Key: x", "Sec-WebSocket-Version: 13")

    assert status(exchanged(hasty, head(hasty, "GET", "/v1/events", *lines, token=None))) == 401


def test_proxy_headers_are_not_believed(hasty: Served) -> None:
    lines = ("X-Forwarded-Proto: https", "X-Forwarded-For: 10.0.0.1", "X-Forwarded-Host: evil.example")

    answer = exchanged(hasty, head(hasty, "GET", "/healthz", *lines))

    assert b"strict-transport-security" not in answer
    assert HOST.encode() not in answer
