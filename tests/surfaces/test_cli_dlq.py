"""`detent dlq list` and `dlq show`: what was set aside, and what to judge it by."""

import shlex

import pytest

from detent.client import SyncClient
from detent.kernel.failure import REASON_CODES, STAGES
from detent.lifecycle import Policy, Retry
from detent.surfaces.cli.dlq.letters import DeadLetterShape
from detent.surfaces.cli.dlq.showing import ShownLetterShape
from tests.client.test_dead_letters import PARCEL
from tests.surfaces.running import BROKEN, BUSY, Site, bury, fail, refused, refused_in_json


def exhaust(client: SyncClient, job_id: str) -> None:
    client.enqueue("scan", {"page": 7}, job_id=job_id, policy=Policy(retry=Retry(max_attempts=2, base_s=0)))
    for attempt in (1, 2):
        client.claim(worker="w1", start=True)
        client.fail(job_id, worker="w1", attempt=attempt, error=BUSY)


@pytest.fixture
def letters(site: Site) -> Site:
    """Five dead letters over two lifecycles, one of them run again, and a failure that is none."""
    with site.client(lifecycles=[PARCEL]) as client:
        exhaust(client, "tired")
        bury(client, "typed", kind="mail", error=BROKEN)
        bury(client, "slow", queue="slow", correlation_id="order-1")
        bury(client, "timed", reason_code="timeout", stage="commit")
        bury(client, "parcel", lifecycle="parcel")
        client.rerun("slow")
        fail(client, "failed")
    return site


def ids(site: Site, *arguments: str) -> list[str]:
    return [letter.job_id for letter in site.json("dlq", "list", *arguments)]


def test_letters_are_listed_with_their_reasons(letters: Site) -> None:
    result = letters.detent("dlq", "list", columns=120)

    heading, _, *rows = result.stdout.splitlines()
    assert " ".join(heading.split()) == "job reason stage kind error attempts set aside run again"
    assert [row.split()[0] for row in rows] == ["timed", "slow", "typed", "tired", "parcel"]
    assert rows[3].split()[:6] == ["tired", "exhausted_retries", "exec", "scan", "TransientError:", "scanner"]
    assert rows[1].split()[-1] == "yes"
    assert "detent dlq show JOB" in result.stderr
    assert "detent dlq redrive --all --dry-run" in result.stderr


def test_narrow_terminal_still_has_the_reason_and_the_error(letters: Site) -> None:
    shown = letters.detent("dlq", "list", columns=60).stdout

    assert shown.splitlines()[0].split() == ["job", "reason", "error"]
    assert max(map(len, shown.splitlines())) <= 60


def test_json_is_a_list_of_letters(letters: Site) -> None:
    found = letters.json("dlq", "list", "--reason", "exhausted_retries")

    (letter,) = found
    assert isinstance(letter, DeadLetterShape)
    assert (letter.state, letter.attempts, letter.last_owner, letter.redriven_as) == ("dead_lettered", 2, "w1", [])
    assert letter.last_error.message == "scanner is busy"


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        (("--reason", "timeout"), ["timed"]),
        (("--stage", "commit"), ["timed"]),
        (("--error", "PermanentError"), ["typed"]),
        (("--queue", "slow"), ["slow"]),
        (("--kind", "mail"), ["typed"]),
        (("--lifecycle", "parcel"), ["parcel"]),
        (("--correlation", "order-1"), ["slow"]),
        (("--ended-since", "1h", "--kind", "mail"), ["typed"]),
        (("--ended-until", "1h"), []),
        (("--open",), ["timed", "typed", "tired", "parcel"]),
        (("--limit", "2"), ["timed", "slow"]),
    ],
    ids=lambda given: " ".join(given) if given and isinstance(given, tuple) else "",
)
def test_each_filter_finds_what_it_names(letters: Site, filters: tuple[str, ...], found: list[str]) -> None:
    assert ids(letters, *filters) == found


def test_listing_that_is_cut_short_says_so(letters: Site) -> None:
    assert "There are more: add --limit 20, or --all." in letters.detent("dlq", "list", "--limit", "2").stderr
    assert "There are more" not in letters.detent("dlq", "list", "--limit", "5").stderr


def test_program_is_told_that_there_are_more_too(letters: Site) -> None:
    assert "There are more" in letters.detent("dlq", "list", "--limit", "2", "--json").stderr
    assert letters.detent("dlq", "list", "--all", "--json").stderr == ""


def test_suggestion_repeats_the_filters_that_were_given(letters: Site) -> None:
    given = ("--error", "PermanentError", "--kind", "mail", "--ended-since", "2h ago")
    result = letters.detent("dlq", "list", *given)

    suggestion = next(line for line in result.stderr.splitlines() if line.startswith("Run them again: "))
    _, *command = shlex.split(suggestion.partition(": ")[2])
    assert command == ["dlq", "redrive", *given, "--dry-run"]
    assert "1 dead letter would be run again." in letters.shown(*command)


def test_suggestion_is_not_broken_however_narrow_the_terminal(letters: Site) -> None:
    lines = letters.shown("dlq", "show", "tired", "--url", letters.url, columns=40).splitlines()

    assert lines[-2:] == [
        f"Run it again: detent dlq redrive tired --url {letters.url}",
        f"Its story: detent job history tired --url {letters.url}",
    ]


def test_help_says_which_reasons_and_stages_there_are(letters: Site) -> None:
    told = letters.told("dlq", "redrive", "--help")

    assert all(f"{word}," in told or f"{word}." in told for word in (*REASON_CODES, *STAGES))


def test_store_without_dead_letters_says_so(site: Site) -> None:
    site.shown("enqueue", "scan")

    result = site.detent("dlq", "list")

    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "There are no dead letters.\n")
    assert "No dead letter is like that." in site.detent("dlq", "list", "--open").stderr
    assert site.json("dlq", "list") == []


@pytest.mark.parametrize("command", [("list",), ("redrive", "--dry-run"), ("purge", "--dry-run")], ids=" ".join)
def test_lifecycle_that_is_not_there_is_a_slip(letters: Site, command: tuple[str, ...]) -> None:
    message = refused(letters.detent("dlq", *command, "--lifecycle", "parcle"), 3)

    assert "no lifecycle 'parcle' in this store. Did you mean 'parcel'?" in message


@pytest.mark.parametrize("option", [("--reason", "whim"), ("--stage", "heaven"), ("--ended-since", "soon")])
def test_word_that_no_letter_can_have_is_wrong_usage(letters: Site, option: tuple[str, str]) -> None:
    assert option[0] in refused(letters.detent("dlq", "list", *option), 2)
    assert refused_in_json(letters.detent("dlq", "list", *option, "--json"), 2)["code"] == "wrong_usage"


def test_letter_is_shown_with_all_that_is_needed_to_judge_it(letters: Site) -> None:
    told = letters.told("dlq", "show", "tired")

    assert "reason exhausted_retries stage exec attempts 2 last lease w1, until 2" in told
    assert "run again not yet" in told
    assert 'payload {"page":7}' in told
    assert "error TransientError: scanner is busy (exhausted_retries, stage exec)" in told
    assert "Run it again: detent dlq redrive tired Its story: detent job history tired" in told


def test_letter_that_was_run_again_names_the_new_job(letters: Site) -> None:
    shown = letters.json("dlq", "show", "slow")

    (again,) = shown.letter.redriven_as
    told = letters.told("dlq", "show", "slow")
    assert isinstance(shown, ShownLetterShape)
    assert (shown.job.id, shown.letter.job_id) == ("slow", "slow")
    assert f"run again {again}" in told
    assert "Run it again" not in told


def test_job_that_is_no_dead_letter_is_not_found_among_them(letters: Site) -> None:
    message = refused(letters.detent("dlq", "show", "failed"), 3)

    assert "job failed is 'failed', and no dead letter; see: detent job explain failed" in message
    assert refused_in_json(letters.detent("dlq", "show", "failed", "--json"), 3)["code"] == "not_found"


def test_letter_that_is_not_there_gets_a_guess(letters: Site) -> None:
    assert "Did you mean 'tired'?" in refused(letters.detent("dlq", "show", "tierd"), 3)
