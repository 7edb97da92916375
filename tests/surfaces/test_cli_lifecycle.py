"""`detent lifecycle`: data on stdout, errors on stderr with what to do next, and exit codes one can rely on."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from detent import __version__, connect
from detent.lifecycle import from_toml
from detent.lifecycle.describe import describe
from detent.lifecycle.diagram import as_mermaid, as_text
from detent.lifecycles import BUILT_IN
from detent.surfaces.cli import main

ARTICLE = Path(__file__).resolve().parents[2] / "docs" / "examples" / "article.toml"


def detent(*arguments: str, columns: int = 80) -> Result:
    return CliRunner(env={"COLUMNS": str(columns)}).invoke(main, arguments)


def test_version_is_printed() -> None:
    result = detent("--version")

    assert (result.exit_code, result.stdout) == (0, f"detent {__version__}\n")


def test_python_m_detent_is_the_same_command() -> None:
    done = subprocess.run([sys.executable, "-m", "detent", "--version"], capture_output=True, text=True, check=True)

    assert done.stdout == f"detent {__version__}\n"


def test_list_names_every_lifecycle_that_ships() -> None:
    result = detent("lifecycle", "list")

    assert result.exit_code == 0
    assert [line.split()[0] for line in result.stdout.splitlines() if line[:1].isalpha()][1:] == list(BUILT_IN)


def test_counts_are_aligned_on_the_right() -> None:
    heading, _, first, *_ = detent("lifecycle", "list").stdout.splitlines()

    assert heading.startswith("name       version   states   moves   summary")
    assert first.startswith("standard         1        7      14   Leases")


def test_list_as_json_is_data() -> None:
    rows = json.loads(detent("lifecycle", "list", "--json").stdout)

    assert [row["name"] for row in rows] == list(BUILT_IN)
    assert rows[0] == {
        "name": "standard",
        "version": 1,
        "states": 7,
        "moves": 14,
        "summary": BUILT_IN["standard"].summary,
    }


@pytest.mark.parametrize("name", BUILT_IN)
def test_show_as_json_is_the_description(name: str) -> None:
    result = detent("lifecycle", "show", name, "--json")

    assert result.exit_code == 0
    assert json.loads(result.stdout) == describe(BUILT_IN[name])


@pytest.mark.parametrize("name", BUILT_IN)
def test_show_names_every_state_and_verb(name: str) -> None:
    shown = detent("lifecycle", "show", name, columns=200).stdout

    for state in BUILT_IN[name].states:
        assert state.name in shown
    for move in BUILT_IN[name].moves:
        assert any(move.verb in line and ", ".join(move.by) in line for line in shown.splitlines())


def test_show_marks_recovery_moves() -> None:
    lines = detent("lifecycle", "show", "contract").stdout.splitlines()

    assert [line.split()[0] for line in lines if "↶ " in line and "recovery" not in line] == ["stall", "requeue"]


@pytest.mark.parametrize("command", [("list",), ("show", "standard"), ("diagram", "standard")])
def test_output_fits_the_terminal(command: tuple[str, ...]) -> None:
    lines = detent("lifecycle", *command).stdout.splitlines()

    assert max(map(len, lines)) <= 80


def test_narrow_terminal_loses_no_word() -> None:
    shown = detent("lifecycle", "show", "standard", columns=60).stdout

    assert max(map(len, shown.splitlines())) <= 60
    assert "…" not in shown


def test_diagram_is_text_or_mermaid() -> None:
    assert detent("lifecycle", "diagram", "engine").stdout == as_text(BUILT_IN["engine"])
    assert detent("lifecycle", "diagram", "engine", "--mermaid").stdout == as_mermaid(BUILT_IN["engine"])


def test_own_lifecycle_is_shown_and_drawn_from_its_file() -> None:
    article = from_toml(ARTICLE.read_text(encoding="utf-8"))

    assert json.loads(detent("lifecycle", "show", str(ARTICLE), "--json").stdout) == describe(article)
    assert detent("lifecycle", "diagram", str(ARTICLE)).stdout == as_text(article)


def test_lifecycle_that_a_store_keeps_is_listed_shown_and_drawn_by_its_name(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/jobs.db"
    article = from_toml(ARTICLE.read_text(encoding="utf-8"))
    with connect(url, lifecycles=[article]):
        pass

    assert [row["name"] for row in json.loads(detent("lifecycle", "list", "--url", url, "--json").stdout)] == [
        *BUILT_IN,
        "article",
    ]
    assert json.loads(detent("lifecycle", "show", "article", "--url", url, "--json").stdout) == describe(article)
    assert detent("lifecycle", "diagram", "article", "--url", url).stdout == as_text(article)
    assert "Did you mean 'article'?" in detent("lifecycle", "show", "artcle", "--url", url).stderr


def test_store_that_was_named_and_is_not_there_is_not_found(tmp_path: Path) -> None:
    result = detent("lifecycle", "list", "--url", f"sqlite:///{tmp_path}/nowhere.db")

    assert (result.exit_code, result.stdout) == (3, "")


def test_store_that_only_the_environment_names_may_not_be_made_yet(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/nowhere.db"
    result = CliRunner(env={"DETENT_URL": url}).invoke(main, ["lifecycle", "list", "--json"])

    assert [row["name"] for row in json.loads(result.stdout)] == [*BUILT_IN]
    assert list(tmp_path.iterdir()) == []


def test_output_that_is_not_for_a_terminal_has_no_colour() -> None:
    assert "\x1b" not in detent("lifecycle", "show", "standard").stdout


def test_no_color_is_minded_in_a_terminal() -> None:
    colours: dict[str, str | None] = {"FORCE_COLOR": "1", "TERM": "xterm-256color", "NO_COLOR": None}
    coloured = CliRunner(env=colours).invoke(main, ["lifecycle", "list"], color=True).stdout
    plain = CliRunner(env=colours | {"NO_COLOR": "1"}).invoke(main, ["lifecycle", "list"], color=True).stdout

    assert "\x1b[36m" in coloured
    assert "\x1b[36m" not in plain


@pytest.mark.parametrize("command", ["show", "diagram"])
def test_mistyped_name_is_not_found_and_the_right_one_suggested(command: str) -> None:
    result = detent("lifecycle", command, "standrad")

    assert (result.exit_code, result.stdout) == (3, "")
    assert "no lifecycle 'standrad'" in result.stderr
    assert "Did you mean 'standard'?" in result.stderr
    assert "detent lifecycle list" in result.stderr


def test_name_like_none_that_exists_gets_no_guess() -> None:
    result = detent("lifecycle", "show", "xyzzy")

    assert result.exit_code == 3
    assert "Did you mean" not in result.stderr
    assert "detent lifecycle list" in result.stderr


@pytest.mark.parametrize("arguments", [("lifcycle",), ("lifecycle", "shwo"), ("lifecycle", "show"), ("--nope",)])
def test_wrong_usage_has_its_own_exit_code(arguments: tuple[str, ...]) -> None:
    result = detent(*arguments)

    assert (result.exit_code, result.stdout) == (2, "")
    assert "--help" in result.stderr


def test_mistyped_command_is_suggested() -> None:
    assert "Did you mean 'lifecycle'?" in detent("lifcycle").stderr
    assert "Did you mean 'show'?" in detent("lifecycle", "shwo").stderr


def test_check_calls_a_sound_lifecycle_sound() -> None:
    result = detent("lifecycle", "check", str(ARTICLE))

    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines()[:3] == [
        "sound: article v1",
        "9 states: 2 ready, 2 active, 1 parked, 4 ended",
        "19 moves, 7 of them recovery",
    ]


def test_check_tells_every_problem_with_state_code_and_remedy(tmp_path: Path) -> None:
    lines = ARTICLE.read_text(encoding="utf-8").splitlines(keepends=True)
    broken = tmp_path / "broken.toml"
    broken.write_text("".join(line for line in lines if '"expire"' not in line), encoding="utf-8")

    result = detent("lifecycle", "check", str(broken))
    assert (result.exit_code, result.stdout) == (1, "")
    assert str(broken) in result.stderr
    assert result.stderr.count("[no_expiry_answer]") == 2
    assert "'drafting'" in result.stderr
    assert "add move(" in result.stderr
    assert max(map(len, result.stderr.splitlines()[1:])) <= 80


@pytest.mark.parametrize(
    ("text", "code"),
    [(b"name = ", "bad_toml"), (b"name = 'x'\ncolour = 1", "unknown_key"), (b"", "missing_key")],
)
def test_check_refuses_what_declares_no_lifecycle(tmp_path: Path, text: bytes, code: str) -> None:
    file = tmp_path / "odd.toml"
    file.write_bytes(text)

    result = detent("lifecycle", "check", str(file))
    assert result.exit_code == 1
    assert f"[{code}]" in " ".join(result.stderr.split())


def test_check_of_a_missing_file_is_not_found() -> None:
    result = detent("lifecycle", "check", "nowhere.toml")

    assert (result.exit_code, result.stdout) == (3, "")
    assert "no file 'nowhere.toml'" in result.stderr
    assert "Give the path" in result.stderr


def test_check_of_what_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")

    for path, why in ((tmp_path, "directory"), (tmp_path / "binary.toml", "UTF-8")):
        result = detent("lifecycle", "check", str(path))
        assert result.exit_code == 1
        assert why in result.stderr


def test_names_can_be_completed_by_the_shell() -> None:
    completing = {"_DETENT_COMPLETE": "bash_complete", "COMP_WORDS": "detent lifecycle show d", "COMP_CWORD": "3"}
    result = CliRunner(env=completing).invoke(main, prog_name="detent")

    assert result.stdout.split() == ["plain,dispatch", "plain,document"]
