"""The plugin as pytest loads it: what it offers, and that a store which does not verify fails the test."""

import asyncio
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Final

import pytest

from detent import App
from detent.testing import Trial, plugin
from tests.test_repository import ROOT

PATIENCE_S: Final = 60
JOBS: Final = """
from detent import App

app = App("sqlite:////nowhere/at/all.db")

@app.job
def work() -> int:
    return 1
"""


def pytest_in(folder: Path, **files: str) -> str:
    """What pytest prints for these files, with the plugin and no other."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "detent.testing.plugin", "-p", "no:cacheprovider"]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    return done.stdout + done.stderr


def test_pytest_finds_the_plugin_where_detent_is_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert project["entry-points"]["pytest11"] == {"detent": plugin.__name__}


def test_app_of_the_users_own_is_tried_on_a_store_beside_its_own(tmp_path: Path) -> None:
    printed = pytest_in(
        tmp_path,
        ours=JOBS,
        conftest="import pytest, ours\n\n@pytest.fixture\ndef detent_app():\n    return ours.app\n",
        test_it="import ours\n\ndef test_it(jobs):\n"
        "    handle = ours.work.enqueue()\n    jobs.drain()\n    assert handle.result() == 1\n",
    )

    assert "1 passed" in printed


def test_store_that_does_not_verify_fails_the_test(tmp_path: Path) -> None:
    printed = pytest_in(
        tmp_path,
        test_it="import apsw\n\ndef test_it(jobs, tmp_path):\n"
        "    jobs.client.enqueue('work', job_id='a')\n"
        "    with apsw.Connection(str(tmp_path / 'detent-trial.db')) as connection:\n"
        "        connection.execute('drop trigger detent_events_fixed')\n"
        "        connection.execute(\"update detent_events set to_state = 'gone'\")\n",
    )

    assert "1 passed, 1 error" in printed
    assert "AssertionError: the store does not verify:" in printed


def test_mishap_that_never_came_to_pass_fails_the_test(tmp_path: Path) -> None:
    printed = pytest_in(tmp_path, test_it="def test_it(jobs):\n    jobs.failing('work')\n")

    assert "1 passed, 1 error" in printed
    assert "AssertionError: 'work' was to fail once, and no attempt was made at it" in printed


def test_plugin_imports_nothing_before_a_test_asks_for_it() -> None:
    program = "import sys, detent.testing.plugin; sys.exit('detent.app' in sys.modules or 'apsw' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", program], timeout=PATIENCE_S, check=False).returncode == 0


def test_trial_may_begin_and_end_on_an_event_loop(tmp_path: Path) -> None:
    app = App()

    @app.job
    async def work() -> int:
        return 1

    async def scene() -> int:
        with Trial(app, f"sqlite:///{tmp_path}/trial.db") as jobs:
            handle = await work.aenqueue()
            await jobs.adrain()
            jobs.assert_path(handle, "queued", ..., "succeeded")
            return await handle.aresult()

    assert asyncio.run(scene()) == 1


def test_app_goes_back_to_its_own_store(tmp_path: Path) -> None:
    app = App(f"sqlite:///{tmp_path}/own.db")

    @app.job
    def work() -> None: ...

    with Trial(app, f"sqlite:///{tmp_path}/trial.db"):
        work.enqueue()
    with app:
        kept = app.client().find()

    assert list(kept) == []


def test_other_clients_of_the_app_are_on_the_store_of_the_trial(tmp_path: Path) -> None:
    app = App(f"sqlite:///{tmp_path}/own.db")

    with Trial(app, f"sqlite:///{tmp_path}/trial.db") as jobs, app.connect() as client:
        made = client.enqueue("work")

        assert jobs.made() == [made]
        assert made.created_at == jobs.clock.now


def test_trial_that_fails_does_not_complain_of_anything_else(tmp_path: Path) -> None:
    def broken(jobs: Trial) -> None:
        jobs.failing("work")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), Trial(App(), f"sqlite:///{tmp_path}/trial.db") as jobs:
        broken(jobs)
