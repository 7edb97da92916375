"""What holds for every command, those that are added later included."""

import re

import click
import pytest

from tests.surfaces.calls import (
    CALLS,
    FOR_ALL,
    FOR_ALL_UNLESS_ASKED,
    LEAVES,
    MAKING,
    OPENING,
    QUICK,
    SLOW,
    UNWRAPPED,
    every,
    every_quick,
    fill,
)
from tests.surfaces.running import Path_, Site, commands, decoded, detent, refused, refused_in_json, widest

opening = pytest.mark.parametrize("path", OPENING, ids=" ".join)


@pytest.fixture
def busy(site: Site) -> Site:
    fill(site)
    return site


def option(command: click.Command, name: str) -> click.Option | None:
    found = [each for each in command.params if isinstance(each, click.Option) and name in each.opts]
    return found[0] if found else None


def test_every_command_is_called_by_these_tests() -> None:
    assert CALLS.keys() | SLOW == LEAVES.keys()


@pytest.mark.parametrize("path", [(), *dict(commands())], ids=lambda path: " ".join(path) or "detent")
def test_help_begins_with_a_sentence(path: Path_) -> None:
    result = detent(*path, "--help")

    usage, sentence = result.stdout.split("\n\n")[:2]
    assert (result.exit_code, result.stderr) == (0, "")
    assert usage.startswith(" ".join(("Usage: detent", *path)))
    assert re.fullmatch(r"  [A-Z].*\.", sentence, re.DOTALL)
    assert widest(result.stdout) <= 80
    assert detent(*path, "-h").stdout == result.stdout


@every
def test_group_lists_it_with_its_whole_first_sentence(path: Path_) -> None:
    listed = " ".join(detent(*path[:-1], "--help").stdout.split())

    assert f"{path[-1]} {LEAVES[path].get_short_help_str(1_000)}" in listed


@every
def test_help_has_an_example_of_that_very_command(path: Path_) -> None:
    example = LEAVES[path].example

    shown = detent(*path, "--help").stdout
    assert re.search(rf"^.*?\bdetent\b(?<=detent) {' '.join(path)}\b", example.splitlines()[0])
    assert all(f"  {line}" in shown for line in example.splitlines())


@every
def test_json_is_offered_exactly_where_a_shape_is_declared(path: Path_) -> None:
    command = LEAVES[path]

    assert (option(command, "--json") is None) == (command.shape is None)


@opening
def test_store_and_tenant_can_be_named(path: Path_) -> None:
    url, tenant = (option(LEAVES[path], name) for name in ("--url", "--tenant"))

    assert url is not None
    assert url.envvar == "DETENT_URL"
    assert (tenant is None) == (path in FOR_ALL)
    if tenant is not None:
        assert (tenant.envvar == "DETENT_TENANT") == (path not in FOR_ALL_UNLESS_ASKED)


@every
def test_each_option_has_a_word_of_help(path: Path_) -> None:
    options = [each for each in LEAVES[path].params if isinstance(each, click.Option)]

    assert [each.name for each in options if not each.help] == []


@every
def test_help_calls_a_number_n(path: Path_) -> None:
    assert "INTEGER" not in detent(*path, "--help").stdout


@every_quick
def test_command_does_what_it_is_for(busy: Site, path: Path_) -> None:
    result = busy.detent(*path, *CALLS[path])

    assert result.exit_code == 0, result.output
    assert result.stdout
    assert "\x1b" not in result.output


@pytest.mark.parametrize("path", [path for path in QUICK if LEAVES[path].shape is not None], ids=" ".join)
def test_json_has_the_shape_that_is_declared(busy: Site, path: Path_) -> None:
    result = busy.detent(*path, *CALLS[path], "--json")

    assert (result.exit_code, result.stderr) == (0, "")
    decoded(path, result.stdout)


@pytest.mark.parametrize("columns", [60, 80])
@pytest.mark.parametrize("path", [path for path in QUICK if path not in UNWRAPPED], ids=" ".join)
def test_output_fits_the_terminal_and_is_not_cut_off(busy: Site, path: Path_, columns: int) -> None:
    shown = busy.detent(*path, *CALLS[path], columns=columns).stdout

    assert widest(shown) <= columns
    assert "…" not in shown


@pytest.mark.parametrize("path", [path for path in OPENING if path not in MAKING], ids=" ".join)
def test_missing_store_is_not_found_and_not_made(site: Site, path: Path_) -> None:
    message = refused(site.detent(*path, *CALLS[path]), 3)
    error = refused_in_json(site.detent(*path, *CALLS[path], "--json"), 3)

    assert "there is no store" in message
    assert error["code"] == "store_missing"
    assert list(site.path.parent.iterdir()) == []


@opening
def test_address_that_names_no_store_is_wrong_usage(site: Site, path: Path_) -> None:
    for url in ("nonsense", "mysql://localhost/jobs"):
        assert refused_in_json(site.detent(*path, *CALLS[path], "--url", url, "--json"), 2)["code"] == "bad_url"


@every
def test_option_that_there_is_not_is_wrong_usage(site: Site, path: Path_) -> None:
    assert "No such option" in refused(site.detent(*path, "--no-such-thing"), 2)
    if LEAVES[path].shape is not None:
        assert refused_in_json(site.detent(*path, "--no-such-thing", "--json"), 2)["code"] == "wrong_usage"
