"""Asking the service: one request and its answer, on the right connection, asked again where that is safe."""

import asyncio
import os
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlencode

import msgspec
from msgspec import Struct
from urllib3 import HTTPConnectionPool, Timeout
from urllib3.exceptions import EmptyPoolError, HTTPError
from urllib3.response import BaseHTTPResponse

from detent.errors import DetentError, InvalidArgument, StoreError
from detent.store.http.address import Address
from detent.store.http.failing import strange, told, trouble_of, unavailable, unknown, unreadable
from detent.store.http.patience import Patience
from detent.store.http.pool import Call, Stopped, pool_of, under_way
from detent.store.waiting import in_thread, is_blocking
from detent.wire.http.problems import MEDIA_TYPE, RETRY_AFTER_S, Problem, error_of

Answer = TypeVar("Answer")
NOTHING: Final = type(None)
_JSON: Final = "application/json"
_encode: Final = msgspec.json.Encoder().encode
TURN_S: Final = 1  # that a call waits for a connection before it looks whether the client is still open
_GATEWAYS: Final = (502, 503, 504)  # what stands before a service says so, and nobody knows for which of its reasons


class Asked(Struct, frozen=True):
    """`is_safe`: asked twice, it does no more than asked once. `wait_s`: how long the service may take about it."""

    method: str
    target: str
    body: bytes | None
    headers: dict[str, str]
    is_safe: bool
    wait_s: float

    @property
    def what(self) -> str:
        return f"{self.method} {self.target.partition('?')[0]}"


class Line:
    """To one service. Threads and event loops may share it."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self.version: str | None = None  # the service's
        self._closed = threading.Event()
        self._closed.set()
        self._waiting: set[Call] = set()
        self._pid = 0

    def open(self) -> None:
        self._pid = os.getpid()
        self._pool = pool_of(self._address, is_for_waiting=False)
        self._waiters = pool_of(self._address, is_for_waiting=True)
        # A call on an event loop needs a thread. No more than can have a connection, and none is made for each call.
        self._threads = ThreadPoolExecutor(self._address.connections, thread_name_prefix="detent-http")
        self._closed.clear()

    def close(self) -> None:
        if self._closed.is_set() or self._pid != os.getpid():
            return
        self._closed.set()
        for call in tuple(self._waiting):
            call.stop()
        self._threads.shutdown(wait=False)
        self._pool.close()
        self._waiters.close()

    async def ask(
        self,
        answer: type[Answer],
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        tenant: str | None = None,
        is_safe: bool = False,
        wait_s: float | None = None,
    ) -> Answer:
        """What is answered, or the error that was. With `wait_s` it takes no connection from other calls."""
        self._check_open()
        given = {} if query is None else {name: value for name, value in query.items() if value is not None}
        target = f"{self._address.prefix}{path}" + (f"?{urlencode(given, doseq=True)}" if given else "")
        sent = body if isinstance(body, bytes) or body is None else _encode(body)
        headers = self._headers(tenant, has_body=sent is not None)
        asked = Asked(method, target, sent, headers, is_safe or method == "GET", wait_s or 0.0)
        if wait_s is None:
            response = await self._on_a_thread(asked)
        else:
            response = await self._while_waited_for(asked)
        return self._read(asked, answer, response)

    def _check_open(self) -> None:
        if self._closed.is_set():
            raise InvalidArgument("this client is not open; use it inside its `with` block", code="not_connected")
        if self._pid != os.getpid():
            message = "this client was opened before a fork, and its connections are the parent's"
            raise StoreError(f"{message}; connect anew in this process", code="forked")

    def _headers(self, tenant: str | None, *, has_body: bool) -> dict[str, str]:
        """Without the token, which joins them where they are sent: what is asked may be shown in a traceback."""
        headers = {"accept": f"{_JSON}, {MEDIA_TYPE}"}
        if tenant is not None:
            headers["detent-tenant"] = quote(tenant, safe="")
        if has_body:
            headers["content-type"] = _JSON
        return headers

    async def _on_a_thread(self, asked: Asked) -> BaseHTTPResponse:
        """Whoever is cancelled asks no more: neither again later, nor does its thread outlive the client."""
        call = Call()
        if is_blocking():
            return self._answered(asked, self._pool, call)
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._threads, self._answered, asked, self._pool, call)
        except asyncio.CancelledError:
            call.stop()
            raise

    async def _while_waited_for(self, asked: Asked) -> BaseHTTPResponse:
        """Cut off as soon as nobody waits any more."""
        call = Call()
        self._waiting.add(call)
        try:
            return await in_thread(lambda: self._answered(asked, self._waiters, call))
        except asyncio.CancelledError:
            call.stop()
            raise
        finally:
            self._waiting.discard(call)

    # -- on a thread that may be blocked

    def _answered(self, asked: Asked, pool: HTTPConnectionPool, call: Call) -> BaseHTTPResponse:
        """What certainly was not carried out is asked again, and what was lost, if it is safe to repeat."""
        patience = Patience(self._address.retry_s, self._closed)
        while True:
            try:
                response = self._sent(asked, pool, call)
            except EmptyPoolError:  # all connections are in use, each for a bounded time
                self._check_open()
                continue
            except HTTPError as error:
                if call.is_stopped:
                    self._check_open()
                    raise Stopped from None
                trouble = trouble_of(error)
                may_repeat = trouble == "unreached" or (trouble == "lost" and asked.is_safe)
                if may_repeat and patience.allows():
                    continue
                self._check_open()
                raise self._given_up(asked, error) from error
            if not (self._is_put_off(asked, response) and patience.allows(_retry_after_s(response))):
                return response

    def _given_up(self, asked: Asked, error: HTTPError) -> StoreError:
        if trouble_of(error) == "lost" and not asked.is_safe:
            return unknown(self._address.url, asked.what, type(error).__name__)
        return unavailable(self._address.url, error)

    def _sent(self, asked: Asked, pool: HTTPConnectionPool, call: Call) -> BaseHTTPResponse:
        limits = Timeout(connect=self._address.timeout_s, read=asked.wait_s + self._address.timeout_s)
        with under_way(call):
            # No redirect is followed: the token is for this address and for no other.
            return pool.urlopen(
                asked.method, asked.target, body=asked.body, headers=asked.headers | self._address.credentials(),
                timeout=limits, pool_timeout=TURN_S, retries=False, redirect=False, assert_same_host=False,
            )  # fmt: skip

    def _is_put_off(self, asked: Asked, response: BaseHTTPResponse) -> bool:
        """The service has done nothing, and says when to ask again; or it, or something before it, does not know."""
        if "retry-after" in response.headers and (response.status == 429 or _code_of(response) in RETRY_AFTER_S):
            return True
        return response.status in _GATEWAYS and asked.is_safe and _code_of(response) in (None, "outcome_unknown")

    def _read(self, asked: Asked, answer: type[Answer], response: BaseHTTPResponse) -> Answer:
        where, what = self._address.url, asked.what
        if response.status >= 300 or not _is_ours(response):
            raise self._refusal(asked, response)
        try:
            return msgspec.json.decode(response.data or b"null", type=answer)
        except (msgspec.DecodeError, UnicodeDecodeError) as wrong:
            may_have = not asked.is_safe
            raise unreadable(where, what, str(wrong), self.version, may_have_happened=may_have) from None

    def _refusal(self, asked: Asked, response: BaseHTTPResponse) -> DetentError:
        where, what = self._address.url, asked.what
        try:
            problem = msgspec.json.decode(response.data, type=Problem)
        except (msgspec.DecodeError, UnicodeDecodeError):
            may_have = not asked.is_safe and not 300 <= response.status < 500
            return strange(where, what, response, may_have_happened=may_have)
        return told(where, what, error_of(problem), self.version)


def _is_ours(response: BaseHTTPResponse) -> bool:
    media = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    return response.status == 204 or media in (_JSON, MEDIA_TYPE)


def _code_of(response: BaseHTTPResponse) -> str | None:
    """Of a problem; None for whatever no service of ours has said."""
    try:
        return msgspec.json.decode(response.data, type=Problem).code
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _retry_after_s(response: BaseHTTPResponse) -> float:
    text = response.headers.get("retry-after", "")
    return min(float(text), 60.0) if text.isascii() and text.isdigit() else 0.0
