"""`detent workers`: who is there, what each serves, and how busy it is."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from detent.client import SyncClient
from detent.store.fleet import SEEN_S, Lane
from tests.surfaces.running import Site
from tests.surfaces.shelf import at_time


def report(client: SyncClient, name: str, **more: Any) -> None:
    asked: dict[str, Any] = {"host": "box-1", "pid": 4711, "started_at": datetime.now(UTC) - timedelta(hours=3)}
    client.report_worker(name, **{**asked, "queues": ["default", "ocr"], **more})


@pytest.fixture
def served(site: Site) -> Site:
    with site.client() as client:
        report(client, "w3", kinds=["scan", "mail"], slots=8, running=3, version="1.2.3")
        report(client, "w2", slots=2, running=2)
        report(client, "w1", is_draining=True)
    with at_time(site.path, lambda: micros_ago(SEEN_S + 60)) as client:
        report(client, "old")
    return site


def micros_ago(seconds: float) -> int:
    return round((datetime.now(UTC) - timedelta(seconds=seconds)).timestamp() * 1_000_000)


def test_list_says_what_each_serves_and_how_busy_it_is(served: Site) -> None:
    lines = served.shown("workers", columns=140).splitlines()
    rows = {line.split()[0]: " ".join(line.split()) for line in lines[2:]}

    assert rows.keys() == {"w1", "w2", "w3"}
    assert rows["w3"].startswith("w3 open 3/8 default, ocr scan, mail box-1 4711 1.2.3 3 h ago ")
    assert rows["w2"].startswith("w2 busy 2/2 default, ocr any box-1")
    assert rows["w1"].startswith("w1 draining 0/1")


def test_slots_are_told_apart_by_what_runs_in_them(site: Site) -> None:
    full: dict[str, Any] = {"kinds": ("scan",), "slots": 2, "running": 2}
    free = Lane(isolation="thread", kinds=("mail",), slots=16)
    with site.client() as client:
        report(client, "some", slots=18, running=2, lanes=[Lane(isolation="async", **full), free])
        report(client, "all", slots=2, running=2, lanes=[Lane(isolation="process", **full)])
    lines = site.shown("workers", columns=140).splitlines()
    rows = {line.split()[0]: " ".join(line.split()) for line in lines[2:]}

    assert rows["some"].startswith("some partly busy 2/2 async, 0/16 thread default, ocr")
    assert rows["all"].startswith("all busy 2/2 process default, ocr")


def test_those_that_are_gone_are_listed_when_asked_for(served: Site) -> None:
    lines = served.shown("workers", "--all", columns=140).splitlines()

    assert lines[-1].split()[:2] == ["old", "gone"]
    assert {worker.name: worker.is_gone for worker in served.json("workers", "--all")} == {
        "w1": False, "w2": False, "w3": False, "old": True,
    }  # fmt: skip


def test_json_has_all_that_was_reported(served: Site) -> None:
    worker = next(each for each in served.json("workers") if each.name == "w3")

    assert (worker.queues, worker.kinds, worker.adapters) == (("default", "ocr"), ("scan", "mail"), None)
    assert (worker.slots, worker.running, worker.is_draining, worker.is_gone) == (8, 3, False, False)


def test_nobody_there_is_said_with_whoever_was_the_last(site: Site) -> None:
    with site.client():
        pass
    nobody = site.detent("workers")
    with at_time(Path(site.path), lambda: micros_ago(SEEN_S + 60)) as client:
        report(client, "old")
    gone = site.detent("workers")

    assert (nobody.exit_code, nobody.stdout, nobody.stderr) == (0, "", "No worker is there.\n")
    assert (gone.exit_code, gone.stdout) == (0, "")
    assert gone.stderr == "No worker is there; the last was 'old', see --all.\n"
    assert site.json("workers") == []


def test_workers_keep_to_their_tenant(served: Site) -> None:
    assert served.json("workers", "--all", "--tenant", "other") == []
