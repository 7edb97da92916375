"""`detent queue`: what is in queues and who serves them, and that a paused one is passed over until it is resumed."""

import re
from datetime import UTC, datetime

import pytest

from tests.surfaces.running import LOGIN, Site, refused, run_one


@pytest.fixture
def busy(site: Site) -> Site:
    with site.client() as client:
        run_one(client, "run")
        client.enqueue_many([{"kind": "scan", "queue": "ocr"} for _ in range(1_200)])
        client.report_worker("w1", host="h", pid=1, started_at=datetime.now(UTC), queues=["default", "mail"])
    return site


def test_list_shows_what_waits_who_serves_it_and_what_is_set(busy: Site) -> None:
    busy.detent("queue", "pause", "mail", "--reason", "the relay is down")
    busy.detent("queue", "limit", "ocr", "--max", "5000")

    lines = busy.shown("queue", "list", columns=120).splitlines()

    assert lines[0].split("  ")[0] == "queue"
    assert [line.split()[:5] for line in lines[2:]] == [
        ["default", "open", "0", "1", "1"],
        ["mail", "paused", "0", "0", "1"],
        ["ocr", "open", "1,200", "0", "0"],
    ]
    assert lines[3].endswith(f"ago by {LOGIN}: the relay is down")
    assert "5,000" in lines[4]


def test_list_tells_how_long_the_first_job_has_waited_that_could_be_claimed(busy: Site) -> None:
    oldest = {queue.name: queue.oldest_ready_at for queue in busy.json("queue", "list")}
    line = busy.shown("queue", "list", columns=120).splitlines()[-1]

    assert oldest["default"] is oldest["mail"] is None
    assert oldest["ocr"] is not None
    assert line.startswith("ocr")
    assert re.search(r" 0 +[0-9.]+ (ms|s|min)$", line.rstrip())


def test_list_of_a_store_without_queues_says_so(site: Site) -> None:
    with site.client():
        pass
    result = site.detent("queue", "list")

    assert (result.exit_code, result.stdout) == (0, "")
    assert "There are no queues" in result.stderr
    assert site.json("queue", "list") == []


def test_paused_queue_is_passed_over_until_it_is_resumed(busy: Site) -> None:
    paused = busy.told("queue", "pause", "ocr", "--reason", "the scanner is away", "--actor", "ops")
    with busy.client() as client:
        while_paused = client.claim(worker="w", queues=["ocr"])
    resumed = busy.told("queue", "resume", "ocr")
    with busy.client() as client:
        after = client.claim(worker="w", queues=["ocr"])

    assert paused.startswith("ocr paused ")
    assert paused.endswith("by ops: the scanner is away")
    assert resumed == "ocr open 1,200 jobs ready"
    assert (len(while_paused), len(after)) == (0, 1)


def test_queue_that_is_paused_already_stays_as_it_is(busy: Site) -> None:
    busy.detent("queue", "pause", "ocr", "--actor", "ann", "--reason", "first")
    queue = busy.json("queue", "pause", "ocr", "--actor", "bob", "--reason", "second")

    assert (queue.name, queue.paused_by, queue.paused_reason) == ("ocr", "ann", "first")


def test_limit_is_set_and_lifted(busy: Site) -> None:
    limited = busy.told("queue", "limit", "ocr", "--max", "1200")
    full = busy.detent("enqueue", "scan", "--queue", "ocr")
    lifted = busy.told("queue", "limit", "ocr", "--none")

    assert limited == "ocr open at most 1,200 jobs may wait in it, 1,200 ready now"
    assert "queue_full" in refused(full, 1)
    assert lifted == "ocr open any number of jobs may wait in it, 1,200 ready now"
    assert busy.detent("enqueue", "scan", "--queue", "ocr").exit_code == 0


@pytest.mark.parametrize("given", [(), ("--max", "5", "--none"), ("--max", "-1"), ("--max", "many")])
def test_limit_has_to_be_said_in_one_way(busy: Site, given: tuple[str, ...]) -> None:
    assert refused(busy.detent("queue", "limit", "ocr", *given), 2)


def test_queue_without_a_name_is_wrong_usage(busy: Site) -> None:
    assert "queue is empty; give it a name" in refused(busy.detent("queue", "pause", ""), 2)


def test_explain_names_the_pause_and_the_command_that_ends_it(busy: Site) -> None:
    with busy.client() as client:
        client.enqueue("scan", queue="two words", job_id="42")
    busy.detent("queue", "pause", "two words", "--actor", "ann")

    told = busy.told("job", "explain", "42")

    assert "queue 'two words' is paused, nothing is claimed from it; ann paused it (for " in told
    assert "detent queue resume 'two words'" in told
    busy.detent("queue", "resume", "two words")
    assert "nobody serves queue 'two words'; other queues are served, by 'w1' (due for " in busy.told(
        "job", "explain", "42"
    )
