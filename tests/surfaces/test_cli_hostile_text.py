"""What others wrote into a job reaches no terminal as it is: it cannot colour it, move its cursor or turn its text."""

import pytest

from detent.errors import Refused
from tests.surfaces.running import Site, decoded, refused

ESCAPES = "\x1b[31mred\x1b[0m \x9b2J \x07 \r\x08 \x7f"
TURNED = "\u202egnp.exe\u202c \u2066x\u2069 \u200b \ufeff \u2028 \u00ad"
MARKUP = "[bold]b[/bold] [/nope] [link=x]y[/] :smile: {0} %s \\"
HOSTILE = f"{ESCAPES} {TURNED} {MARKUP} first\nsecond\ttab {'w' * 300}"
COMMANDS = [
    ("job", "show", "42"),
    ("job", "history", "42"),
    ("job", "notes", "42"),
    ("job", "explain", "42"),
    ("job", "wait", "42"),
    ("job", "tree", "42"),
    ("job", "list"),
    ("job", "count", "--by", "kind", "--by", "queue"),
    ("dlq", "list"),
    ("dlq", "show", "42"),
    ("event", "tail", "--no-follow"),
]
every = pytest.mark.parametrize("command", COMMANDS, ids=" ".join)


@pytest.fixture
def hostile(site: Site) -> Site:
    """A dead letter that was told lies in every field that takes free text, and in names as far as they take any."""
    with site.client() as client:
        client.enqueue(
            MARKUP, {"text": HOSTILE, HOSTILE: 1}, job_id="42", queue=MARKUP, reason=HOSTILE, actor=MARKUP,
            context_ptr=HOSTILE, env={"note": HOSTILE}, topic=MARKUP,
        )  # fmt: skip
        client.claim(worker=MARKUP, queues=[MARKUP], start=True)
        client.progress("42", 0.5, HOSTILE, worker=MARKUP, attempt=1)
        client.renew("42", worker=MARKUP, attempt=1, checkpoint=HOSTILE, progress={"fraction": 0.6, "message": HOSTILE})
        error = {"type": MARKUP, "message": HOSTILE, "code": MARKUP}
        client.dead_letter("42", role="operator", error=error, reason=HOSTILE)
        with pytest.raises(Refused):
            client.complete("42", worker=MARKUP, attempt=1, result=HOSTILE)
    return site


def unseen(text: str) -> set[str]:
    """The characters that would do something instead of showing."""
    return {char for char in text if not char.isprintable() and char != "\n"}


@every
@pytest.mark.parametrize("columns", [60, 200])
def test_only_what_can_be_seen_is_shown(hostile: Site, command: tuple[str, ...], columns: int) -> None:
    result = hostile.detent(*command, columns=columns)

    assert result.exit_code in (0, 10), result.output
    assert unseen(result.output) == set()
    assert max(map(len, result.stdout.splitlines())) <= columns


@every
def test_json_spells_it_out_and_loses_nothing(hostile: Site, command: tuple[str, ...]) -> None:
    result = hostile.detent(*command, "--json")

    assert unseen(result.stdout) == set()
    assert decoded(command, result.stdout)


def test_value_is_whole_in_json(hostile: Site) -> None:
    job = hostile.json("job", "show", "42")

    assert job.payload == {"text": HOSTILE, HOSTILE: 1}
    assert job.error.message == HOSTILE
    assert job.kind == MARKUP


def test_markup_of_others_is_shown_and_not_followed(hostile: Site) -> None:
    shown = hostile.shown("job", "show", "42", columns=1_000)

    assert f"{MARKUP}, on lifecycle standard v1" in shown
    assert ":smile:" in shown


def test_terminal_gets_no_escape_sequence_of_others(hostile: Site) -> None:
    shown = hostile.detent("job", "show", "42", columns=1_000, env={"FORCE_COLOR": "1"}).stdout

    assert "\x1b[31m" in shown  # our own, for the error
    assert "\\x1b[31mred\\x1b[0m" in shown
    assert "\x1b[31mred" not in shown
    assert "\u202e" not in shown


def test_error_messages_are_clean_too(hostile: Site) -> None:
    for wrong in ("\x1b[31m", "\u202eolleh"):
        for command in (("job", "show", wrong), ("job", "list", "--state", wrong), ("job", "list", "--queue", wrong)):
            result = hostile.detent(*command)

            assert result.exit_code in (2, 3)
            assert unseen(result.stderr) == set()


def test_word_that_is_very_long_is_wrapped_and_not_cut(hostile: Site) -> None:
    shown = hostile.shown("job", "history", "42", columns=60)

    assert shown.count("w" * 20) >= 15
    assert shown.count("…") == 1  # the result that came too late; what is part of the story itself is whole


def test_name_of_a_file_is_no_message_of_its_own(site: Site) -> None:
    message = refused(site.detent("enqueue", "scan", "--lifecycle", "\x1b[31m.toml"), 3)

    assert unseen(message) == set()
