"""What a child process of a worker does before anything else: it logs and traces as its worker does."""

from collections.abc import Callable

from detent.surfaces.telemetry.logs import LogSettings, set_up_logs
from detent.surfaces.telemetry.tracing import set_up_tracing


def prepare(logs: LogSettings | None, service_name: str, first: Callable[[], object] | None) -> None:
    """`logs`: None where the program sets up its own, here as there."""
    if first is not None:
        first()
    if logs is not None:
        set_up_logs(logs)
    set_up_tracing(service_name)  # what is left is sent when the worker lets the child go
