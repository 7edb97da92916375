"""How a running worker shows how it is: a line that changes on a terminal, a line in the log every minute elsewhere."""

import logging
import os
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from threading import Event, Thread
from time import monotonic
from typing import Final

from rich.live import Live
from rich.text import Text

from detent.surfaces.cli.output import Screen
from detent.surfaces.cli.times import span
from detent.surfaces.cli.worker.counts import Counts
from detent.surfaces.telemetry.logs import NAME

REFRESHES_PER_S: Final = 4
LOOK_BACK_S: Final = 5.0  # over which a rate is counted
TOLD_EVERY_S: Final = 60.0
LINE_BYTES_MAX: Final = 65_536

Look = Callable[[], Counts]


class Line:
    """How things are, as one line."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self._began_s = monotonic()
        self._seen: deque[tuple[float, int]] = deque(maxlen=round(LOOK_BACK_S * REFRESHES_PER_S))

    def __rich__(self) -> Text:
        counts, now_s = self._look(), monotonic()
        self._seen.append((now_s, settled(counts)))
        head = ("draining", "yellow") if counts.is_draining else ("working", "green")
        parts = [
            Text(f"{counts.running:,}/{counts.slots:,} running"),
            *(_part(counts.ended(*came_to), name, style) for name, came_to, style in PARTS),
            Text(f"{self._per_s():,.0f}/s"),
            Text(span(now_s - self._began_s), style="dim"),
        ]
        shown = Text.assemble((" · ", "dim")).join(each for each in parts if each)
        return Text.assemble(Text("● ", style=head[1]), Text(head[0], style=head[1]), "  ", shown)

    def _per_s(self) -> float:
        (first_s, before), (last_s, after) = self._seen[0], self._seen[-1]
        return (after - before) / (last_s - first_s) if last_s > first_s else 0.0


# What is shown of attempts: under which name, what they came to, and in which colour if there are any.
PARTS: Final = (
    ("done", ("success",), "green"),
    ("failed", ("failure",), "red"),
    ("retried", ("retried",), "yellow"),
    ("cancelled", ("cancelled",), "bright_black"),
    ("given back", ("released", "lost"), "bright_black"),
)
_ALWAYS: Final = frozenset({"done", "failed", "retried"})


def settled(counts: Counts) -> int:
    return counts.ended(*(each for _, came_to, _ in PARTS for each in came_to))


def told(counts: Counts) -> str:
    """`3 done, 0 failed, 1 retried`."""
    ends = [(name, counts.ended(*came_to)) for name, came_to, _ in PARTS]
    return ", ".join(f"{count:,} {name}" for name, count in ends if count or name in _ALWAYS)


@contextmanager
def watched(look: Look) -> Iterator[None]:
    with at_the_bottom(Line(look).__rich__):
        yield


@contextmanager
def at_the_bottom(line: Callable[[], Text]) -> Iterator[None]:
    """A line at the bottom of the terminal. Whatever this process and its children write stands above it."""
    with ExitStack() as stack:
        terminal = stack.enter_context(os.fdopen(os.dup(sys.stderr.fileno()), "w", encoding="utf-8", errors="replace"))
        console = Screen(file=terminal, highlight=False, markup=False, emoji=False, force_terminal=True)
        live = Live(console=console, get_renderable=line, refresh_per_second=REFRESHES_PER_S, transient=True,
                    redirect_stdout=False, redirect_stderr=False)  # fmt: skip
        stack.enter_context(live)
        stack.enter_context(_above(console))
        yield


@contextmanager
def logged(look: Look) -> Iterator[None]:
    """Every minute in which something was done, so that a log tells that it goes on."""
    over = Event()
    thread = Thread(target=_log, args=(look, over), name="detent-status", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _log(look: Look, over: Event) -> None:
    before = 0
    while not over.wait(TOLD_EVERY_S):
        counts = look()
        if settled(counts) != before or counts.running:
            before = settled(counts)
            logging.getLogger(NAME).info("%d of %d running; %s so far", counts.running, counts.slots, told(counts))


@contextmanager
def _above(console: Screen) -> Iterator[None]:
    """Send stdout and stderr, and those of children that are started meanwhile, through the console.

    By file descriptor: handlers in other processes and C libraries write there, too.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    out, into = os.pipe()
    kept = [os.dup(each) for each in (1, 2)]
    thread = Thread(target=_pass_on, args=(out, console), name="detent-output", daemon=True)
    thread.start()
    for each in (1, 2):
        os.dup2(into, each)
    os.close(into)
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for each, before in zip((1, 2), kept, strict=True):
            os.dup2(before, each)
            os.close(before)
        thread.join(timeout=1.0)  # a child that was left behind may keep its end open


def _pass_on(out: int, console: Screen) -> None:
    with os.fdopen(out, encoding="utf-8", errors="replace") as lines:
        while line := lines.readline(LINE_BYTES_MAX):
            console.print(Text.from_ansi(line.rstrip("\n")), soft_wrap=True)


def _part(count: int, name: str, style: str) -> Text:
    if not count and name not in _ALWAYS:
        return Text()
    return Text(f"{count:,} {name}", style=style if count else "")
