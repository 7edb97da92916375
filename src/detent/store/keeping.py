"""What need not stay for ever, on whichever store: for how long it is kept, and how much of it."""

from typing import Final

from msgspec import Struct

from detent.kernel.artifacts import ARTIFACTS_MAX

# Payloads of these are worth keeping for a while only; the log is whole without them.
VERBOSE_VERBS: Final = frozenset({"renew"})
VERBOSE_NOTES: Final = frozenset({"progress"})


class Keeping(Struct, frozen=True, kw_only=True):
    """How long receipts and verbose payloads are kept, and how many notes of one kind a job has."""

    receipts_s: float = 86_400
    verbose_s: float = 3 * 86_400
    notes_max: int = 100

    def most(self, kind: str) -> int:
        """How many notes of a kind a job has at most. Artifacts are counted before they are registered."""
        return ARTIFACTS_MAX if kind == "artifact" else self.notes_max
