"""Detent: a durable job engine in which a job's lifecycle is declared as data, checked, enforced and on the record."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from detent.errors import DetentError, InvalidArgument, LifecycleError, NotFound, Refused, StoreError, WaitTimedOut
from detent.lifecycle import SAME, Compensation, Lifecycle, Move, Policy, Retry, State, move

if TYPE_CHECKING:
    from detent.client import Artifact, Client, Codec, Event, Job, Note, SyncClient, connect

__version__ = "0.1.0"

__all__ = [
    "SAME",
    "Artifact",
    "Client",
    "Codec",
    "Compensation",
    "DetentError",
    "Event",
    "InvalidArgument",
    "Job",
    "Lifecycle",
    "LifecycleError",
    "Move",
    "NotFound",
    "Note",
    "Policy",
    "Refused",
    "Retry",
    "State",
    "StoreError",
    "SyncClient",
    "WaitTimedOut",
    "connect",
    "move",
]

_CLIENT = frozenset({"Artifact", "Client", "Codec", "Event", "Job", "Note", "SyncClient", "connect"})


def __getattr__(name: str) -> Any:
    """The client brings asyncio and SQLite along: it is imported when it is asked for, so that the rest stays quick."""
    if name in _CLIENT:
        return getattr(import_module("detent.client"), name)
    raise AttributeError(f"module 'detent' has no attribute {name!r}")
