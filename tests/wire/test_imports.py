"""What the package could reach at all: with these imports, no pointer can be fetched and no clock be read."""

import ast
from pathlib import Path

import pytest

import detent.wire

FOLDER = Path(detent.wire.__file__).parent
ALLOWED = {
    "base64", "collections.abc", "datetime", "functools", "re", "typing", "zlib", "msgspec",
    "detent.errors", "detent.kernel", "detent.lifecycle", "detent.telemetry.traceparent", "detent.wire",
}  # fmt: skip


def imported(source: str) -> set[str]:
    modules = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                modules |= {alias.name for alias in names}
            case ast.ImportFrom(module=module, level=level):
                modules.add("." * level + (module or ""))
    return modules


def is_allowed(module: str) -> bool:
    return any(module == known or module.startswith(f"{known}.") for known in ALLOWED)


@pytest.mark.requirement("DSP-10")
def test_nothing_that_opens_files_or_connections_is_within_reach() -> None:
    sources = {path.name: path.read_text(encoding="utf-8") for path in sorted(FOLDER.rglob("*.py"))}
    found = [f"{name} imports {module}" for name, text in sources.items() for module in imported(text)]

    assert {"dispatch.py", "reporting.py"} <= sources.keys()
    assert [line for line in found if not is_allowed(line.rpartition(" ")[2])] == []


@pytest.mark.parametrize(
    "planted",
    ["import urllib.request", "from socket import socket", "from . import x", "import detent.store", "import msgspecx"],
)
def test_scan_would_notice(planted: str) -> None:
    assert [module for module in imported(planted) if not is_allowed(module)]
