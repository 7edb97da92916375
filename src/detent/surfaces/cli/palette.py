"""Colours that mean the same everywhere: by phase, and at the end by outcome."""

from typing import Final

from rich.text import Text

from detent.client import Job
from detent.surfaces.cli.output import clean

PHASES: Final = {"parked": "yellow", "ready": "blue", "held": "magenta", "active": "cyan", "ended": "white"}
OUTCOMES: Final = {"success": "green", "failure": "red", "cancelled": "bright_black"}


def style_of(phase: str, outcome: str | None) -> str:
    return OUTCOMES[outcome] if outcome is not None else PHASES[phase]


def state_of(job: Job) -> Text:
    return Text(clean(job.state), style=style_of(job.phase, job.outcome))
