"""How a worker looks for garbage: seldom. Thousands of jobs come and go each second, and none leaves a cycle behind."""

import gc
from typing import Final

# As Python comes, it looks whenever 700 more things were made than given up: several times for each batch of jobs, and
# every so often at all that the process has.
THRESHOLDS: Final = (20_000, 20, 50)


def look_seldom() -> None:
    """What is there already, the program and its modules, stays: it need never be looked at again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
