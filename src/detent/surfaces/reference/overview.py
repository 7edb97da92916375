"""The page that leads to the lifecycles."""

from collections.abc import Iterable

from detent.lifecycle import Lifecycle
from detent.surfaces.reference.markdown import codes, page, table


def overview_page(lifecycles: Iterable[Lifecycle]) -> str:
    rows = [
        (f"[{each.name}]({each.name}.md)", each.version, codes(state.name for state in each.states), each.summary)
        for each in lifecycles
    ]
    return page(
        "Lifecycles",
        "The state machines that ship. Each page is written from the declaration that the kernel decides by.",
        table(("lifecycle", "version", "states", "what it is for"), rows),
        "One of your own is declared the same way: see [Declare a lifecycle](../../how-to/declare-a-lifecycle.md).",
    )
