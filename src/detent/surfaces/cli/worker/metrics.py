"""What a worker has counted, for Prometheus, over HTTP from a thread of its own."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Final, TypeVar

from detent.surfaces.cli.failure import Failure
from detent.surfaces.cli.worker.counts import Counts, Spread
from detent.surfaces.telemetry import families
from detent.surfaces.telemetry.exposition import CONTENT_TYPE, Family, Samples, alone, encoded

PATH: Final = "/metrics"
HOST: Final = "127.0.0.1"
Sample = TypeVar("Sample", int, Spread)


def text_of(counts: Counts) -> str:
    return encoded(_families(counts)).decode()


@contextmanager
def served(look: Callable[[], Counts], host: str, port: int) -> Iterator[str]:
    """Until the block is left; the address. Port 0: one that is free."""
    try:
        server = _Server((host, port), _handler(look))
    except (OSError, OverflowError) as error:
        message = f"metrics cannot be served at {host}, port {port}: {error}"
        raise Failure(f"{message}; choose another --metrics-port") from None
    thread = Thread(target=server.serve_forever, name="detent-metrics", daemon=True)
    thread.start()
    try:
        yield f"http://{host}:{server.server_address[1]}{PATH}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True


def _handler(look: Callable[[], Counts]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # the name is the library's
            if self.path.partition("?")[0] != PATH:
                self.send_error(HTTPStatus.NOT_FOUND, f"metrics are at {PATH}")
                return
            body = encoded(_families(look()))
            self.send_response(HTTPStatus.OK)
            self.send_header("Content-Type", CONTENT_TYPE)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Whoever looks every few seconds is no news."""

    return Handler


def _families(counts: Counts) -> Iterator[tuple[Family, Samples]]:
    yield families.RUNNING, alone(counts.running)
    yield families.SLOTS, alone(counts.slots)
    yield families.DRAINING, alone(counts.is_draining)
    yield families.CLAIMS, _nested(counts.claims)
    yield families.CONFLICTS, alone(counts.conflicts)
    yield families.RENEWALS, alone(counts.renewals)
    yield families.EXPIRIES, alone(counts.expiries)
    yield families.LOST, _ended(counts, "lost")
    yield families.ATTEMPTS, _nested(counts.ends)
    yield families.RETRIES, _ended(counts, "retried")
    yield families.FAILURES, _nested(counts.failures)
    yield families.DEAD_LETTERS, _nested(counts.dead_letters)
    yield families.GIVEN_UP, _nested(counts.losses)
    yield families.TICKS, _flat(counts.ticks)
    yield families.STOPS, _flat(counts.stops)
    yield families.LATE, _flat(counts.refusals)
    yield families.VERDICTS, _flat(counts.verdicts)
    yield families.STALLS, alone(counts.stalls)
    yield families.RECONCILED, alone(counts.reconciliations)
    yield families.PRUNED, alone(counts.removals)
    yield families.TROUBLES, _flat(counts.troubles)
    yield families.WAITS, _flat(counts.waits)
    yield families.RUNS, _flat(counts.runs)


def _flat(table: Mapping[str, Sample]) -> dict[tuple[str, ...], Sample]:
    return {(value,): sample for value, sample in table.items()}


def _nested(table: Mapping[str, Mapping[str, int]]) -> dict[tuple[str, ...], int]:
    return {(one, two): count for one, inner in table.items() for two, count in inner.items()}


def _ended(counts: Counts, came_to: str) -> dict[tuple[str, ...], int]:
    return _flat({kind: ends[came_to] for kind, ends in counts.ends.items() if came_to in ends})
