"""The page of the command line is whole: every command, option, exit code and shape, each with a word on it."""

import re
from pathlib import Path
from typing import Any

import click
import pytest
from msgspec import Struct

from detent.surfaces.cli.command import EXIT_CODES, Command
from detent.surfaces.cli.root import main
from detent.surfaces.reference import cli_page
from detent.surfaces.reference.cli import commands, options, shape_of
from detent.surfaces.reference.shapes import Shapes, structs_of
from tests.commands import calls_in, misuse

PAGE = cli_page()
COMMANDS = commands(main)
SHAPES = [shape for each in COMMANDS.values() if (shape := shape_of(each)) is not None]
ALL = pytest.mark.parametrize("path", COMMANDS, ids=" ".join)


def entry(title: str, page: str = PAGE) -> str:
    """What the page has under a heading, up to the next."""
    found = re.search(rf"^##+ {re.escape(title)}\n(.*?)(?=^##|\Z)", page, re.MULTILINE | re.DOTALL)
    assert found is not None, f"there is no heading '{title}'"
    return found[1]


def page_of(command: click.Command) -> str:
    return cli_page(click.Group("detent", commands=[command]))


def test_page_has_every_command_in_the_order_of_the_help() -> None:
    headings = re.findall(r"^##+ (detent .+)$", PAGE, re.MULTILINE)
    linked = re.findall(r"^\| \[(detent .+?)\]", PAGE, re.MULTILINE)

    assert linked == [" ".join(path) for path in COMMANDS]
    assert [title for title in headings if title in linked] == linked
    assert ("detent", "job", "list") in COMMANDS


@ALL
def test_command_is_one_of_ours_and_says_what_it_does(path: tuple[str, ...]) -> None:
    command = COMMANDS[path]

    assert isinstance(command, Command)
    assert command.help
    assert command.get_short_help_str(200).strip(".") in entry(" ".join(path))


@ALL
def test_examples_are_on_the_page_and_are_calls_of_that_very_command(
    path: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = COMMANDS[path]
    assert isinstance(command, Command)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "order.json").write_text("{}")  # an example gives its payload in a file

    calls = list(calls_in(command.example))

    assert f"```sh\n{command.example}\n```" in entry(" ".join(path))
    assert calls
    assert [call for call in calls if ("detent", *call)[: len(path)] != path] == []
    assert [wrong for call in calls if (wrong := misuse(call)) is not None] == []


@ALL
def test_every_option_is_in_the_table_with_its_help(path: tuple[str, ...]) -> None:
    rows = re.findall(r"^\| `(--[\w-]+)`.*? \| (.+?) \|", entry(" ".join(path)), re.MULTILINE)

    assert [name for name, _ in rows] == [option.opts[0] for option in options(COMMANDS[path])]
    assert all(said.strip() for _, said in rows)


@ALL
def test_command_that_has_json_says_its_shape_and_one_that_has_none_says_nothing(path: tuple[str, ...]) -> None:
    has_json = any("--json" in option.opts for option in options(COMMANDS[path]))

    assert (shape_of(COMMANDS[path]) is not None) == has_json
    assert ("With `--json`: " in entry(" ".join(path))) == has_json


def test_option_without_help_is_refused() -> None:
    command = Command("grow", params=[click.Option(["--fast"])], help="Grow.", example="detent grow")

    with pytest.raises(ValueError, match="--fast has no help"):
        page_of(command)


def test_values_defaults_and_variables_are_told() -> None:
    params = [
        click.Option(["--size"], type=click.IntRange(1, 9), default=3, help="How big."),
        click.Option(["--least"], type=click.IntRange(1), help="At least."),
        click.Option(["--code"], type=click.Choice(["a", "b"]), metavar="CODE", help="Which."),
        click.Option(["--url"], envvar="DETENT_URL", default="x", help="Where."),
        click.Option(["--by"], multiple=True, default=("p", "q"), help="Apart."),
        click.Option(["--delay"], type=float, default=0.0, help="Later."),
        click.Option(["--follow/--leave"], default=True, help="Go on."),
        click.Option(["--quick", "-q"], is_flag=True, help="Hurry."),
    ]

    shown = entry("detent grow", page_of(Command("grow", params=params, help="Grow.", example="detent grow")))

    assert "| `--size` `N` | How big. 1 to 9. | `3` |" in shown
    assert "| `--least` `N` | At least. 1 or more. |  |" in shown
    assert "| `--code` `CODE` | Which. One of `a`, `b`. |  |" in shown
    assert "| `--url` `TEXT` | Where. | `$DETENT_URL`, else `x` |" in shown
    assert "| `--by` `TEXT` | Apart. | `p`, `q` |" in shown
    assert "| `--delay` `FLOAT` | Later. | `0` |" in shown
    assert "| `--follow`, `--leave` | Go on. | `--follow` |" in shown
    assert "| `--quick`, `-q` | Hurry. |  |" in shown


def test_page_has_every_exit_code() -> None:
    assert all(f"| {code} | {meaning} |" in entry("Exit codes") for code, meaning in EXIT_CODES.items())


def test_page_has_every_variable_that_an_option_is_read_from() -> None:
    read = {option.envvar for each in COMMANDS.values() for option in options(each) if option.envvar}

    listed = set(re.findall(r"^\| `(\w+)` \|", entry("Environment variables"), re.MULTILINE))
    assert listed == {*map(str, read), "NO_COLOR", "COLUMNS"}
    assert {"DETENT_URL", "DETENT_TENANT", "DETENT_ACTOR"} <= listed


def test_page_is_the_same_on_any_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")

    assert cli_page() == PAGE


# -- shapes ------------------------------------------------------------------------------------------------------------


class Leaf(Struct, rename={"source": "from"}):
    """The end of it."""

    source: str | None


class Branch(Struct, omit_defaults=True):
    """It has leaves."""

    leaves: list[Leaf]
    kinds: dict[str, int] = {}
    more: "Branch | None" = None


def parts(*shapes: object) -> dict[str, str]:
    return {part.split("\n")[0].removeprefix("### "): part for part in Shapes(shapes).parts()}


def test_every_shape_has_a_heading_of_its_own_with_every_field() -> None:
    titles = Shapes(SHAPES).titles

    assert len(set(titles.values())) == len(titles)
    for struct, title in titles.items():
        assert all(f"| `{name}` |" in entry(title) for name in struct.__struct_encode_fields__)


def test_every_shape_of_a_surface_says_what_it_is() -> None:
    ours = [struct for struct in structs_of(SHAPES) if struct.__module__.startswith("detent.surfaces")]

    assert len(ours) > 20
    assert [struct.__name__ for struct in ours if not struct.__doc__] == []


def test_structs_within_a_shape_are_told_too_and_each_once() -> None:
    assert list(parts(list[Branch], Leaf)) == ["Branch", "Leaf"]
    assert "| `leaves` | list of [Leaf](#leaf) |  |" in parts(Branch)["Branch"]
    assert "| `kinds` | object of integer | `{}` |" in parts(Branch)["Branch"]
    assert "| `more` | [Branch](#branch) or null | `null` |" in parts(Branch)["Branch"]


def test_field_is_called_as_it_is_in_json() -> None:
    assert "The end of it.\n\n| field | type |\n| --- | --- |\n| `from` | string or null |" in parts(Leaf)["Leaf"]


def test_two_structs_of_one_name_are_told_apart_by_their_modules() -> None:
    def namesake(module: str) -> Any:
        return type("Leaf", (Struct,), {"__annotations__": {"id": str}, "__module__": module})

    assert list(parts(namesake("a.tree"), namesake("a.table"))) == ["tree.Leaf", "table.Leaf"]


def test_alternatives_are_both_named() -> None:
    assert Shapes([Leaf | Branch]).name(Leaf | Branch) == "[Leaf](#leaf), or [Branch](#branch)"
