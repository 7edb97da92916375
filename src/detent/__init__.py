"""Detent: a durable job engine in which a job's lifecycle is declared as data, checked, enforced and on the record."""

from detent.errors import DetentError, InvalidArgument, LifecycleError, NotFound, Refused
from detent.lifecycle import SAME, Lifecycle, Move, Policy, Retry, State, move

__version__ = "0.1.0"

__all__ = [
    "SAME",
    "DetentError",
    "InvalidArgument",
    "Lifecycle",
    "LifecycleError",
    "Move",
    "NotFound",
    "Policy",
    "Refused",
    "Retry",
    "State",
    "move",
]
