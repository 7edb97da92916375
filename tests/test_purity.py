"""The layers that hold the rules read no clock, draw no randomness and touch nothing outside.

import-linter sees imports; this also sees calls, and proves with planted code that it would.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "src" / "detent"
PURE_LAYERS = (
    "lifecycle", "lifecycles", "kernel", "audit", "wire",
    "store/facts", "store/limits", "store/planning", "store/query", "store/request",
)  # fmt: skip

# fmt: off
FORBIDDEN_MODULES = frozenset({
    "apsw", "asyncio", "concurrent", "http", "importlib", "io", "logging", "multiprocessing", "os",
    "pathlib", "random", "secrets", "select", "shutil", "signal", "socket", "sqlite3",
    "subprocess", "sys", "tempfile", "threading", "time", "urllib", "uuid",
})
# fmt: on
FORBIDDEN_CALLS = frozenset({"open", "print", "input", "exec", "eval", "__import__"})
CLOCK_METHODS = frozenset({"now", "utcnow", "today"})
CLOCK_CLASSES = frozenset({"datetime", "date"})


def impurities(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        for what in (*forbidden_imports(node), *forbidden_call(node), *clock_read(node)):
            yield f"line {getattr(node, 'lineno', '?')}: {what}"


def forbidden_imports(node: ast.AST) -> list[str]:
    match node:
        case ast.Import(names=names):
            modules = [alias.name for alias in names]
        case ast.ImportFrom(module=str(module), level=0):
            modules = [module]
        case _:
            modules = []
    return [f"imports {module}" for module in modules if module.partition(".")[0] in FORBIDDEN_MODULES]


def forbidden_call(node: ast.AST) -> list[str]:
    match node:
        case ast.Call(func=ast.Name(id=name)) if name in FORBIDDEN_CALLS:
            return [f"calls {name}()"]
    return []


def clock_read(node: ast.AST) -> list[str]:
    """A call of x.now() whatever x is called here, and datetime.now even when it is only passed on."""
    match node:
        case ast.Call(func=ast.Attribute(attr=method)) if method in CLOCK_METHODS:
            return [f"reads a clock with .{method}()"]
        case ast.Attribute(value=ast.Name(id=name) | ast.Attribute(attr=name), attr=method):
            if name in CLOCK_CLASSES and method in CLOCK_METHODS:
                return [f"reads a clock with {name}.{method}"]
    return []


def files_of(layer: str) -> list[Path]:
    """A layer is a package or a single module."""
    module = SOURCE / f"{layer}.py"
    return [module] if module.exists() else sorted((SOURCE / layer).rglob("*.py"))


@pytest.mark.parametrize("layer", PURE_LAYERS)
def test_pure_layer_has_no_effects(layer: str) -> None:
    files = files_of(layer)
    found = [
        f"{path.relative_to(SOURCE)} {what}" for path in files for what in impurities(path.read_text(encoding="utf-8"))
    ]

    assert files, f"no such layer: {layer}; correct PURE_LAYERS"
    assert found == []


@pytest.mark.parametrize("module", sorted(FORBIDDEN_MODULES))
def test_scanner_flags_an_import_of(module: str) -> None:
    assert list(impurities(f"import {module}"))
    assert list(impurities(f"import msgspec, {module} as harmless"))
    assert list(impurities(f"from {module} import anything"))
    assert list(impurities(f"def f():\n    from {module}.inner import anything"))


@pytest.mark.parametrize("name", sorted(FORBIDDEN_CALLS))
def test_scanner_flags_a_call_of(name: str) -> None:
    assert list(impurities(f"x = [{name}('y')]"))


@pytest.mark.parametrize(
    "source",
    [
        "datetime.now(UTC)",
        "dt.datetime.utcnow()",
        "date.today()",
        "Moment.now()",
        "field(default_factory=datetime.now)",
    ],
)
def test_scanner_flags_a_read_of_the_clock(source: str) -> None:
    assert list(impurities(source))


@pytest.mark.parametrize(
    "source",
    [
        "from datetime import UTC, datetime, timedelta",
        "from .time import lease_end",
        "def decide(job, now): return now + job.lease",
        "deadline = command.now",
        "job.open(); self.print(x)",
        "import timeouts",
    ],
)
def test_scanner_lets_pure_code_pass(source: str) -> None:
    assert list(impurities(source)) == []
