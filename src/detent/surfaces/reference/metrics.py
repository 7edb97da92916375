"""The page of metrics: every family as it is declared, by who has it."""

from collections.abc import Iterable

from detent.runtime.counting import BOUNDS_S, LABELS_MAX, OTHER, SERIES_MAX
from detent.surfaces.reference.markdown import code, codes, page, section, table
from detent.surfaces.telemetry.exposition import Family
from detent.surfaces.telemetry.families import ATTACHED, SERVICE, STORE, WORKER
from detent.surfaces.telemetry.gauges import KEPT_S

_ABOUT = f"""Metrics are in Prometheus' text format. Each program counts what it did itself since it was started: what a
worker has asked of a service over HTTP, both have counted. A program that is started anew counts from 0, which `rate`
and `increase` know of. What to ask and what to be woken by: [watch with
Prometheus](../how-to/watch-with-prometheus.md).

Durations are in seconds, and moments of the record are those of the store's clock. No label is the id of anything. Of
the values that somebody else makes up, such as kinds, {LABELS_MAX} are counted apart in each metric, and of their
combinations {SERIES_MAX:,}; the rest is counted as `{OTHER}`."""

_BOUNDS = "The bounds of the histograms are the same everywhere, in seconds:\n{bounds}."


def metrics_page() -> str:
    bounds = ", ".join(f"{bound:g}" for bound in BOUNDS_S)
    return page(
        "Metrics",
        _ABOUT,
        _BOUNDS.format(bounds=bounds),
        section("Of a worker", "`detent worker --metrics-port`; of several processes, their sum.", _families(WORKER)),
        section("Of the service", "Whatever goes through it to its store.", _families(SERVICE)),
        section(
            "Of engines and of the bus",
            "Told by the service that they are connected to; those of the bus to its own tenant.",
            _families(ATTACHED),
        ),
        section(
            "Of the store, told by the service",
            f"As things stand, of the tenant that whoever asks has a token for. They are read"
            f"\nwhen somebody asks, at most every {KEPT_S:g} seconds; if the store is out of reach, they are left out.",
            _families(STORE),
        ),
    )


def _families(families: Iterable[Family]) -> str:
    rows = [(code(each.full_name), each.type, codes(each.labels), each.about) for each in families]
    return table(("metric", "type", "labels", "what it is"), rows)
