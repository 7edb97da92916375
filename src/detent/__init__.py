"""Detent: a durable job engine in which a job's lifecycle is declared as data, checked, enforced and on the record."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from detent.errors import (
    Cancelled,
    DetentError,
    Forbidden,
    InvalidArgument,
    JobError,
    JobFailed,
    LeaseConflictError,
    LeaseLost,
    LifecycleError,
    NotFound,
    PermanentError,
    PolicyError,
    Refused,
    ServiceError,
    Stopped,
    StoreError,
    TransientError,
    Unauthorized,
    ValidationError,
    WaitTimedOut,
)
from detent.lifecycle import SAME, Compensation, Lifecycle, Limit, Move, Policy, Retry, State, move
from detent.version import __version__ as __version__

if TYPE_CHECKING:
    from detent.app import App, Cron, JobFunction, JobHandle, await_all, wait_all
    from detent.client import Artifact, Client, Codec, Event, Job, Note, SyncClient, connect
    from detent.runtime.context import Context
    from detent.runtime.gate import Gate, Verdict

__all__ = [
    "SAME",
    "App",
    "Artifact",
    "Cancelled",
    "Client",
    "Codec",
    "Compensation",
    "Context",
    "Cron",
    "DetentError",
    "Event",
    "Forbidden",
    "Gate",
    "InvalidArgument",
    "Job",
    "JobError",
    "JobFailed",
    "JobFunction",
    "JobHandle",
    "LeaseConflictError",
    "LeaseLost",
    "Lifecycle",
    "LifecycleError",
    "Limit",
    "Move",
    "NotFound",
    "Note",
    "PermanentError",
    "Policy",
    "PolicyError",
    "Refused",
    "Retry",
    "ServiceError",
    "State",
    "Stopped",
    "StoreError",
    "SyncClient",
    "TransientError",
    "Unauthorized",
    "ValidationError",
    "Verdict",
    "WaitTimedOut",
    "await_all",
    "connect",
    "move",
    "wait_all",
]

_CLIENT = ("Artifact", "Client", "Codec", "Event", "Job", "Note", "SyncClient", "connect")
_APP = ("App", "Cron", "JobFunction", "JobHandle", "await_all", "wait_all")
_LATER = {
    **dict.fromkeys(_CLIENT, "detent.client"),
    **dict.fromkeys(_APP, "detent.app"),
    "Context": "detent.runtime.context",
    **dict.fromkeys(("Gate", "Verdict"), "detent.runtime.gate"),
}


def __getattr__(name: str) -> Any:
    """The client brings asyncio and SQLite along: it is imported when it is asked for, so that the rest stays quick."""
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module 'detent' has no attribute {name!r}")
