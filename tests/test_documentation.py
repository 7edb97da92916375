"""The documentation is true: lines point at what they name, links lead somewhere, examples run, pages are found."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import entry_points
from pathlib import Path
from typing import Final

import pytest

from detent.audit import INVARIANTS
from detent.errors import REFUSALS
from tests.commands import calls_in, misuse
from tests.postgres.programs import bin_folder
from tests.postgres.server import Server
from tests.test_repository import ROOT, own_files
from tests.transcripts import complaints, steps_of
from tools.anchor import anchored

PAGES: Final = tuple(path for path in own_files() if path.suffix == ".md")
ENTRANCES: Final = tuple(path for path in (ROOT / "README.md", ROOT / "docs" / "index.md") if path.exists())
# A reference has signatures and examples for many occasions; these pages are to be followed step by step.
GUIDES: Final = (ROOT / "README.md", *(ROOT / "docs" / name for name in ("tutorial", "how-to", "explanation")))
DECISIONS: Final = ROOT / "docs" / "decisions"

# `path:line` and, beside it, the `symbol` that stands in that line.
ANCHOR: Final = re.compile(r"`(?P<path>[\w./-]+\.\w+):(?P<line>\d+)`(?: `(?P<symbol>[^`\n]+)`)?")
LINK: Final = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")
ELSEWHERE: Final = re.compile(r"[a-z][a-z0-9+.-]*:")
HEADING: Final = re.compile(r"^#{1,6} (?P<title>.+)$", re.MULTILINE)
SHELL_BLOCK: Final = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CODE_BLOCK: Final = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def prose_of(page: Path) -> str:
    """Without code blocks, in which a bracket is no link and a hash no heading."""
    return CODE_BLOCK.sub("", text_of(page))


def links_of(page: Path) -> Iterator[tuple[str, Path, str]]:
    """Each relative link as it is written, where it leads, and the heading there, if it names one."""
    for found in LINK.finditer(prose_of(page)):
        target = found["target"]
        if not ELSEWHERE.match(target):
            path, _, heading = target.partition("#")
            yield target, (page.parent / path).resolve() if path else page, heading


def headings_of(page: Path) -> set[str]:
    """As anchors: lower case, hyphens for spaces, without punctuation."""
    titles = (found["title"].lower() for found in HEADING.finditer(prose_of(page)))
    return {re.sub(r"[^\w\- ]", "", title).strip().replace(" ", "-") for title in titles}


def guides() -> Iterator[Path]:
    return (page for page in PAGES if any(page.is_relative_to(guide) for guide in GUIDES))


# -- lines -------------------------------------------------------------------------------------------------------------


def astray(found: re.Match[str]) -> str | None:
    """What is wrong with a `path:line` `symbol`, and where the symbol is now."""
    where, symbol = f"{found['path']}:{found['line']}", found["symbol"]
    path, number = ROOT / found["path"], int(found["line"])
    if symbol is None:
        return f"{where} names no symbol; write `{where}` `symbol`"
    if not path.is_file():
        return f"{where} is in no file of ours"
    lines = path.read_text(encoding="utf-8").splitlines()
    if number <= len(lines) and symbol in lines[number - 1]:
        return None
    now = [at for at, line in enumerate(lines, 1) if symbol in line]
    return f"{where} is not {symbol!r}, which is in {f'line {now[0]}' if now else 'no line of it'}"


def test_lines_in_the_architecture_are_those_of_the_symbols_beside_them() -> None:
    anchors = list(ANCHOR.finditer(text_of(ROOT / "ARCHITECTURE.md")))

    assert len(anchors) > 20
    drifted = [wrong for found in anchors if (wrong := astray(found)) is not None]
    assert not drifted, "\n".join(drifted)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("`tests/test_documentation.py:1` `The documentation is true`", None),
        ("`tests/test_documentation.py:2` `The documentation is true`", "which is in line 1"),
        ("`tests/test_documentation.py:99999` `The documentation is true`", "which is in line 1"),
        ("`tests/nowhere.py:1` `def x`", "is in no file"),
        ("`tests/test_documentation.py:1`", "names no symbol"),
    ],
)
def test_a_line_that_drifted_is_noticed(text: str, wrong: str | None) -> None:
    found = ANCHOR.search(text)

    assert found is not None
    said = astray(found)
    assert said is None if wrong is None else said is not None and wrong in said


# -- links -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_relative_links_lead_to_a_file_and_a_heading_that_exist(page: Path) -> None:
    broken = [
        written
        for written, target, heading in links_of(page)
        if not target.exists() or (heading and heading not in headings_of(target))
    ]

    assert broken == []


def test_every_page_can_be_reached() -> None:
    reached, frontier = set(ENTRANCES), list(ENTRANCES)
    while frontier:
        fresh = {target for _, target, _ in links_of(frontier.pop()) if target in PAGES} - reached
        reached |= fresh
        frontier += fresh

    assert [shown(page) for page in PAGES if page not in reached] == []


# -- examples ----------------------------------------------------------------------------------------------------------


def plugin() -> dict[str, str]:
    """Ours is loaded by its entry point, which a checkout that was installed before there was one does not have."""
    is_installed = any(point.name == "detent" for point in entry_points(group="pytest11"))
    return {} if is_installed else {"PYTEST_PLUGINS": "detent.testing.plugin"}


@contextmanager
def surroundings(text: str, folder: Path) -> Iterator[dict[str, str]]:
    """Who follows a page about PostgreSQL has an empty server on `localhost` and its programs at hand: `createdb`, …"""
    if not any("postgresql" in step.code for step in steps_of(text)):
        yield plugin()
        return
    with Server(in_memory=True) as server:
        path = os.pathsep.join([str(bin_folder(None, folder)), os.environ.get("PATH", os.defpath)])
        yield {"PATH": path, "PGHOST": "localhost", "PGPORT": str(server.port), "PGUSER": "postgres"}


@pytest.mark.parametrize("page", [page for page in guides() if any(steps_of(text_of(page)))], ids=shown)
def test_reader_who_follows_a_page_sees_what_it_shows(page: Path, tmp_path: Path) -> None:
    with surroundings(text_of(page), tmp_path) as more:
        untrue = complaints(text_of(page), root=ROOT, folder=tmp_path, more=more)

    assert not untrue, "\n\n".join([shown(page), *untrue])


@pytest.mark.parametrize("page", list(guides()), ids=shown)
def test_commands_that_are_shown_but_not_run_would_be_understood(page: Path) -> None:
    blocks = SHELL_BLOCK.findall(text_of(page))

    calls = [call for block in blocks for call in calls_in(block)]

    assert [f"{' '.join(call)}: {wrong}" for call in calls if (wrong := misuse(call)) is not None] == []


# -- lists that must be whole ------------------------------------------------------------------------------------------


def rows_of(page: Path, code: str) -> list[str]:
    """The first cells of tables that look like the code."""
    return re.findall(rf"^\| `?({code})`? \|", text_of(page), re.MULTILINE)


def test_invariants_are_listed_as_the_checker_has_them() -> None:
    listed = rows_of(ROOT / "docs" / "explanation" / "how-we-know.md", r"I\d+")

    assert sorted(listed) == sorted(INVARIANTS)


def test_refusals_are_listed_in_their_order() -> None:
    listed = rows_of(ROOT / "docs" / "explanation" / "one-function-decides.md", "|".join(REFUSALS))

    assert listed == list(REFUSALS)


def test_decisions_are_numbered_without_a_gap_and_listed() -> None:
    written = sorted(path.name for path in DECISIONS.glob("[0-9]*.md"))
    listed = [target.name for _, target, _ in links_of(DECISIONS / "README.md") if target.parent == DECISIONS]

    assert [name[:4] for name in written] == [f"{number:04}" for number in range(1, len(written) + 1)]
    assert listed == written


def test_lines_that_drifted_are_put_right_by_make_docs() -> None:
    symbol = "`The documentation is true` and `tests/nowhere.py:3` `def x`"

    assert anchored(f"`tests/test_documentation.py:7` {symbol}") == f"`tests/test_documentation.py:1` {symbol}"
