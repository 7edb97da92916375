"""What every store must do, as tests that anybody can run against their own.

    class TestMyStore(StoreContract):
        def make_store(self, clock: Clock, random: Random) -> Store:
            return MyStore(clock=clock, random=random)

Any runner that calls the `test_*` methods of a class will do: pytest, or unittest with `TestCase` beside it. Each test
makes a store of its own, works through a client, and at its end has the history checker look at all that was kept.
"""

import pkgutil
import sys

if "pytest" in sys.modules:
    # The suite needs no pytest. Where pytest runs it, a failed assertion shows its values, as in its own tests.
    names = [f"{__name__}.{module.name}" for module in pkgutil.iter_modules(__path__)]
    sys.modules["pytest"].register_assert_rewrite(*names)

from detent.testing.contract.bench import Bench, Contract, scenario
from detent.testing.contract.suite import StoreContract

__all__ = ["Bench", "Contract", "StoreContract", "scenario"]
