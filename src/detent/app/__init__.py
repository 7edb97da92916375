"""Jobs as functions: the app they are declared in, and the handles of those that were made."""

from detent.app.app import App
from detent.app.calls import Call
from detent.app.cron import Cron
from detent.app.function import JobFunction
from detent.app.handle import JobHandle, await_all, wait_all
from detent.app.options import EnqueueOptions, JobOptions, Settings
from detent.runtime.current import current

__all__ = [
    "App", "Call", "Cron", "EnqueueOptions", "JobFunction", "JobHandle", "JobOptions", "Settings", "await_all",
    "current", "wait_all",
]  # fmt: skip
