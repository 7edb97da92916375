"""The check of the documentation bites: a page that is true passes, and each way to be untrue is noticed."""

from pathlib import Path

import pytest

from tests.commands import calls_in, misuse
from tests.test_repository import ROOT
from tests.transcripts import complaints, matches, steps_of

FENCE = "```"


def block(language: str, *lines: str) -> str:
    return "\n".join([f"{FENCE}{language}", *lines, FENCE, ""])


def untrue(folder: Path, *blocks: str) -> list[str]:
    return complaints("\n".join(blocks), root=ROOT, folder=folder)


def test_true_page_has_no_complaints(tmp_path: Path) -> None:
    page = (
        block("console", "$ detent enqueue scan --id 42", "42  queued"),
        block("python", "import detent", "", "with detent.connect() as client:", "    print(client.get('42').state)"),
        block("text", "queued"),
        block("console", "$ detent job cancel 42", "42  cancelled", "$ detent job wait 42", "…", "$ echo $?", "11"),
    )

    assert untrue(tmp_path, *page) == []


@pytest.mark.parametrize(
    "wrong",
    [
        block("console", "$ echo hello", "goodbye"),
        block("console", "$ echo hello; echo again", "hello"),
        block("console", "$ false"),
        block("console", "$ detent no-such-command"),
        block("console", "$ exit 0", "$ echo never reached", "never reached"),
        block("console", "$ echo 'no end"),
        block("python", "print('hello')") + "\n" + block("text", "hello again"),
        block("python", "raise ValueError"),
        block("python", "import warnings", "warnings.warn('old')"),
    ],
)
def test_untrue_step_is_named_with_its_line(tmp_path: Path, wrong: str) -> None:
    said = untrue(tmp_path, block("console", "$ true"), wrong)

    assert said
    assert said[0].startswith("line 6: ")


def test_step_that_shows_an_error_may_fail(tmp_path: Path) -> None:
    assert untrue(tmp_path, block("console", "$ detent job show 42", "Error: there is no store …")) == []


def test_reader_has_what_a_page_needs_and_nothing_of_the_developers_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGHOST", "production")
    page = block("console", "$ echo at ${PGHOST:-home} on ${PGPORT:-none}", "at home on 1234")

    assert complaints(page, root=ROOT, folder=tmp_path, more={"PGPORT": "1234"}) == []


def test_block_that_names_its_file_is_saved_and_not_run(tmp_path: Path) -> None:
    saved = block("python", "# tool.py", "print('it ran')")

    assert untrue(tmp_path, saved, block("console", "$ python tool.py", "it ran")) == []
    assert (tmp_path / "tool.py").exists()


def test_command_goes_on_in_the_next_line() -> None:
    (step,) = steps_of(block("console", "$ echo one \\", "> two", "one two"))

    assert (step.code, step.shown) == ("echo one \\\ntwo", "one two")


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("42  queued", "42  queued\n"),
        ("42   queued", "42 queued"),
        ("ended 3.7 s ago", "ended 12 ms ago"),
        ("at 2026-11-16 08:30:00.000 UTC", "at 2027-01-02 11:12:13.141 UTC"),
        ("job 0123456789abcdef0123456789abcdef", "job fedcba9876543210fedcba9876543210"),
        ("first … last", "first and then the last"),
        ("first\n…\nlast", "first\nsecond\nthird\nlast"),
        ("first\n…\nlast", "first\nlast"),
        ("first\n…", "first\nsecond"),
        ("wrapped here\nand there", "wrapped\nhere and there"),
        ("a   b\n─────", "a       b\n─────────"),
    ],
)
def test_output_is_what_is_shown(shown: str, printed: str) -> None:
    assert matches(shown, printed)


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("42 queued", "42 running"),
        ("42 queued", "42 queued\n43 queued"),
        ("2 jobs", "3 jobs"),
        ("first … last", "first\nsecond\nlast"),
        ("…\nlast", "last\nand more"),
        ("ended 3.7 s ago", "ended"),
        ("a.b", "a-b"),
    ],
)
def test_output_is_not_what_is_shown(shown: str, printed: str) -> None:
    assert not matches(shown, printed)


@pytest.mark.parametrize(
    ("script", "calls"),
    [
        ("detent verify", [["verify"]]),
        ("detent job list --json | jq length  # how many", [["job", "list", "--json"]]),
        ("detent job wait 42 && detent job show 42", [["job", "wait", "42"], ["job", "show", "42"]]),
        ('detent enqueue ocr \'{"a": "b|c"}\' > new.txt', [["enqueue", "ocr", '{"a": "b|c"}']]),
        ('eval "$(detent completion bash)"', [["completion", "bash"]]),
        ("0 3 * * * /srv/app/.venv/bin/detent prune", [["prune"]]),
        ("detent job cancel 42 \\\n  --hard", [["job", "cancel", "42", "--hard"]]),
        ("echo detention", []),
    ],
)
def test_calls_are_found_in_a_script(script: str, calls: list[list[str]]) -> None:
    assert list(calls_in(script)) == calls


@pytest.mark.parametrize(
    ("arguments", "objection"),
    [
        (["verify"], None),
        (["job", "--help"], None),
        (["job", "list", "--state", "running"], None),
        (["job", "lst"], "there is no command 'lst'"),
        (["job", "list", "--stat", "x"], "No such option"),
        (["job", "show"], "Missing argument"),
        (["prune", "--others", "soon"], "no length of time"),
    ],
)
def test_call_that_would_not_be_understood_is_noticed(arguments: list[str], objection: str | None) -> None:
    said = misuse(arguments)

    assert said is None if objection is None else said is not None and objection in said
