"""An app's jobs in a test: on a throwaway store, with a clock that the test moves, run in the test's own process."""

from detent.testing.trial.mishaps import Mishap
from detent.testing.trial.played import Played
from detent.testing.trial.stuck import Stuck
from detent.testing.trial.trial import Trial

__all__ = ["Mishap", "Played", "Stuck", "Trial"]
