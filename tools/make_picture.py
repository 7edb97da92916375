"""Draws docs/images/demo.svg: what `detent demo` leaves on a terminal. `make picture`."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.text import Text

ROOT: Final = Path(__file__).resolve().parent.parent
PICTURE: Final = ROOT / "docs" / "images" / "demo.svg"
COLUMNS: Final = 100
ROWS: Final = 50
READ_BYTES: Final = 65_536
_TOKEN: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r?\n|\r|[^\x1b\r\n]+")


def on_terminal(command: Sequence[str], *, columns: int, rows: int, env: Mapping[str, str]) -> tuple[int, str]:
    """Run a command on a terminal of a size: its exit code, and all that it wrote."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=ROOT, env=env)
    os.close(theirs)
    written = bytearray()
    while part := _read(ours):
        written += part
    os.close(ours)
    return process.wait(), written.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, READ_BYTES)
    except OSError:  # Linux's way to say that nobody has the other side open any more
        return b""


def left_on_screen(written: str) -> list[str]:
    """The lines as they are in the end, colours included: those that were drawn over are gone."""
    lines, row = [""], 0
    for token in _TOKEN.findall(written):
        if token.endswith("\n"):
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif token.startswith("\x1b") and token.endswith("A"):
            row -= int(token[2:-1] or 1)
        elif token.startswith("\x1b") and token.endswith("K"):
            lines[row] = ""
        elif not token.startswith("\x1b") or token.endswith("m"):
            lines[row] += "" if token == "\r" else token
    return lines


def main() -> None:
    env = {"PATH": "/usr/bin:/bin", "TERM": "xterm-256color", "HOME": str(ROOT)}
    code, written = on_terminal([".venv/bin/detent", "demo"], columns=COLUMNS, rows=ROWS, env=env)
    if code != 0:
        raise SystemExit(f"the demo ended with {code}; nothing is drawn:\n{written[-2_000:]}")
    with Path(os.devnull).open("w") as nowhere:
        screen = Console(record=True, width=COLUMNS, file=nowhere, highlight=False, force_terminal=True)
        screen.print(Text("$ make demo", "bold cyan"))
        for line in left_on_screen(written):
            screen.print(Text.from_ansi(line), soft_wrap=True)
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    svg = screen.export_svg(title="detent demo", unique_id="detent-demo")
    PICTURE.write_text(without_links(svg) + "\n")


def without_links(svg: str) -> str:
    """A picture loads nothing from elsewhere: of each font only the one that is installed is left."""
    lines = [line for line in svg.splitlines() if "cdnjs" not in line]
    return re.sub(r'(local\("[^"]+"\)),$', r"\1;", "\n".join(lines), flags=re.MULTILINE)


if __name__ == "__main__":
    main()
