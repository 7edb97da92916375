"""The five lifecycles that ship. To add one, write a module like its neighbours and list it in `BUILT_IN`."""

from typing import Final

from detent.lifecycle import Lifecycle
from detent.lifecycles.contract import CONTRACT
from detent.lifecycles.dispatch import DISPATCH
from detent.lifecycles.document import DOCUMENT
from detent.lifecycles.engine import ENGINE
from detent.lifecycles.standard import STANDARD

BUILT_IN: Final[dict[str, Lifecycle]] = {
    lifecycle.name: lifecycle for lifecycle in (STANDARD, DISPATCH, ENGINE, CONTRACT, DOCUMENT)
}

__all__ = ["BUILT_IN", "CONTRACT", "DISPATCH", "DOCUMENT", "ENGINE", "STANDARD"]
