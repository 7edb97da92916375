"""How a table is laid out: which columns fit, how wide each is, and where a cell is folded. Written by `output`.

rich has tables, too; they take a millisecond a row, which is long to wait for a listing of thousands.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct
from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.text import Text

GAP: Final = "   "
RULE: Final = "─"
FIRST_STYLE: Final = "cyan"
NARROW: Final = 12  # no column but the first is folded to less, as long as the first can give way instead

Row = Sequence[Text]


class Column(Struct, frozen=True):
    """`rank`: the higher, the sooner it is left out where room is short; 0 never is.

    `enough`: what will do for it, if its text is longer and can be folded.
    """

    heading: str
    rank: int = 0
    enough: int | None = None


class Grid(Struct):
    """Some rows of a table, with its heading or without."""

    columns: Sequence[Column]
    rows: Sequence[Row]
    widths: list[int]
    has_heading: bool

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.has_heading:
            yield from _line(console, self._headings(), self.widths)
            yield from (Segment(RULE * _sum(self.widths)), Segment.line())
        for row in self.rows:
            yield from _lines(console, row, self.widths)

    def _headings(self) -> list[Text]:
        """Above numbers on the right, as they are."""
        first = self.rows[0] if self.rows else [Text() for _ in self.columns]
        return [
            Text(column.heading, style="bold", justify=cell.justify)
            for column, cell in zip(self.columns, first, strict=True)
        ]


def wanted(columns: Sequence[Column], rows: Sequence[Row]) -> list[int]:
    """How wide each would have to be so that nothing is folded."""
    cells = zip(*rows, strict=True) if rows else [()] * len(columns)
    return [
        max([len(column.heading), *(cell.cell_len for cell in each)])
        for column, each in zip(columns, cells, strict=True)
    ]


def fitting(columns: Sequence[Column], widths: Sequence[int], room: int) -> list[int]:
    """The places of those that are shown: the least important are left out until the others fit."""
    least = [min(width, column.enough or width) for column, width in zip(columns, widths, strict=True)]
    shown = list(range(len(columns)))
    for place in sorted((each for each in shown if columns[each].rank), key=lambda each: -columns[each].rank):
        if _sum([least[each] for each in shown]) <= room:
            break
        shown.remove(place)
    return shown


def within(widths: Sequence[int], room: int) -> list[int]:
    """As wide as wanted, or the widest made narrower until all fit: the first, which names the row, comes last."""
    fit = [min(width, room) for width in widths]
    for floors in ([fit[0], *[NARROW] * (len(fit) - 1)], [1] * len(fit)):
        while _sum(fit) > room:
            spare = [place for place, floor in enumerate(floors) if fit[place] > floor]
            if not spare:
                break
            fit[max(spare, key=lambda place: fit[place])] -= 1
    return fit


def _sum(widths: Sequence[int]) -> int:
    return sum(widths) + len(GAP) * (len(widths) - 1)


def _lines(console: Console, row: Row, widths: list[int]) -> Iterator[Segment]:
    if all(cell.cell_len <= width for cell, width in zip(row, widths, strict=True)):
        yield from _line(console, row, widths)
        return
    folded = [cell.wrap(console, width, overflow="fold") for cell, width in zip(row, widths, strict=True)]
    for number in range(max(map(len, folded))):
        yield from _line(console, [each[number] if number < len(each) else Text() for each in folded], widths)


def _line(console: Console, cells: Row, widths: list[int]) -> Iterator[Segment]:
    """Blanks are held back until something follows them, so that no line ends in any."""
    blanks = 0
    for place, (cell, width) in enumerate(zip(cells, widths, strict=True)):
        spare = width - cell.cell_len
        is_right = cell.justify == "right"
        if cell:
            yield Segment(" " * (blanks + (spare if is_right else 0)))
            yield Segment(cell.plain, console.get_style(cell.style or ("" if place else FIRST_STYLE)))
            blanks = 0
        blanks += len(GAP) + (0 if is_right and cell else spare)
    yield Segment.line()
