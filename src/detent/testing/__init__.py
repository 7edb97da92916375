"""What tests of Detent, and of things built on it, are made of.

`StoreContract` is what every store must pass, `MemoryStore` one that does, `VirtualClock` the time they are tested on.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from detent.testing.clock import VirtualClock
    from detent.testing.contract import StoreContract
    from detent.testing.memory import MemoryStore

__all__ = ["MemoryStore", "StoreContract", "VirtualClock"]

_HOMES: Final = {"MemoryStore": "memory", "StoreContract": "contract", "VirtualClock": "clock"}


def __getattr__(name: str) -> Any:
    """Imported when asked for: whoever explores a lifecycle needs no store."""
    if name in _HOMES:
        return getattr(import_module(f"detent.testing.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'detent.testing' has no attribute {name!r}")
