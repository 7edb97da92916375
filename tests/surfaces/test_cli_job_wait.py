"""`detent job wait`, and `enqueue --wait`: the exit code says how the job ended."""

import signal

import pytest

from tests.surfaces import meanwhile
from tests.surfaces.meanwhile import Deed
from tests.surfaces.running import Site, fail, refused, refused_in_json, run_one, succeed
from tests.surfaces.terminal import Terminal

ENDS: list[tuple[Deed, int, str]] = [
    (meanwhile.complete, 0, "succeeded"),
    (meanwhile.fail, 10, "failed"),
    (meanwhile.cancel, 11, "cancelled"),
]
each_end = pytest.mark.parametrize(("deed", "code", "state"), ENDS, ids=["success", "failure", "cancelled"])


@each_end
def test_enqueue_waits_for_the_end_and_says_how_it_was(site: Site, deed: Deed, code: int, state: str) -> None:
    with meanwhile.meanwhile(site, deed):
        result = site.detent("enqueue", "ocr", "--id", "42", "--wait")

    assert result.exit_code == code
    assert result.stdout.startswith(f"42  {state}")
    assert result.stderr == "Waiting for the end of job 42.\n"


@each_end
def test_json_is_the_job_at_its_end(site: Site, deed: Deed, code: int, state: str) -> None:
    with meanwhile.meanwhile(site, deed):
        ended = site.json("enqueue", "ocr", "--wait", exit_code=code)

    assert (ended.state, ended.answer) == (state, "applied")


@each_end
def test_job_that_ends_while_it_is_waited_for(site: Site, deed: Deed, code: int, state: str) -> None:
    with meanwhile.meanwhile(site, deed):
        site.shown("enqueue", "ocr", "--id", "42")
        result = site.detent("job", "wait", "42", "--timeout", "30s")

    assert (result.exit_code, result.stderr) == (code, "")
    assert result.stdout.startswith(f"42  {state}")


def test_job_that_has_ended_is_not_waited_for(site: Site) -> None:
    with site.client() as client:
        succeed(client, "42", {"pages": 3})

    assert site.shown("job", "wait", "42", "--timeout", "0") == "42  succeeded\n"
    assert site.json("job", "wait", "42").result == {"pages": 3}


def test_failure_is_told_with_its_error(site: Site) -> None:
    with site.client() as client:
        fail(client, "42")

    result = site.detent("job", "wait", "42")

    assert (result.exit_code, result.stdout) == (10, "42  failed  PermanentError: no such page (stage exec)\n")
    assert site.json("job", "wait", "42", exit_code=10).error.message == "no such page"


@pytest.mark.parametrize("lifecycle", ["engine", "document"])
def test_cancelled_job_counts_as_cancelled_where_no_state_is_called_so(site: Site, lifecycle: str) -> None:
    site.shown("enqueue", "ocr", "--id", "42", "--lifecycle", lifecycle)
    site.shown("job", "cancel", "42")

    assert site.detent("job", "wait", "42").exit_code == 11


def test_wait_that_is_over_says_where_the_job_is_and_what_to_do(site: Site) -> None:
    with site.client() as client:
        run_one(client, "42")

    message = refused(site.detent("job", "wait", "42", "--timeout", "10ms"), 124)

    assert "job 42 is still 'running' after 0.01 s of waiting; it goes on" in message
    assert "detent job explain 42" in message
    error = refused_in_json(site.detent("job", "wait", "42", "--timeout", "0", "--json"), 124)
    assert error["code"] == "wait_timed_out"


def test_time_limit_of_the_wait_means_to_wait(site: Site) -> None:
    result = site.detent("enqueue", "ocr", "--id", "42", "--wait-timeout", "10ms")

    assert (result.exit_code, result.stdout) == (124, "")
    assert "Waiting for the end of job 42." in result.stderr


def test_job_that_exists_already_is_waited_for_and_called_so(site: Site) -> None:
    site.shown("enqueue", "ocr", "--id", "42", "--dedupe-key", "k")

    result = site.detent("enqueue", "ocr", "--dedupe-key", "k", "--wait-timeout", "0")

    assert "Waiting for the end of job 42 (it exists already)." in result.stderr


def test_unknown_job_is_not_found_and_a_similar_one_suggested(site: Site) -> None:
    site.shown("enqueue", "ocr", "--id", "order-1042")

    message = refused(site.detent("job", "wait", "order-1024"), 3)

    assert "there is no job order-1024 in tenant 'default'" in message
    assert "Did you mean 'order-1042'?" in message


def test_interrupted_wait_ends_with_130_and_leaves_the_job_alone(site: Site) -> None:
    process = site.process("enqueue", "ocr", "--id", "42", "--wait")
    assert process.stderr is not None
    assert process.stderr.readline() == "Waiting for the end of job 42.\n"

    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=30)

    assert (process.returncode, stdout, stderr) == (130, "", "interrupted\n")
    with site.client() as client:
        assert client.get("42").state == "queued"


def test_person_at_a_terminal_sees_where_the_job_is_meanwhile(site: Site) -> None:
    with site.client() as client:
        client.enqueue("scan", job_id="42")
        (job,) = client.claim(worker="w1", start=True)
        client.progress("42", 0.5, "page [2]", worker="w1", attempt=job.attempt)

    with Terminal(site, "job", "wait", "42", "--timeout", "2", columns=80) as terminal:
        shown = terminal.rest()

    assert "waiting for 42: running with w1, 50% page [2]" in shown
