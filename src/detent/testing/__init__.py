"""What tests of Detent, and of things built on it, are made of.

`Trial` runs an app's jobs in a test; with pytest it is the fixture `jobs` (`detent.testing.plugin`). `StoreContract` is
what every store must pass, `MemoryStore` one that does, `VirtualClock` the time they are tested on.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from detent.testing.clock import VirtualClock
    from detent.testing.contract import StoreContract
    from detent.testing.memory import MemoryStore
    from detent.testing.trial import Mishap, Played, Stuck, Trial

__all__ = ["MemoryStore", "Mishap", "Played", "StoreContract", "Stuck", "Trial", "VirtualClock"]

_HOMES: Final = {
    "MemoryStore": "memory",
    "StoreContract": "contract",
    "VirtualClock": "clock",
    **dict.fromkeys(("Mishap", "Played", "Stuck", "Trial"), "trial"),
}


def __getattr__(name: str) -> Any:
    """Imported when asked for: whoever explores a lifecycle needs no store."""
    if name in _HOMES:
        return getattr(import_module(f"detent.testing.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'detent.testing' has no attribute {name!r}")
