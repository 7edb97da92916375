"""Somebody to send spans to: it keeps what comes in, as OTLP has it."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


class Collector:
    """What comes in is read by whoever has the messages' type."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.bodies: list[bytes] = []

    def spans(self, message: Any) -> list[Any]:
        return [
            span
            for body in self.bodies
            for resource in message.FromString(body).resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def services(self, message: Any) -> set[str]:
        """Whose they are."""
        return {
            attribute.value.string_value
            for body in self.bodies
            for resource in message.FromString(body).resource_spans
            for attribute in resource.resource.attributes
            if attribute.key == "service.name"
        }


@contextmanager
def collecting() -> Iterator[Collector]:
    class Listener(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            collector.bodies.append(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            """It has nothing to say on stderr."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Listener)
    collector = Collector(f"http://127.0.0.1:{server.server_address[1]}")
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
