"""`detent dlq purge`: gone for good, after a question that only a person at a terminal is asked."""

import pytest

from detent.client import SyncClient
from detent.errors import NotFound
from detent.surfaces.cli.dlq.purging import PurgeShape
from tests.surfaces.running import Site, bury, refused, refused_in_json, succeed
from tests.surfaces.terminal import Terminal


@pytest.fixture
def letters(site: Site) -> Site:
    with site.client() as client:
        bury(client, "1", kind="newsletter", reason_code="timeout")
        bury(client, "2", kind="newsletter")
        bury(client, "3")
        succeed(client, "done")
    return site


def left(site: Site) -> set[str]:
    with site.client() as client:
        assert client.verify().is_clean
        return {job.id for job in client.find()}


def is_gone(client: SyncClient, job_id: str) -> bool:
    try:
        client.history(job_id)
    except NotFound:
        return True
    return False


def test_letter_that_is_named_is_removed_with_its_record(letters: Site) -> None:
    assert letters.shown("dlq", "purge", "1", "--yes") == "1 dead letter removed, with 2 events.\n"

    assert left(letters) == {"2", "3", "done"}
    with letters.client() as client:
        assert is_gone(client, "1")
        assert [event.job_id for event in client.events(job_id="1")] == []


@pytest.mark.parametrize(
    ("which", "kept"),
    [
        (("--kind", "newsletter"), {"3", "done"}),
        (("--reason", "timeout"), {"2", "3", "done"}),
        (("--all",), {"done"}),
        (("1", "3", "1"), {"2", "done"}),
        (("--ended-until", "30d"), {"1", "2", "3", "done"}),
    ],
    ids=["by kind", "by reason", "all", "by name", "by time"],
)
def test_letters_that_are_meant_are_removed_and_no_others(
    letters: Site, which: tuple[str, ...], kept: set[str]
) -> None:
    report = letters.json("dlq", "purge", *which, "--yes")

    removed = 4 - len(kept)
    assert isinstance(report, PurgeShape)
    assert (report.matched, report.purged, report.events) == (removed, removed, 2 * removed)
    assert left(letters) == kept


def test_dry_run_counts_and_removes_nothing(letters: Site) -> None:
    told = letters.told("dlq", "purge", "--all", "--dry-run")
    report = letters.json("dlq", "purge", "--all", "--dry-run")

    assert told == "3 dead letters would be removed. reason jobs " + "─" * 23 + " policy_violation 2 timeout 1"
    assert (report.matched, report.purged, report.is_dry_run) == (3, 0, True)
    assert left(letters) == {"1", "2", "3", "done"}


def test_one_letter_is_spoken_of_as_one(letters: Site) -> None:
    message = refused(letters.detent("dlq", "purge", "1"), 2)

    assert "Remove 1 dead letter for good, with everything on the record of it?" in message


def test_counts_of_a_dry_run_are_aligned_on_the_right(letters: Site) -> None:
    for command in ("purge", "redrive"):
        lines = letters.shown("dlq", command, "--all", "--dry-run").splitlines()

        assert lines[-2:] == ["policy_violation      2", "timeout               1"]


def test_more_than_one_batch_is_removed_whole(site: Site) -> None:
    with site.client() as client:
        client.enqueue_many([{"kind": "scan", "job_id": str(number)} for number in range(250)])
        for number in range(250):
            client.dead_letter(str(number), role="operator")

    assert site.json("dlq", "purge", "--all", "-y").purged == 250
    assert left(site) == set()


def test_script_is_not_asked_and_has_to_say_yes(letters: Site) -> None:
    message = refused(letters.detent("dlq", "purge", "--all"), 2)

    assert "Remove 3 dead letters for good, with everything on the record of them? Nobody is at a terminal" in message
    assert "--yes" in message
    assert "--dry-run" in message
    assert refused_in_json(letters.detent("dlq", "purge", "--all", "--json"), 2)["code"] == "wrong_usage"
    assert left(letters) == {"1", "2", "3", "done"}


@pytest.mark.parametrize(
    ("answer", "code", "kept"),
    [("n\n", 1, {"1", "2", "3", "done"}), ("\n", 1, {"1", "2", "3", "done"}), ("y\n", 0, {"done"})],
    ids=["no", "nothing said", "yes"],
)
def test_person_at_a_terminal_is_asked(letters: Site, answer: str, code: int, kept: set[str]) -> None:
    with Terminal(letters, "dlq", "purge", "--all") as terminal:
        terminal.expect("Remove 3 dead letters for good")
        terminal.type(answer)
        shown = terminal.rest()

    assert terminal.exit_code == code
    assert ("3 dead letters removed, with 6 events." in shown) == (code == 0)
    assert left(letters) == kept


def test_question_about_many_reruns_is_asked_at_a_terminal_too(letters: Site) -> None:
    with Terminal(letters, "dlq", "redrive", "--all") as terminal:
        terminal.expect("Run 3 dead letters again? [y/N]")
        terminal.type("n\n")
        terminal.rest()

    assert terminal.exit_code == 1
    assert left(letters) == {"1", "2", "3", "done"}


def test_letters_of_another_tenant_stay(letters: Site) -> None:
    assert letters.json("dlq", "purge", "--all", "--yes", "--tenant", "acme").purged == 0
    assert left(letters) == {"1", "2", "3", "done"}
