"""How many examples a property is tried on: a sample every day, and many times as many in `make explore`.

Every day they are the same ones, so that a failure is one on every machine; then trying them more often shows nothing
new. `make explore` draws others each time.
"""

import os
from typing import Final

VARIABLE: Final = "DETENT_EXPLORE_TIMES"
TIMES: Final = int(os.environ.get(VARIABLE, "0"))
IS_EXPLORING: Final = TIMES > 0


def examples(everyday: int) -> int:
    return everyday * max(TIMES, 1)
