"""What a page of the documentation has a reader type: the steps in their order, run, and held against what is shown.

A page's Python and shell blocks share one folder and one shell, so that a page can tell a story across them.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from shutil import copytree
from types import MappingProxyType
from typing import Final, NamedTuple

EXAMPLES: Final = "docs/examples"
COLUMNS: Final = 100
READER: Final = "ann"
PATIENCE_S: Final = 180
MARK: Final = "-- step over:"
NO_MORE: Final[Mapping[str, str]] = MappingProxyType({})

# A block of plain text right after a Python one is what it prints.
BLOCK: Final = re.compile(
    r"^```(?P<language>python|console)\n(?P<code>.*?)^```$(?:\n\n```(?:text)?\n(?P<printed>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)
SAVED: Final = re.compile(r"# (?P<name>[\w-]+\.py)\n")
# What differs from run to run: moments, lengths of time, ids that were made up, and how wide a table had to be.
VARYING: Final = {
    r"\b\d{4}-\d\d-\d\d\b": "DAY",
    r"\b\d\d:\d\d:\d\d(\.\d+)?": "TIME",
    r"\b\d+(\.\d+)?\s+(ms|s|min|h|days)\b": "SPAN",
    r"\b[0-9a-f]{32}\b": "ID",
    r"─+": "─",
}
OF_THE_SHELL: Final = re.compile(r"^.*\bline \d+: +\d+ (Killed|Terminated)\b.*\n", re.MULTILINE)


class Step(NamedTuple):
    """`shown` is what the page says comes of it; None: it says nothing, and the step must succeed."""

    line: int
    code: str
    shown: str | None
    is_python: bool = False

    @property
    def saved_as(self) -> str | None:
        """A Python block that begins with the name of a file is one to save, and not to run."""
        found = SAVED.match(self.code) if self.is_python else None
        return None if found is None else found["name"]


def steps_of(text: str) -> Iterator[Step]:
    for found in BLOCK.finditer(text):
        first = text.count("\n", 0, found.start()) + 2
        if found["language"] == "python":
            yield Step(first, found["code"], found["printed"], is_python=True)
        else:
            yield from _commands(found["code"].splitlines(), first)


def _commands(lines: list[str], first: int) -> Iterator[Step]:
    """`$` begins a command, `>` right below goes on with it, and whatever else follows is what it prints."""
    starts = [number for number, line in enumerate(lines) if line.startswith("$ ")]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        told = start + 1
        while told < end and lines[told].startswith("> "):
            told += 1
        shown = "\n".join(lines[told:end]) if told < end else None
        yield Step(first + start, "\n".join(line[2:] for line in lines[start:told]), shown)


def complaints(text: str, *, root: Path, folder: Path, more: Mapping[str, str] = NO_MORE) -> list[str]:
    """What a reader of this page, who does all of it in this empty folder, would find to be untrue.

    `more`: what else stands in the reader's environment.
    """
    steps = list(steps_of(text))
    copytree(root / EXAMPLES, folder / EXAMPLES)
    return [
        f"line {step.line}: {step.code.strip()}\n--- shown\n{step.shown}\n--- printed (exit {code})\n{printed}"
        for step, (printed, code) in zip(steps, _played(steps, folder, more), strict=True)
        if not _is_true(step, printed, code)
    ]


def _is_true(step: Step, printed: str, code: int) -> bool:
    if step.is_python:
        return code == 0 and step.shown in (None, printed)
    return code == 0 if step.shown is None else matches(step.shown, printed)


def matches(shown: str, printed: str) -> bool:
    """Is this what was printed? `…` stands for anything in a line; alone in a line, for any lines."""
    lines = [line.strip() for line in _constant(shown).strip().splitlines()]
    pattern = r"\s*".join(r"(?s:.*?)" if line == "…" else _pattern(line) for line in lines)
    return re.fullmatch(pattern, _constant(printed).strip()) is not None


def _pattern(line: str) -> str:
    """Words, however far apart: a table is as wide as its cells, and a terminal wraps."""
    return ".*?".join(r"\s+".join(map(re.escape, piece.split())) for piece in line.split("…"))


def _constant(text: str) -> str:
    for varying, name in VARYING.items():
        text = re.sub(varying, name, text)
    return text


def _played(steps: list[Step], folder: Path, more: Mapping[str, str]) -> list[tuple[str, int]]:
    """What each step printed, errors included, and its exit code. The first that broke the shell off is the last."""
    script = "".join(f"{_code(number, step, folder)}\n{_over()}\n" for number, step in enumerate(steps))
    done = subprocess.run(
        ["bash", "-c", f"exec 2>&1\n{script}"],
        cwd=folder, env=_environment(more), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
        encoding="utf-8", timeout=PATIENCE_S,
        check=False,
    )  # fmt: skip
    pieces = re.split(rf"\n{MARK} (\d+)\n", OF_THE_SHELL.sub("", done.stdout))
    ended = list(zip(pieces[::2], map(int, pieces[1::2]), strict=False))
    return [*ended, *((pieces[-1], done.returncode or 1) for _ in steps[len(ended) :])]


def _code(number: int, step: Step, folder: Path) -> str:
    if not step.is_python:
        return step.code
    file = folder / f".step-{number}.py"
    file.write_text(step.code, encoding="utf-8")
    return f"cp {file.name} {step.saved_as}" if step.saved_as else f"python -W error {file.name}"


def _over() -> str:
    """Says how the step ended, and leaves the code as it was, for a page that goes on with `echo $?`."""
    return f'code=$?; printf \'\\n{MARK} %s\\n\' "$code"; (exit "$code")'


def _environment(more: Mapping[str, str]) -> dict[str, str]:
    """A reader's: nothing set that Detent minds, and the commands of this interpreter first."""
    minded = ("DETENT_", "PG", "FORCE_COLOR", "NO_COLOR")
    others = {name: value for name, value in os.environ.items() if not name.startswith(minded)} | dict(more)
    path = os.pathsep.join([str(Path(sys.executable).parent), others.get("PATH", os.defpath)])
    return {**others, "PATH": path, "COLUMNS": str(COLUMNS), "LOGNAME": READER, "PYTHONUTF8": "1"}
