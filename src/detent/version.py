"""Which Detent this is. In a module of its own: every layer may name it."""

from typing import Final

__version__: Final = "0.1.0"
