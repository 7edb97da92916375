"""Counters for Prometheus, in its text format, over HTTP from a thread of its own."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Final

from detent.surfaces.cli.failure import Failure
from detent.surfaces.cli.worker.counts import Counts, Spread

PATH: Final = "/metrics"
HOST: Final = "127.0.0.1"
QUANTILES: Final = (0.5, 0.95)
CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

Labels = tuple[tuple[str, str], ...]
Samples = list[tuple[Labels, float]]


def text_of(counts: Counts) -> str:
    return "".join(_block(*each) for each in _families(counts)) + _durations(counts)


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
            body = text_of(look()).encode()
            self.send_response(HTTPStatus.OK)
            self.send_header("Content-Type", CONTENT_TYPE)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Whoever looks every few seconds is no news."""

    return Handler


def _families(counts: Counts) -> Iterator[tuple[str, str, str, Samples]]:
    yield "running", "gauge", "Attempts under way.", [((), counts.running)]
    yield "slots", "gauge", "How many attempts there is room for.", [((), counts.slots)]
    yield "draining", "gauge", "1 while a worker is shutting down.", [((), counts.is_draining)]
    yield "claims_total", "counter", "Jobs claimed.", [((), counts.claims)]
    yield "claim_conflicts_total", "counter", "Jobs that others claimed first.", [((), counts.conflicts)]
    yield "lease_renewals_total", "counter", "Leases renewed.", [((), counts.renewals)]
    yield "lease_expiries_total", "counter", "Leases found to have run out, anybody's.", [((), counts.expiries)]
    yield "attempts_total", "counter", "Attempts settled, by what they came to.", _by(counts.ends, "kind", "came_to")
    retries = {kind: ends["retried"] for kind, ends in counts.ends.items() if "retried" in ends}
    yield "retries_total", "counter", "Attempts after which the job is to run again.", _one(retries, "kind")
    yield "failures_total", "counter", "Attempts whose handler raised.", _by(counts.failures, "kind", "error")
    yield "dead_letters_total", "counter", "Jobs that became dead letters.", _one(counts.dead_letters, "kind")
    losses = _by(counts.losses, "kind", "state")
    yield "given_up_total", "counter", "Jobs that time has failed, or left to a person.", losses
    yield "cron_jobs_total", "counter", "Jobs made for the calendar.", _one(counts.ticks, "schedule")
    yield "stops_total", "counter", "Handlers told to stop.", _one(counts.stops, "reason")
    yield "late_results_total", "counter", "Results refused for coming too late.", _one(counts.refusals, "code")
    yield "verdicts_total", "counter", "Verdicts of the policy on the record.", _one(counts.verdicts, "verdict")
    yield "loop_stalls_total", "counter", "Times that the event loop stood still.", [((), counts.stalls)]
    yield "reconciled_total", "counter", "Jobs that time demanded something of.", [((), counts.reconciliations)]
    yield "pruned_total", "counter", "Old jobs removed.", [((), counts.removals)]
    yield "troubles_total", "counter", "Times that a duty could not be done.", _one(counts.troubles, "duty")


def _durations(counts: Counts) -> str:
    name = "attempt_duration_seconds"
    blocks = [_spread(name, kind, spread) for kind, spread in sorted(counts.spreads.items())]
    return _head(name, "summary", "From claim to settled.") + "".join(blocks)


def _spread(name: str, kind: str, spread: Spread) -> str:
    own = ("kind", kind)
    shares = [_line(name, (own, ("quantile", f"{share:g}")), spread.quantile_s(share) or 0.0) for share in QUANTILES]
    ends = [_line(f"{name}_sum", (own,), spread.sum_s), _line(f"{name}_count", (own,), sum(spread.counts))]
    return "".join([*shares, *ends])


def _one(table: Mapping[str, int], label: str) -> Samples:
    return [(((label, value),), count) for value, count in sorted(table.items())]


def _by(table: Mapping[str, Mapping[str, int]], label: str, inner: str) -> Samples:
    return [(((label, one), (inner, two)), n) for one, each in sorted(table.items()) for two, n in sorted(each.items())]


def _block(name: str, kind: str, about: str, samples: Samples) -> str:
    return _head(name, kind, about) + "".join(_line(name, *sample) for sample in samples)


def _head(name: str, kind: str, about: str) -> str:
    return f"# HELP detent_{name} {about}\n# TYPE detent_{name} {kind}\n"


def _line(name: str, labels: Labels, value: float) -> str:
    shown = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels)
    number = f"{value:.6g}" if isinstance(value, float) else str(int(value))
    return f"detent_{name}{{{shown}}} {number}\n" if shown else f"detent_{name} {number}\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
