"""Moves the line numbers in ARCHITECTURE.md to where the symbols beside them are now. Part of `make docs`."""

import re
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
PAGE: Final = ROOT / "ARCHITECTURE.md"
ANCHOR: Final = re.compile(r"`(?P<path>[\w./-]+\.\w+):(?P<line>\d+)` `(?P<symbol>[^`\n]+)`")


def line_of(path: Path, symbol: str) -> int | None:
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return next((number for number, line in enumerate(lines, 1) if symbol in line), None)


def anchored(text: str) -> str:
    """The text with every `path:line` `symbol` put right; one that is nowhere is left for the tests to report."""

    def put_right(found: re.Match[str]) -> str:
        path, symbol = found["path"], found["symbol"]
        return f"`{path}:{line_of(ROOT / path, symbol) or found['line']}` `{symbol}`"

    return ANCHOR.sub(put_right, text)


def main() -> int:
    text = PAGE.read_text(encoding="utf-8")
    if anchored(text) != text:
        PAGE.write_text(anchored(text), encoding="utf-8")
        sys.stdout.write("wrote ARCHITECTURE.md\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
