"""`detent demo` on a terminal: the picture that is drawn over itself, and the last one, which stays."""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec import Struct
from rich.text import Text

from detent.lifecycles import BUILT_IN
from tests.surfaces.demo_runs import DEMO, environment
from tools.make_picture import left_on_screen, on_terminal, without_links

SIZES = {60: 24, 200: 50}
UP = "\x1b[1A"


class Shown(Struct, frozen=True):
    code: int
    written: str
    lines: list[str]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Shown]:
    """A demo on a narrow terminal and one on a wide one, at the same time."""
    folder = tmp_path_factory.mktemp("terminal")
    with ThreadPoolExecutor() as pool:
        return dict(zip(SIZES, pool.map(lambda columns: run(columns, folder / f"{columns}.db"), SIZES), strict=True))


def run(columns: int, file: Path) -> Shown:
    command = [*DEMO, "--file", str(file)]
    env = environment(TERM="xterm-256color")
    code, written = on_terminal(command, columns=columns, rows=SIZES[columns], env=env)
    return Shown(code, written, [Text.from_ansi(line).plain for line in left_on_screen(written)])


@pytest.mark.parametrize("columns", SIZES)
def test_the_last_picture_stays_with_every_lifecycle_in_it(columns: int, shown: dict[int, Shown]) -> None:
    lines = shown[columns].lines

    assert shown[columns].code == 0
    for name in BUILT_IN:
        assert sum(line.startswith(f"{name} ") and "━" in line for line in lines) == 1, lines


@pytest.mark.parametrize("columns", SIZES)
def test_the_story_of_the_killed_worker_and_the_verdict_are_left_on_the_screen(
    columns: int, shown: dict[int, Shown]
) -> None:
    text = "\n".join(shown[columns].lines)

    assert "recovered: others have ended what" in text
    assert "every move was legal and on the record: 0 violations" in text


@pytest.mark.parametrize("columns", SIZES)
def test_no_line_is_wider_than_the_terminal(columns: int, shown: dict[int, Shown]) -> None:
    written = shown[columns].written.replace("\r", "\n").replace(UP, "\n").splitlines()
    widths = [Text.from_ansi(line).cell_len for line in written if sys.executable not in line]

    assert max(widths) <= columns


@pytest.mark.parametrize("columns", SIZES)
def test_commands_are_not_broken_even_where_they_do_not_fit(columns: int, shown: dict[int, Shown]) -> None:
    commands = [line for line in shown[columns].lines if sys.executable in line]

    assert len(commands) == 3
    assert all(line.endswith(f"{columns}.db") for line in commands)


@pytest.mark.parametrize("columns", SIZES)
def test_it_is_drawn_over_itself_on_the_ordinary_screen(columns: int, shown: dict[int, Shown]) -> None:
    written = shown[columns].written

    assert written.count("detent demo") > 20
    assert sum(line.startswith("detent demo") for line in shown[columns].lines) == 1
    assert "\x1b[?1049h" not in written


@pytest.mark.parametrize("columns", SIZES)
def test_a_picture_is_never_taller_than_the_terminal(columns: int, shown: dict[int, Shown]) -> None:
    pictures = shown[columns].written.split("\r\x1b[2K")
    heights = [picture.count("\n") + 1 for picture in pictures[:-1] if "detent demo" in picture]

    assert max(heights[1:]) <= SIZES[columns]


def test_what_was_drawn_over_is_not_left_on_the_screen() -> None:
    written = "first\r\none\r\ntwo\r\x1b[2K\x1b[1A\x1b[2K\x1b[31mthree\x1b[0m\r\nfour\r\n"

    assert left_on_screen(written) == ["first", "\x1b[31mthree\x1b[0m", "four", ""]


def test_a_picture_loads_no_font_from_elsewhere() -> None:
    svg = 'src: local("FiraCode-Regular"),\n url("https://cdnjs.example/a.woff2");\nfont-style: normal;'

    assert without_links(svg) == 'src: local("FiraCode-Regular");\nfont-style: normal;'
