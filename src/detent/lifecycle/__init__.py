"""Lifecycles as data: the words, the rows, the check, the compiled table, and their pictures. Pure."""

from detent.lifecycle.lifecycle import Lifecycle
from detent.lifecycle.limit import Limit
from detent.lifecycle.model import SAME, Move, State, move
from detent.lifecycle.policy import Compensation, Policy, Retry
from detent.lifecycle.toml import from_toml

__all__ = ["SAME", "Compensation", "Lifecycle", "Limit", "Move", "Policy", "Retry", "State", "from_toml", "move"]
