"""What no store could carry out is wrong usage, and has its exit code; what was meant otherwise is told."""

import pytest

from tests.surfaces.running import Site, refused, refused_in_json
from tests.surfaces.terminal import Terminal


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("enqueue", ""), "kind"),
        (("enqueue", "scan", "--priority", "100000"), "priority"),
        (("enqueue", "scan", "--lease", "1s"), "a lease lasts 30 s to 120 s"),
        (("enqueue", "scan", "--timeout", "0s"), "timeout_s"),
        (("enqueue", "scan", "--delay", "5s", "--run-at", "2027-01-01T00:00:00Z"), "give one of them"),
        (("job", "list", "--cursor", "x"), "cursor"),
        (("job", "list", "--url", "jobs.db"), "sqlite:///relative.db"),
    ],
)
def test_value_that_cannot_be_meant_is_wrong_usage(site: Site, arguments: tuple[str, ...], said: str) -> None:
    with site.client():
        pass

    assert said in refused(site.detent(*arguments), 2)


def test_audit_of_a_tenant_that_has_no_jobs_is_not_found(site: Site) -> None:
    with site.client() as client:
        client.enqueue("scan")

    assert "tenant 'acne' has no jobs here" in refused(site.detent("verify", "--tenant", "acne"), 3)


def test_job_that_did_not_end_in_time_is_named_in_the_error(site: Site) -> None:
    result = site.detent("enqueue", "scan", "--id", "42", "--wait-timeout", "0s", "--json")

    error = refused_in_json(result, 124)
    assert (error["code"], error["job_id"], error["state"]) == ("wait_timed_out", "42", "queued")


def test_person_is_told_where_a_new_store_was_made(site: Site) -> None:
    with Terminal(site, "enqueue", "scan", columns=200) as terminal:
        shown = terminal.rest()

    assert f"Made a new store: {site.url}" in shown


def test_interrupt_at_a_question_ends_with_130(site: Site) -> None:
    with site.client() as client:
        client.enqueue("scan", job_id="42")
        client.dead_letter("42", role="operator")

    with Terminal(site, "dlq", "purge", "42") as terminal:
        terminal.expect("[y/N]")
        terminal.interrupt()
        terminal.rest()

        assert terminal.exit_code == 130
    with site.client() as client:
        assert client.get("42").state == "dead_lettered"


def test_no_is_no_error_of_the_program_and_says_that_nothing_was_done(site: Site) -> None:
    with site.client() as client:
        client.enqueue("scan", job_id="42")
        client.dead_letter("42", role="operator")

    with Terminal(site, "dlq", "purge", "42") as terminal:
        terminal.expect("[y/N]")
        terminal.type("n\n")
        shown = terminal.rest()

    assert terminal.exit_code == 1
    assert "nothing was done" in shown
