"""The worker: it runs handlers exactly as the record says. It knows handlers and a client, and no `App`.

`worker.py` reads like a table of contents; every duty has a file of its own beside it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from detent.runtime.context import Context
    from detent.runtime.gate import Gate, Verdict
    from detent.runtime.handler import Handler, Isolation
    from detent.runtime.observing import Observer
    from detent.runtime.scheduler import CronJob
    from detent.runtime.settings import Settings
    from detent.runtime.tally import Tally
    from detent.runtime.worker import Worker

__all__ = ["Context", "CronJob", "Gate", "Handler", "Isolation", "Observer", "Settings", "Tally", "Verdict", "Worker"]

_HOMES: Final = {
    "Context": "context",
    "CronJob": "scheduler",
    "Observer": "observing",
    "Settings": "settings",
    "Tally": "tally",
    "Worker": "worker",
    **dict.fromkeys(("Gate", "Verdict"), "gate"),
    **dict.fromkeys(("Handler", "Isolation"), "handler"),
}


def __getattr__(name: str) -> Any:
    """Imported when asked for: a program that only declares and enqueues jobs has no need of a worker."""
    if name in _HOMES:
        return getattr(import_module(f"detent.runtime.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'detent.runtime' has no attribute {name!r}")
