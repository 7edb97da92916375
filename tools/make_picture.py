"""Draws docs/images/demo.svg: what `detent demo` prints, as a terminal would show it. `make picture`."""

import subprocess
import sys
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.text import Text

ROOT: Final = Path(__file__).resolve().parent.parent
PICTURE: Final = ROOT / "docs" / "images" / "demo.svg"
COLUMNS: Final = 100


def style_of(line: str) -> str:
    if line.startswith("$"):
        return "bold cyan"
    if "✓" in line:
        return "green"
    if line.startswith(("Five", "And", "Try")) or "transitions," in line:
        return "bold"
    return "red" if line.startswith("  I") else ""


def main() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "detent", "demo"],
        capture_output=True, text=True, check=True, env={"COLUMNS": str(COLUMNS), "PATH": "/usr/bin:/bin"},
    ).stdout  # fmt: skip
    with Path("/dev/null").open("w") as nowhere:
        screen = Console(record=True, width=COLUMNS, file=nowhere, highlight=False)
        for line in ["$ make demo", *shown.splitlines()]:
            screen.print(Text(line, style=style_of(line)))
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    svg = screen.export_svg(title="detent demo", unique_id="detent-demo")
    PICTURE.write_text("\n".join(line for line in svg.splitlines() if "cdnjs" not in line) + "\n")


if __name__ == "__main__":
    main()
