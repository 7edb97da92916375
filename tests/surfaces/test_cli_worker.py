"""`detent worker`: as a person starts it, in a folder with an app, on either store."""

import signal
from pathlib import Path

import pytest

from detent.client import connect
from tests.client.conftest import store_kind, url
from tests.surfaces.worker_site import Workers, done, ended, stopped, until

__all__ = ["store_kind", "url"]


@pytest.fixture
def workers(tmp_path: Path, url: str) -> Workers:
    return Workers(tmp_path, url)


@pytest.fixture
def here(tmp_path: Path) -> Workers:
    """On a file: for what has nothing to do with the store."""
    return Workers(tmp_path, f"sqlite:///{tmp_path}/jobs.db?synchronous=normal")


def test_worker_says_what_it_runs_runs_it_and_ends_well_when_it_is_told_to(workers: Workers) -> None:
    with workers.client() as client, workers.at_work("--name", "w7") as process:
        job = done(client, "scan", {"page": 1}, queue="ocr")
        (worker,) = client.workers()
        code, out, err = stopped(process)
        after = client.workers()

    assert (job.state, job.result) == ("succeeded", 2)
    assert (worker.name, worker.queues) == ("w7", ("ocr", "default", "reports"))
    assert (code, out) == (0, "scanned 1\n")
    told = " ".join(err.split())
    assert "worker w7 store" in told
    assert "queues ocr, default, reports at once 100 on the event loop, 16 in threads" in told
    assert "scan ocr standard async" in told
    assert "report reports standard async 0 3 * * * Europe/Berlin" in told
    assert "INFO detent.worker: stopping: " in told  # the end may be on the record before the worker hears of it
    assert told.endswith("1 done, 0 failed, 0 retried")
    assert after == []


def test_password_of_the_store_is_not_shown(here: Workers) -> None:
    code, said = here.refused("shop:app", "--url", "postgresql://ann:secret@127.0.0.1:1/jobs")

    assert code == 1
    assert "secret" not in said
    assert "no server answers there" in said


def test_worker_serves_the_queues_it_is_asked_to_and_keeps_off_others(workers: Workers) -> None:
    with workers.client() as client, workers.at_work("--queue", "ocr") as process:
        other = client.enqueue("pid")
        done(client, "scan", {"page": 1}, queue="ocr")
        (worker,) = client.workers()

        assert client.get(other.id).state == "queued"
        assert (worker.queues, worker.kinds, worker.slots) == (("ocr",), ("scan",), 100)
        assert stopped(process)[0] == 0


def test_schedules_of_the_app_are_kept_by_whichever_worker_starts(workers: Workers) -> None:
    with workers.client() as client, workers.at_work("--queue", "ocr"):
        until(client.schedules)
        (schedule,) = client.schedules()

    assert (schedule.name, schedule.cron, schedule.zone) == ("report", "0 3 * * *", "Europe/Berlin")


@pytest.mark.requirement("STD-07")
def test_what_does_not_finish_in_the_grace_is_given_back(workers: Workers, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    with workers.client() as client, workers.at_work("--grace", "100ms") as process:
        job = client.enqueue("linger", {"mark": str(mark)})
        until(mark.exists)
        code, _, err = stopped(process)
        after = client.get(job.id)

    assert code == 0
    assert "stopping: 1 running, with 0.1 s to finish" in err
    assert (after.state, after.interruptions, after.failures) == ("queued", 1, 0)


def test_second_signal_does_not_wait_for_the_grace(here: Workers, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    with here.client() as client, here.at_work("--grace", "1h") as process:
        job = client.enqueue("sleep", {"mark": str(mark)})
        until(mark.exists)
        process.send_signal(signal.SIGINT)
        until(lambda: any(each.is_draining for each in client.workers()))
        code, _, err = ended(process, signal.SIGTERM)
        after = client.get(job.id)

    assert (code, after.state) == (0, "queued")
    assert "failed:" not in err
    assert err.endswith("0 done, 0 failed, 0 retried, 1 given back\n")


def test_url_that_is_asked_for_goes_before_the_apps_own_in_every_process(tmp_path: Path) -> None:
    own, other = (f"sqlite:///{tmp_path}/{name}.db" for name in ("own", "other"))
    workers = Workers(tmp_path, own)
    with connect(other) as client, workers.at_work("--url", other, "--children", "1"):
        job = done(client, "child_url")

    assert job.result == other
    assert not (tmp_path / "own.db").exists()


def test_tenant_that_is_asked_for_goes_before_the_apps_own(here: Workers) -> None:
    with connect(here.url, tenant="acme") as client, here.at_work("--tenant", "acme") as process:
        job = done(client, "pid")

    assert (job.tenant, job.result) == ("acme", process.pid)


@pytest.mark.parametrize(
    ("target", "code", "said"),
    [
        ("nope:app", 3, "there is no module 'nope'"),
        ("shop.nope:app", 3, "there is no module 'shop.nope'"),
        ("shop:nope", 3, "module 'shop' has no 'nope'. It has: shop:app"),
        ("shop:ap", 3, "Did you mean 'app'?"),
        ("shop:number", 2, "'shop:number' is no App but an int. It has: shop:app"),
        ("shop", 2, "'shop' names a module, and not which of its apps. It has: shop:app"),
        ("shop.py:app", 2, "'shop.py:app' names a file; name the module: shop:app"),
        (":app", 2, "':app' names no app; write MODULE:APP"),
        ("broken:app", 1, "module 'broken' cannot be imported; it raised:"),
        ("lacking:app", 1, "ModuleNotFoundError: No module named 'a_library_that_is_not_there'"),
        ("leaving:app", 1, "SystemExit: 3"),
        ("empty:app", 2, "'empty:app' declares no job"),
    ],
)
def test_target_that_is_no_app_is_told_of(here: Workers, target: str, code: int, said: str) -> None:
    (here.folder / "broken.py").write_text("def f():\n    return 1 / 0\n\n\nf()\n", encoding="utf-8")
    (here.folder / "lacking.py").write_text("import a_library_that_is_not_there\n", encoding="utf-8")
    (here.folder / "leaving.py").write_text("raise SystemExit(3)\n", encoding="utf-8")
    (here.folder / "empty.py").write_text("from detent import App\n\napp = App()\n", encoding="utf-8")
    ended_with, told = here.refused(target)

    assert (ended_with, said in told) == (code, True), told
    assert "importlib" not in told
    assert not (here.folder / "jobs.db").exists()


def test_error_inside_the_module_is_shown_where_it_is(here: Workers) -> None:
    (here.folder / "broken.py").write_text("def f():\n    return 1 / 0\n\n\nf()\n", encoding="utf-8")
    _, told = here.refused("broken:app")

    assert 'broken.py", line 2, in f return 1 / 0' in told
    assert told.endswith("ZeroDivisionError: division by zero")


def test_queue_that_no_job_is_declared_for_is_told_of(here: Workers) -> None:
    code, told = here.refused("shop:app", "--queue", "orc")

    assert code == 2
    assert "no job of this app is declared for queue 'orc'. Did you mean 'ocr'?" in told
    assert told.endswith("There are: ocr, default, reports")


@pytest.mark.parametrize("name", ["a\nb", "n" * 300])
def test_name_that_no_record_could_hold_is_told_of(here: Workers, name: str) -> None:
    code, told = here.refused("shop:app", "--name", name)

    assert code == 2
    assert "name " in told


def test_metrics_port_that_is_taken_is_told_of(here: Workers) -> None:
    with here.at_work("--metrics-port", "0") as process:
        port = metrics_url(process).rpartition(":")[2].partition("/")[0]
        code, told = here.refused("shop:app", "--metrics-port", port)

    assert code == 1
    assert f"metrics cannot be served at 127.0.0.1, port {port}" in told


def test_terminal_shows_how_it_goes_below_what_handlers_print(here: Workers) -> None:
    with here.client() as client, here.on_terminal("--children", "1") as terminal:
        terminal.expect("0/117 running")
        done(client, "scan", {"page": 41}, queue="ocr")
        terminal.expect("scanned 41")
        terminal.expect("1 done")
        terminal.interrupt()
        shown = terminal.rest()

    assert terminal.exit_code == 0
    assert "stopping: nothing is running" in shown
    assert "\x1b[?25h" in shown  # the cursor is back


def metrics_url(process: object) -> str:
    assert hasattr(process, "stderr")
    for line in process.stderr:
        if line.startswith("  metrics "):
            return str(line.split()[-1])
    raise AssertionError("it did not say where its metrics are")
