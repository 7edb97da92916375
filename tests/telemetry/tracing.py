"""Spans that were made, looked up by their names; and a server that remembers with which headers it was called."""

import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from opentelemetry import propagate
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from detent.runtime import Context


class Spans:
    def __init__(self, exporter: InMemorySpanExporter) -> None:
        self._exporter = exporter

    def all(self, name: str) -> list[ReadableSpan]:
        return [span for span in self._exporter.get_finished_spans() if span.name == name]

    def one(self, name: str) -> ReadableSpan:
        (span,) = self.all(name)
        return span

    @property
    def names(self) -> list[str]:
        return [span.name for span in self._exporter.get_finished_spans()]


def traceparent(span: ReadableSpan) -> str:
    return f"00-{span.context.trace_id:032x}-{span.context.span_id:016x}-01"


def trace_id(span: ReadableSpan) -> str:
    return f"{span.context.trace_id:032x}"


def said(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


class Called:
    """The headers of each call, in order."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.headers: list[dict[str, str]] = []


@contextmanager
def listening() -> Iterator[Called]:
    class Listener(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            called.headers.append({name.lower(): value for name, value in self.headers.items()})
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            """It has nothing to say on stderr."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Listener)
    called = Called(f"http://127.0.0.1:{server.server_address[1]}/")
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield called
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


# -- handlers that other processes run, too


def call(url: str) -> None:
    """As an instrumented HTTP client would."""
    headers: dict[str, str] = {}
    propagate.inject(headers)
    _get(url, headers)


async def call_on_the_loop(url: str) -> None:
    call(url)


def call_by_hand(ctx: Context, url: str) -> None:
    """With a client that knows nothing of traces."""
    _get(url, dict(ctx.trace_headers()))


def fail() -> None:
    raise LookupError("no such page")


def _get(url: str, headers: dict[str, str]) -> None:
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=20):
        """Nothing comes back."""
