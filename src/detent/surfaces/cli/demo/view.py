"""The demo on a terminal: a picture of every lifecycle that is drawn anew several times a second, at any width."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from detent.lifecycle import Lifecycle, State
from detent.lifecycles import BUILT_IN
from detent.surfaces.cli.demo.news import Item
from detent.surfaces.cli.demo.stage import Stage
from detent.surfaces.cli.palette import style_of

NAME_COLUMNS: Final = max(map(len, BUILT_IN)) + 2
NEWS_MIN: Final = 3  # lines of the story, in a low terminal
NEWS_USUAL: Final = 6
NEWS_MAX: Final = 30
INTRODUCTION: Final = 4  # lines above the picture, which stay in sight where that costs nothing
ECHO: Final = 2  # columns in which a terminal shows ^C: in the next line it would push the picture up
ENDED: Final = "━"
UNDER_WAY: Final = "╍"
TO_COME: Final = "─"
BEFORE_END: Final = ("active", "held", "ready", "parked")


class View:
    """Every line is cut or filled to the terminal's width here, so that nothing wraps and nothing jumps."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._totals = Counter(part.lifecycle for part in stage.script)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        columns, height = options.max_width, console.size.height
        lines = self._figures(columns, height)
        items = told(self._stage)
        room = news_room(height - len(lines))
        if self._stage.is_over:  # what is printed below comes right below
            room = min(room, max(len(items), NEWS_MIN))
        yield from (*lines, *news_lines(items, columns, room))

    def _figures(self, columns: int, height: int) -> list[Text]:
        """All but the story. A low terminal has no room for air, and a very low one none for the states."""
        lines = self._lines(columns, has_states=True)
        if len(lines) + NEWS_MIN > height:
            lines = [line for line in lines if line]
        if len(lines) + NEWS_MIN > height:
            lines = [line for line in self._lines(columns, has_states=False) if line]
        return lines

    def _lines(self, columns: int, *, has_states: bool) -> list[Text]:
        rows = [self._rows(lifecycle, columns) for lifecycle in BUILT_IN.values()]
        shown = [line for lines in rows for line in (lines if has_states else lines[:1])]
        return [*self._title(columns), Text(), *shown, Text(), *flow(sums(self._stage), columns, between=" · "), Text()]

    def _title(self, columns: int) -> list[Text]:
        names = " ".join(member.name for member in self._stage.cast.workers)
        parts = (f"{self._stage.elapsed_s:.1f} s", f"workers {names}")
        return flow([Text("detent demo", "bold"), *(Text(part, "dim") for part in parts)], columns, between=" · ")

    def _rows(self, lifecycle: Lifecycle, columns: int) -> list[Text]:
        counts, total = self._stage.tally.of(lifecycle), self._totals[lifecycle.name]
        ended = sum(counts[state.name] for state in lifecycle.states if state.phase == "ended")
        digits = len(str(max(self._totals.values())))
        share = f" {ended:>{digits}}/{total:<{digits}}"
        line = Text().append(f"{lifecycle.name:<{NAME_COLUMNS}}", "bold")
        line.append_text(bar(lifecycle, counts, total, columns - NAME_COLUMNS - len(share)))
        line.append(share, "dim")
        chips = [chip(state, counts[state.name], len(str(total))) for state in lifecycle.states]
        return [line, *flow(chips, columns, between="  ", indent=NAME_COLUMNS)]


def bar(lifecycle: Lifecycle, counts: dict[str, int], total: int, columns: int) -> Text:
    """Each state's share in its colour. What has ended, is under way and is to come can be told without colour, too."""
    drawn, reached, line = 0, 0, Text()
    for state in sorted(lifecycle.states, key=_order):
        reached += counts[state.name]
        until = round(reached / total * columns)
        glyph = ENDED if state.phase == "ended" else UNDER_WAY
        line.append(glyph * (until - drawn), style_of(state.phase, state.outcome))
        drawn = until
    return line.append(TO_COME * (columns - drawn), "dim")


def chip(state: State, count: int, digits: int) -> Text:
    """Of one width, whatever the count, so that its neighbours stay where they are."""
    text = Text(f"{state.name} {count:<{digits}}")
    text.stylize(style_of(state.phase, state.outcome) if count else "dim")
    return text


def sums(stage: Stage) -> list[Text]:
    tally = stage.tally
    said = [
        f"{tally.ended}/{len(stage.script)} ended",
        f"moves {tally.moves:,}",
        f"{stage.moves_per_s:,.0f}/s",
        f"retries {tally.verbs['retry']}",
        f"recoveries {tally.recoveries}",
        f"late results {stage.told['late']}",
        f"repeats {stage.told['again']}",
    ]
    return [Text(each) for each in said]


def told(stage: Stage) -> list[Item]:
    """While it runs, what happened last; once it is over, the story of the worker that was killed."""
    return [item for item in stage.news.items if item.is_key] if stage.is_over else stage.news.items


def news_room(left: int) -> int:
    """Lines for the story, of those that are left."""
    usual = min(left, NEWS_USUAL)
    return min(max(usual, left - INTRODUCTION, NEWS_MIN), NEWS_MAX)


def news_lines(items: Sequence[Item], columns: int, room: int) -> Iterable[Text]:
    for item in items[-room:]:
        line = Text().append(f"{item.at_s:5.1f} s  ", "dim").append(item.text, item.style)
        line.truncate(columns - ECHO, overflow="ellipsis")
        yield line
    yield from (Text() for _ in range(room - len(items)))


def flow(parts: Sequence[Text], columns: int, *, between: str, indent: int = 0) -> list[Text]:
    """Parts one after the other, on as many lines as it takes; none is broken."""
    lines = [Text(" " * indent)]
    for part in parts:
        is_first = lines[-1].cell_len == indent
        if not is_first and lines[-1].cell_len + len(between) + part.cell_len > columns:
            lines.append(Text(" " * indent))
            is_first = True
        lines[-1].append("" if is_first else between, "dim").append_text(part)
    return lines


def _order(state: State) -> tuple[int, str]:
    """Ends first: successes, failures, then the rest."""
    if state.phase == "ended":
        return -1, {"success": "0", "failure": "1"}.get(state.outcome or "", "2")
    return BEFORE_END.index(state.phase), ""
