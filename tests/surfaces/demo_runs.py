"""Demos run as a person runs them: in a process of their own. What they leave behind is looked up by their file."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

JOBS = 60
DEMO = [sys.executable, "-m", "detent", "demo", "--jobs", str(JOBS)]
WAIT_S = 20.0
PROC = Path("/proc/self")


def environment(**more: str) -> dict[str, str]:
    """Of this process, without what would make a demo's output another."""
    unwanted = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "DETENT_URL")
    return {name: value for name, value in os.environ.items() if name not in unwanted} | more


def start(file: Path, *options: str, **more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*DEMO, "--file", str(file), *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(**more),
    )


def processes_of(file: Path) -> list[tuple[int, str]]:
    """The demo on this file and all its processes: they name it on their command lines."""
    return [(pid, args) for pid, args in (_by_proc() if PROC.exists() else _by_ps()) if str(file) in args]


def _by_proc() -> Iterator[tuple[int, str]]:
    for folder in PROC.parent.glob("[0-9]*"):
        try:
            yield int(folder.name), (folder / "cmdline").read_text().replace("\0", " ")
        except (FileNotFoundError, ProcessLookupError):  # it ended while we looked
            continue


def _by_ps() -> Iterator[tuple[int, str]]:
    listed = subprocess.run(["ps", "-axww", "-o", "pid=,args="], capture_output=True, text=True, check=True).stdout
    for line in listed.splitlines():
        pid, args = line.split(None, 1)
        yield int(pid), args


def wait_until(holds: Callable[[], bool]) -> bool:
    """Whether it comes to hold, before one would lose patience."""
    until_s = time.monotonic() + WAIT_S
    while not holds():
        if time.monotonic() > until_s:
            return False
        time.sleep(0.05)
    return True
