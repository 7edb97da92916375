"""`detent event tail`: every event once, in the order of the log, to its end or for as long as it grows."""

import json
import signal
import subprocess
from datetime import UTC, datetime

import pytest

from detent.testing import VirtualClock
from detent.wire.http.events import EventShape
from tests.surfaces.running import Site, refused, refused_in_json, run_one, succeed
from tests.surfaces.shelf import at_time

EVENING = int(datetime(2025, 6, 15, 23, 59, 30, tzinfo=UTC).timestamp() * 1_000_000)
JOBS_OF_THE_OTHER = 300


@pytest.fixture
def busy(site: Site) -> Site:
    """Twelve events of three jobs."""
    with site.client() as client:
        succeed(client, "1", "done")
        succeed(client, "2")
        run_one(client, "3", queue="slow", worker="w2")
        client.cancel("3", mode="hard", actor="bob", reason="wrong file")
    return site


def tail(site: Site, *arguments: str) -> list[EventShape]:
    found = site.json("event", "tail", "--no-follow", *arguments)
    assert all(isinstance(event, EventShape) for event in found)
    return list(found)


def names(events: list[EventShape]) -> list[str]:
    return [f"{event.job_id}:{event.rev}" for event in events]


def test_last_events_are_lines_of_when_which_where_what_who_and_why(site: Site) -> None:
    clock = VirtualClock(EVENING)
    with at_time(site.path, clock) as client:
        client.enqueue("scan", job_id="42", queue="ocr", actor="ann")
        clock.pass_s(60)
        client.cancel("42", actor="bob", reason="wrong file")

    assert site.shown("event", "tail", "--no-follow").splitlines() == [
        "2025-06-15",
        "23:59:30.000  42  queued     enqueued by ann as scan in queue ocr",
        "2025-06-16",
        "00:00:30.000  42  cancelled  cancelled by bob  wrong file",
    ]


def test_ten_are_shown_unless_another_number_is_asked_for(busy: Site) -> None:
    everything = [f"{job_id}:{rev}" for job_id in "123" for rev in range(1, 5)]

    assert names(tail(busy)) == everything[-10:]
    assert names(tail(busy, "--last", "3")) == everything[-3:]
    assert names(tail(busy, "--last", "1000")) == everything
    assert tail(busy, "--last", "0") == []


def test_tail_goes_on_after_a_cursor(busy: Site) -> None:
    events = tail(busy, "--last", "12")

    assert events[4].cursor is not None
    assert names(tail(busy, "--after", events[4].cursor)) == names(events[5:])


def test_everything_after_a_cursor_is_shown_however_much_it_is(site: Site) -> None:
    with site.client() as client:
        client.enqueue_many([{"kind": "scan"} for _ in range(2_500)])

    assert len(tail(site, "--after", "0")) == 2_500


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        (("--job", "2"), ["2:1", "2:2", "2:3", "2:4"]),
        (("--type", "job_cancelled"), ["3:4"]),
        (("--verb", "claim"), ["1:2", "2:2", "3:2"]),
        (("--queue", "slow"), ["3:1", "3:2", "3:3", "3:4"]),
        (("--kind", "mail"), []),
        (("--correlation", "1"), ["1:1", "1:2", "1:3", "1:4"]),
        (("--since", "1h", "--verb", "enqueue"), ["1:1", "2:1", "3:1"]),
        (("--since", "2999-01-01"), []),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, tuple) else "",
)
def test_each_filter_finds_what_it_names(busy: Site, filters: tuple[str, ...], found: list[str]) -> None:
    assert names(tail(busy, *filters)) == found
    assert names(tail(busy, "--after", "0", *filters)) == found


def test_all_since_a_time_are_meant_and_not_just_ten(busy: Site) -> None:
    assert len(tail(busy, "--since", "1h")) == 12


def test_json_is_a_document_to_a_line(busy: Site) -> None:
    lines = busy.shown("event", "tail", "--no-follow", "--last", "2", "--json").splitlines()

    assert [json.loads(line)["verb"] for line in lines] == ["start", "cancel"]


def test_tail_ends_when_nothing_has_happened_for_a_while(busy: Site) -> None:
    assert busy.shown("event", "tail", "--last", "1", "--timeout", "10ms").count("\n") == 2


def test_row_stays_on_one_line_where_nobody_said_how_wide(site: Site) -> None:
    site.shown("enqueue", "scan", "--id", "42", "--reason", "because " * 50)

    unknown = site.shown("event", "tail", "--no-follow", env={"COLUMNS": None})
    narrow = site.shown("event", "tail", "--no-follow", columns=60)

    assert len(unknown.splitlines()) == 2
    assert max(map(len, narrow.splitlines())) <= 60


@pytest.mark.parametrize(
    ("option", "code"),
    [(("--last", "1001"), 2), (("--verb", "clam"), 2), (("--after", "x"), 2), (("--queue", ""), 2)],
    ids=lambda given: " ".join(given) if isinstance(given, tuple) else "",
)
def test_what_cannot_be_meant_is_refused(busy: Site, option: tuple[str, ...], code: int) -> None:
    assert refused(busy.detent("event", "tail", "--no-follow", *option), code)
    assert refused_in_json(busy.detent("event", "tail", "--no-follow", *option, "--json"), code)["code"]


def test_columns_stand_below_one_another_for_what_was_seen_so_far(site: Site) -> None:
    with site.client() as client:
        for job_id in ("1", "a-longer-one", "2"):
            client.enqueue("scan", job_id=job_id)
        client.cancel("2", actor="bob")

    _, *lines = site.shown("event", "tail", "--no-follow", columns=160).splitlines()
    assert [line[14:40] for line in lines] == [
        "1             queued     e",
        "a-longer-one  queued     e",
        "2             queued     e",
        "2             cancelled  c",
    ]


def test_text_that_is_wrapped_goes_on_below_itself(site: Site) -> None:
    site.detent("enqueue", "scan", "--id", "42", "--reason", "because " * 10)

    _, first, *others = site.shown("event", "tail", "--no-follow", columns=60).splitlines()

    indent = first.index("enqueued by")
    assert others
    assert all(line[:indent].isspace() and line[indent] != " " for line in others)


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (
            ("--type", "job_claimd"),
            "has events of type 'job_claimd'. Did you mean 'job_claimed'? See: detent lifecycle list",
        ),
        (("--type", "job_progress"), "has events of type 'job_progress'."),
        (("--job", "33"), "there is no job 33 in tenant 'default'; look at the id and the tenant. Did you mean '3'?"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, tuple) else "",
)
def test_what_no_event_can_have_is_a_slip(busy: Site, option: tuple[str, ...], said: str) -> None:
    assert said in refused(busy.detent("event", "tail", *option), 3)
    assert refused_in_json(busy.detent("event", "tail", *option, "--json"), 3)["code"] == "not_found"


@pytest.mark.parametrize("type_", ["job_queued", "job_heartbeat", "job_cancel_requested", "job_dead_lettered"])
def test_type_that_has_not_happened_yet_is_waited_for(busy: Site, type_: str) -> None:
    assert busy.detent("event", "tail", "--no-follow", "--type", type_).exit_code == 0


def test_queue_that_no_job_has_may_come_yet(busy: Site) -> None:
    result = busy.detent("event", "tail", "--no-follow", "--queue", "slwo")

    assert (result.exit_code, result.stdout) == (0, "")
    assert "No job has the queue 'slwo'. Did you mean 'slow'?" in result.stderr


def interrupted(process: "subprocess.Popen[str]") -> tuple[str, str]:
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=30)
    assert process.returncode == 0, stderr
    return stdout, stderr


def test_follower_sees_what_other_processes_write_each_event_once(site: Site) -> None:
    with site.client() as client:
        client.enqueue("scan", job_id="first")
        process = site.process("event", "tail", "--json")
        assert process.stdout is not None
        lines = [process.stdout.readline()]
        for number in range(JOBS_OF_THE_OTHER):
            client.enqueue("scan", job_id=str(number))
        lines += [process.stdout.readline() for _ in range(JOBS_OF_THE_OTHER)]
    rest, stderr = interrupted(process)

    seen = [json.loads(line)["job_id"] for line in lines]
    assert seen == ["first", *map(str, range(JOBS_OF_THE_OTHER))]
    assert (rest, stderr) == ("", "")


def test_interrupt_is_the_ordinary_way_to_end_it(busy: Site) -> None:
    process = busy.process("event", "tail", "--last", "1")
    assert process.stdout is not None
    shown = [process.stdout.readline() for _ in range(2)]

    assert interrupted(process) == ("", "")
    assert shown[1].endswith("cancelled by bob  wrong file\n")


def test_follower_whose_reader_has_left_ends_quietly(busy: Site) -> None:
    process = busy.process("event", "tail", "--last", "1")
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.readline()
    process.stdout.close()

    with busy.client() as client:  # the next event finds nobody to tell
        client.enqueue("scan")
    assert process.wait(30) == 0
    assert process.stderr is not None
    assert process.stderr.read() == ""
    process.stderr.close()
