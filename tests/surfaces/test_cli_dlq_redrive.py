"""`detent dlq redrive`: each dead letter runs again as a new job, and not twice."""

import pytest

from detent.client import Job
from detent.surfaces.cli.dlq.redriving import RedriveShape
from tests.surfaces.running import LOGIN, Site, bury, refused, refused_in_json, succeed


@pytest.fixture
def letters(site: Site) -> Site:
    with site.client() as client:
        bury(client, "1", queue="mail", reason_code="timeout")
        bury(client, "2", queue="mail", reason_code="dependency_unavailable")
        bury(client, "3", reason_code="timeout")
        succeed(client, "done")
    return site


def again(site: Site, job_id: str) -> list[Job]:
    with site.client() as client:
        return [job for job in client.find(parent_job_id=job_id) if job.rerun_of == job_id]


def test_letter_that_is_named_runs_again(letters: Site) -> None:
    shown = letters.shown("dlq", "redrive", "1")

    (new,) = again(letters, "1")
    heading, _, row, conclusion = shown.splitlines()
    assert (heading.split(), row.split()) == (["dead", "letter", "runs", "as"], ["1", new.id])
    assert conclusion == "1 dead letter run again."
    assert (new.state, new.queue, new.rerun_of) == ("queued", "mail", "1")
    with letters.client() as client:
        assert client.history(new.id)[0].actor == LOGIN
        assert client.get("1").state == "dead_lettered"


@pytest.mark.parametrize(
    ("which", "found"),
    [
        (("--queue", "mail"), {"1", "2"}),
        (("--reason", "timeout"), {"1", "3"}),
        (("--all",), {"1", "2", "3"}),
        (("2", "3", "2"), {"2", "3"}),
    ],
    ids=["by queue", "by reason", "all", "by name"],
)
def test_letters_that_are_meant_run_again(letters: Site, which: tuple[str, ...], found: set[str]) -> None:
    report = letters.json("dlq", "redrive", *which, "--yes")

    assert isinstance(report, RedriveShape)
    assert (report.matched, report.skipped, report.failed, report.is_dry_run) == (len(found), 0, [], False)
    assert {(each.job_id, each.answer) for each in report.redriven} == {(job_id, "applied") for job_id in found}
    assert all(bool(again(letters, job_id)) == (job_id in found) for job_id in ("1", "2", "3"))


def test_dry_run_counts_and_changes_nothing(letters: Site) -> None:
    with letters.client() as client:
        end = client.end()

    told = letters.told("dlq", "redrive", "--all", "--dry-run")
    report = letters.json("dlq", "redrive", "--all", "--dry-run")

    assert told.startswith("3 dead letters would be run again. reason jobs")
    assert told.endswith("timeout 2 dependency_unavailable 1")
    assert (report.matched, report.redriven, report.is_dry_run) == (3, [], True)
    with letters.client() as client:
        assert client.end() == end


def test_letter_that_was_run_again_is_left_out_the_next_time(letters: Site) -> None:
    letters.shown("dlq", "redrive", "1")

    result = letters.detent("dlq", "redrive", "--queue", "mail")

    assert result.exit_code == 0
    assert "Left out, because run again before: 1. --again includes them." in result.stderr
    assert (len(again(letters, "1")), len(again(letters, "2"))) == (1, 1)
    assert letters.json("dlq", "redrive", "--queue", "mail").skipped == 2


def test_letter_is_run_once_more_where_that_is_asked_for(letters: Site) -> None:
    letters.shown("dlq", "redrive", "1")
    letters.shown("dlq", "redrive", "1", "--again")

    assert len(again(letters, "1")) == 2


def test_rerun_may_wait_and_be_somebody_else_s(letters: Site) -> None:
    letters.shown("dlq", "redrive", "1", "--delay", "10m", "--actor", "bob")

    (new,) = again(letters, "1")
    assert new.run_at is not None
    with letters.client() as client:
        assert client.history(new.id)[0].actor == "bob"


def test_two_who_redrive_at_once_get_one_new_job_for_each_letter(site: Site) -> None:
    names = [f"letter-{number}" for number in range(30)]
    with site.client() as client:
        for name in names:
            bury(client, name)

    processes = [site.process("dlq", "redrive", "--all", "--yes", "--actor", name) for name in ("ann", "bob")]
    ends = [process.communicate(timeout=60) for process in processes]

    assert [process.returncode for process in processes] == [0, 0], ends
    assert [len(again(site, name)) for name in names] == [1] * 30


def test_live_job_of_the_same_dedupe_key_is_not_doubled(site: Site) -> None:
    with site.client() as client:
        bury(client, "old", dedupe_key="k")
        client.enqueue("scan", job_id="live", dedupe_key="k")

    told = site.told("dlq", "redrive", "old")

    assert "old live it exists already 0 dead letters run again." in told
    (each,) = site.json("dlq", "redrive", "old").redriven
    assert (each.new_job_id, each.answer) == ("live", "duplicate")


def test_letter_that_cannot_run_again_does_not_stop_the_others(letters: Site) -> None:
    with letters.client() as client:
        client.limit_queue("mail", depth_max=1)

    result = letters.detent("dlq", "redrive", "--all", "--yes")
    report = letters.json("dlq", "redrive", "--all", "--yes", exit_code=1)

    assert result.exit_code == 1
    assert "2 dead letters run again." in result.stdout
    assert "not run again:" in result.stdout
    assert "(queue_full)" in " ".join(result.stdout.split())
    assert [(each.job_id, each.code) for each in report.failed] == [("1", "queue_full")]
    assert (len(again(letters, "1")), len(again(letters, "2")), len(again(letters, "3"))) == (0, 1, 1)


@pytest.mark.parametrize("command", ["redrive", "purge"])
def test_which_letters_has_to_be_said_in_so_many_words(letters: Site, command: str) -> None:
    assert "Which dead letters? Name jobs, give a filter" in refused(letters.detent("dlq", command, "--yes"), 2)
    assert "not both" in refused(letters.detent("dlq", command, "1", "--queue", "mail"), 2)
    assert "not both" in refused(letters.detent("dlq", command, "1", "--all"), 2)


@pytest.mark.parametrize("command", ["redrive", "purge"])
def test_one_name_that_is_no_dead_letter_leaves_the_others_alone(letters: Site, command: str) -> None:
    assert "job done is 'succeeded', and no dead letter" in refused(
        letters.detent("dlq", command, "1", "done", "-y"), 3
    )
    error = refused_in_json(letters.detent("dlq", command, "1", "nobody", "-y", "--json"), 3)

    assert error["code"] == "not_found"
    assert again(letters, "1") == []
    assert letters.json("dlq", "show", "1").job.id == "1"
