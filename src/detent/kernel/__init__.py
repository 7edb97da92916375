"""The rules, decided once. `decide` answers a command with a `Change` or a `Refused`, and does no I/O."""

from detent.kernel.change import Change, Receipt, evolve, holds
from detent.kernel.decide import decide
from detent.kernel.event import Event, Note
from detent.kernel.failure import Error
from detent.kernel.job import Job
from detent.kernel.parse import parse

__all__ = ["Change", "Error", "Event", "Job", "Note", "Receipt", "decide", "evolve", "holds", "parse"]
