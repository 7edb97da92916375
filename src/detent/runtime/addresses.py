"""How another process finds a function: "module:qualname", or "path.py:qualname" for a script that was run."""

import runpy
import sys
from functools import cache
from importlib import import_module
from typing import Any, Final

from detent.errors import InvalidArgument

_MAIN: Final = "__main__"
_AS: Final = "__detent_child__"  # so that a script's `if __name__ == "__main__"` is not taken


def portable(address: str) -> str:
    """The same place, under a name that it also has elsewhere: `__main__` is another module in every process."""
    module, _, name = address.partition(":")
    if module != _MAIN:
        return address
    main = sys.modules[_MAIN]
    spec = getattr(main, "__spec__", None)
    if spec is not None:
        return f"{spec.name}:{name}"
    path = getattr(main, "__file__", None)
    if path is None:
        raise InvalidArgument(
            f"'{name}' was declared in a session, which no other process can import; put it in a file"
        )
    return f"{path}:{name}"


def found(address: str) -> Any:
    place, _, name = address.rpartition(":")
    target: Any = _script(place) if place.endswith(".py") else import_module(place)
    for part in name.split("."):
        target = target[part] if isinstance(target, dict) else getattr(target, part)
    return target


@cache
def _script(path: str) -> dict[str, Any]:
    """Run once; its functions see each other as they do in the program itself."""
    return runpy.run_path(path, run_name=_AS)
