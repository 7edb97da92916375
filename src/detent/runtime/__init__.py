"""The worker: it runs handlers exactly as the record says. It knows handlers and a client, and no `App`.

`worker.py` reads like a table of contents; every duty has a file of its own beside it.
"""

from detent.runtime.context import Context
from detent.runtime.gate import Gate, Verdict
from detent.runtime.handler import Handler, Isolation
from detent.runtime.observing import Observer
from detent.runtime.scheduler import CronJob
from detent.runtime.settings import Settings
from detent.runtime.tally import Tally
from detent.runtime.worker import Worker

__all__ = ["Context", "CronJob", "Gate", "Handler", "Isolation", "Observer", "Settings", "Tally", "Verdict", "Worker"]
