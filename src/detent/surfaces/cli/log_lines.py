"""An event in a line: when, which job, where it went, what was done, by whom and why; the columns below one another."""

from collections.abc import Iterable
from typing import Final

from rich.text import Text

from detent.client import Event, SyncClient
from detent.surfaces.cli.job.telling import deed
from detent.surfaces.cli.output import clean, say, screen, show
from detent.surfaces.cli.palette import style_of
from detent.surfaces.cli.times import clock, day
from detent.surfaces.cli.width import is_sized

GAP: Final = "  "
ID_COLUMNS_MAX: Final = 40  # one id that is longer does not push all others to the right
TEXT_COLUMNS_MIN: Final = 24  # with less room beside the columns, text goes on below them


class Lines:
    """Columns are as wide as what was seen so far wants them: nobody knows what a log will bring."""

    def __init__(self, client: SyncClient, first: Iterable[Event]) -> None:
        self._states = {state.name: state for each in client.lifecycles() for state in each.states}
        self._day = ""
        self._widths = (0, 0)
        for event in first:
            self._measure(event)

    def write(self, event: Event) -> None:
        if day(event.at) != self._day:  # the last events of a quiet store may be of another day than today
            self._day = day(event.at)
            say(self._day, style="dim")
        self._measure(event)
        head = self._head(event)
        what = Text.assemble(clean(deed(event)), Text(f"{GAP}{clean(event.cause)}" if event.cause else "", style="dim"))
        show(_hung(head, what) if is_sized() else head.append_text(what), is_wrapped=is_sized())

    def _measure(self, event: Event) -> None:
        wanted = (min(Text(clean(event.job_id)).cell_len, ID_COLUMNS_MAX), len(clean(event.to_state)))
        self._widths = (max(self._widths[0], wanted[0]), max(self._widths[1], wanted[1]))

    def _head(self, event: Event) -> Text:
        state = self._states.get(event.to_state)
        cells = (
            Text(clock(event.at), style="dim"),
            _padded(Text(clean(event.job_id), style="cyan"), self._widths[0]),
            _padded(
                Text(clean(event.to_state), style=style_of(state.phase, state.outcome) if state else ""),
                self._widths[1],
            ),
        )
        return Text(GAP).join([*cells, Text()])


def _padded(cell: Text, columns: int) -> Text:
    cell.pad_right(max(columns - cell.cell_len, 0))
    return cell


def _hung(head: Text, what: Text) -> Text:
    """What does not fit beside the columns goes on below itself."""
    console = screen()
    indent = head.cell_len
    room = console.width - indent
    if room < TEXT_COLUMNS_MIN or what.cell_len <= room:
        return head.append_text(what)
    lines = what.wrap(console, room)
    return head.append_text(Text(f"\n{' ' * indent}").join(lines))
