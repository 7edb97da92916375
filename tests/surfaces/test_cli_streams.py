"""stdout, stderr and the terminal: readers that leave, streams that are closed or full, colours and widths."""

import errno
import json
import re
import subprocess
import sys
from io import StringIO
from pathlib import Path
from time import perf_counter
from typing import Any

import click
import pytest

from detent.surfaces.cli import main
from detent.surfaces.cli.output import Screen
from tests.surfaces.running import Site, bury, fail, run_one, succeed, widest
from tests.surfaces.terminal import Terminal

COLOUR = re.compile(r"\x1b\[(?:[0-9;]*;)?(?:3[0-7]|9[0-7]|38;[0-9;]+)m")
CANNOT_BE_WRITTEN = "Error: the output cannot be written: No space left on device. Send it elsewhere"
STATES = {  # by phase, and at the end by outcome
    "parked": ("CREATED", 33), "ready": ("queued", 34), "held": ("assigned", 35), "active": ("running", 36),
    "success": ("succeeded", 32), "failure": ("failed", 31), "cancelled": ("cancelled", 90),
}  # fmt: skip


@pytest.fixture
def coloured(site: Site) -> Site:
    """A job in every phase, and of every outcome."""
    with site.client() as client:
        succeed(client, "1")
        fail(client, "2")
        run_one(client, "3")
        client.enqueue("scan", job_id="4")
        client.claim(worker="w1")
        client.enqueue("scan", job_id="5", lifecycle="document")
        client.enqueue("scan", job_id="6")
        client.cancel("6")
        client.enqueue("scan", job_id="7")
    return site


@pytest.fixture
def crowded(site: Site) -> Site:
    """More than a pipe holds."""
    with site.client() as client:
        client.enqueue_many([{"kind": "scan", "job_id": f"job-{number}"} for number in range(5_000)])
    return site


def shell(site: Site, line: str, **env: str) -> "subprocess.CompletedProcess[str]":
    """A line of shell in which $D is the command. The exit code is that of the first command of a pipe."""
    command = f'D="{sys.executable} -m detent"; {line}; exit ${{PIPESTATUS[0]}}'
    how: dict[str, Any] = {"env": site.environment(**env), "capture_output": True, "text": True, "timeout": 60}
    return subprocess.run(["bash", "-c", command], check=False, **how)


@pytest.mark.parametrize("options", ["--all", "--all --json"])
def test_reader_that_leaves_is_no_error(crowded: Site, options: str) -> None:
    done = shell(crowded, f"$D job list {options} | head -1")

    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 1


def test_reader_that_leaves_with_stderr_is_no_error_either(crowded: Site) -> None:
    done = shell(crowded, "$D job list --all 2>&1 | head -1")

    assert (done.returncode, done.stderr) == (0, "")


def test_exit_code_is_the_one_it_would_have_been_without_a_reader(site: Site) -> None:
    with site.client() as client:
        succeed(client, "1")
        client.enqueue("scan", {"text": "x" * 1_000_000}, job_id="2")
        client.claim(worker="w1", start=True)
        client.fail("2", worker="w1", attempt=1, error={"type": "PermanentError"})

    assert shell(site, "$D job wait 2 --json | head -1").returncode == 10


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
def test_closed_stream_neither_crashes_a_command_nor_hits_the_store(site: Site, closed: str) -> None:
    done = shell(site, f"$D enqueue scan --id 42 {closed} && $D job list --nonsense {closed}; $D job show 42 {closed}")

    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert site.path.read_bytes().startswith(b"SQLite format 3\0")
    with site.client() as client:
        assert client.verify().is_clean
        assert client.get("42").state == "queued"


class Full(StringIO):
    """A stream to a disk that has no room left."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.file = path.open("w")

    def fileno(self) -> int:
        return self.file.fileno()

    def flush(self) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("options", [(), ("--json",)], ids=["for a person", "as JSON"])
def test_full_disk_is_an_error_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    stdout = Full(tmp_path / "out")
    monkeypatch.setattr(sys, "stdout", stdout)
    monkeypatch.setattr(Screen, "is_gone", False)

    with stdout.file, pytest.raises(click.ClickException, match="output cannot be written: No space left") as caught:
        main.main(["lifecycle", "list", *options], standalone_mode=False)

    assert caught.value.exit_code == 1


def test_terminal_that_lacks_a_character_still_shows_the_rest(site: Site) -> None:
    site.shown("enqueue", "scan", '{"name": "é…"}', "--id", "42")

    done = shell(site, "$D job explain 42; $D job show 42", PYTHONIOENCODING="ascii")

    assert (done.returncode, done.stderr) == (0, "")
    assert "no worker has ever claimed" in done.stdout


@pytest.mark.parametrize(
    "command", ["job list", "job show 2", "job history 2", "job explain 2", "event tail --no-follow"]
)
def test_pipe_gets_no_colour(coloured: Site, command: str) -> None:
    assert "\x1b" not in coloured.shown(*command.split())


@pytest.mark.parametrize(("state", "colour"), STATES.values(), ids=STATES)
def test_state_has_the_colour_of_its_phase_or_outcome(coloured: Site, state: str, colour: int) -> None:
    shown = coloured.shown("job", "list", env={"FORCE_COLOR": "1"})

    assert re.search(rf"\x1b\[{colour}m{state} *\x1b\[0m", shown)


def test_colour_is_the_same_in_a_story(coloured: Site) -> None:
    shown = coloured.shown("job", "history", "1", env={"FORCE_COLOR": "1"})

    assert "\x1b[34mqueued" in shown
    assert "\x1b[32msucceeded" in shown


def test_terminal_is_coloured_and_no_color_is_minded(coloured: Site) -> None:
    with Terminal(coloured, "job", "list", columns=100) as terminal:
        bright = terminal.rest()
    with Terminal(coloured, "job", "list", columns=100, NO_COLOR="1") as terminal:
        plain = terminal.rest()

    assert COLOUR.search(bright)
    assert not COLOUR.search(plain)
    assert "succeeded" in plain


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_table_is_as_wide_as_the_terminal_allows(coloured: Site, columns: int) -> None:
    with Terminal(coloured, "job", "list", columns=columns, NO_COLOR="1") as terminal:
        shown = re.sub(r"\x1b\[[0-9;]*m", "", terminal.rest())

    assert widest(shown) <= columns
    assert ("created" in shown) == (columns == 200)


@pytest.mark.parametrize("columns", ["0", "-5", "wide", "", "9" * 5_000])
def test_width_that_cannot_be_is_none_that_was_said(coloured: Site, columns: str) -> None:
    plain = shell(coloured, "$D job list").stdout

    assert untimed(shell(coloured, "$D job list", COLUMNS=columns).stdout) == untimed(plain)
    for command in ("job list", "job show 2", "job explain 2", "event tail --no-follow"):
        unsaid, said = (coloured.shown(*command.split(), env={"COLUMNS": each}) for each in (None, columns))
        assert untimed(said) == untimed(unsaid)


def test_terminal_is_asked_where_columns_say_nothing(coloured: Site) -> None:
    with Terminal(coloured, "job", "list", columns=50, NO_COLOR="1", COLUMNS="0") as terminal:
        shown = re.sub(r"\x1b\[[0-9;]*m", "", terminal.rest())

    assert "succeeded" in shown
    assert widest(shown) <= 50


def test_no_terminal_is_too_narrow_to_show_anything(coloured: Site) -> None:
    shown = coloured.shown("job", "list", columns=3)

    assert widest(shown) == 20
    assert "".join(shown.split()).count("cance") == 1


@pytest.mark.parametrize(
    "command", ["job list", "job show 2", "job history 2", "job explain 2", "job count", "lifecycle show standard"]
)
def test_no_line_in_a_pipe_ends_in_blanks(coloured: Site, command: str) -> None:
    lines = coloured.shown(*command.split()).splitlines()

    assert [line for line in lines if line != line.rstrip()] == []


@pytest.mark.parametrize("command", ["--help", "--version", "job --help", "job list --help", "completion bash"])
def test_help_is_output_too(site: Site, command: str) -> None:
    full, left = shell(site, f"$D {command} > /dev/full"), shell(site, f"$D {command} | true")

    assert (full.returncode, full.stderr.splitlines()) == (1, [CANNOT_BE_WRITTEN])
    assert (left.returncode, left.stderr) == (0, "")


@pytest.mark.alone
def test_listing_of_thousands_does_not_take_longer_than_its_json_by_much(crowded: Site) -> None:
    text, as_json = (seconds(crowded, f"$D job list --all {option} | wc -l") for option in ("", "--json"))

    assert text < 3 * as_json + 1


def seconds(site: Site, line: str) -> float:
    began_s = perf_counter()
    assert shell(site, line).returncode == 0
    return perf_counter() - began_s


def untimed(text: str) -> list[str]:
    """Word by word, without times, which go on meanwhile."""
    return re.sub(r"[0-9.]+ (ms|s|min)\b", "…", text).split()


def test_row_stays_on_one_line_in_a_pipe(site: Site) -> None:
    with site.client() as client:
        for number in range(3):
            bury(client, f"a-rather-long-name-of-a-job-{number}", error={"type": "TransientError", "message": "busy"})

    done = shell(site, "$D dlq list 2>/dev/null | grep -c TransientError")

    assert done.stdout.strip() == "3"


def test_json_is_json_also_where_the_terminal_has_no_unicode(site: Site) -> None:
    with site.client() as client:
        client.enqueue("scan", {"name": "Größe ✓"}, job_id="42")
    with site.process("job", "show", "42", "--json", env={"PYTHONIOENCODING": "ascii"}) as process:
        shown, _ = process.communicate()

    assert shown.isascii()
    assert json.loads(shown)["payload"] == {"name": "Größe ✓"}
