"""How a demo is drawn and logged, from a real log: no line too wide, nothing that jumps, every count in its place."""

from collections.abc import Iterator
from io import StringIO

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

import detent
from detent.client import SyncClient
from detent.lifecycles import BUILT_IN, STANDARD
from detent.surfaces.cli.demo.cast import Cast
from detent.surfaces.cli.demo.log import EVERY_S, Log, progress
from detent.surfaces.cli.demo.script import QUEUE, Part, write_script
from detent.surfaces.cli.demo.stage import Stage
from detent.surfaces.cli.demo.view import ECHO, ENDED, NEWS_MIN, TO_COME, UNDER_WAY, View, bar, flow

WIDTHS = [40, 60, 80, 100, 200]


@pytest.fixture
def client() -> Iterator[SyncClient]:
    with detent.connect("sqlite:///:memory:") as client:
        yield client


@pytest.fixture
def script() -> list[Part]:
    return write_script(400, seed=4)


@pytest.fixture
def stage(client: SyncClient, script: list[Part]) -> Iterator[Stage]:
    """Half of the jobs are there, and some of them claimed; no process is started."""
    client.enqueue_many(part.asked_for()[0] for part in script[:200])
    client.claim(worker="w1", queues=[QUEUE], limit=50)
    client.claim(worker="w2", queues=[QUEUE], limit=20, start=True)
    with Cast(url="sqlite:///:memory:", jobs=400, seed=4, capacity=8) as cast:
        stage = Stage(client, cast, script, began_s=0.0)
        for number in range(20):
            stage.news.add(float(number), f"something rather long that happened to job {number} " * 4, "green")
        yield stage


def drawn(stage: Stage, columns: int, rows: int = 50) -> list[str]:
    console = Console(file=StringIO(), width=columns, height=rows, force_terminal=True, highlight=False)
    with console.capture() as captured:
        console.print(View(stage))
    return [Text.from_ansi(line).plain for line in captured.get().splitlines()]


@pytest.mark.parametrize("columns", WIDTHS)
def test_no_line_is_wider_than_the_terminal(columns: int, stage: Stage) -> None:
    stage.look(3.0)

    assert max(cell_len(line) for line in drawn(stage, columns)) <= columns


@pytest.mark.parametrize("columns", WIDTHS)
def test_every_state_is_shown_with_its_count(columns: int, stage: Stage, client: SyncClient) -> None:
    stage.look(3.0)

    words = " ".join(" ".join(drawn(stage, columns)).split())
    for (_, state), count in client.count(by=["lifecycle", "state"]).items():
        assert f" {state} {count} " in words, state


@pytest.mark.parametrize("columns", WIDTHS)
def test_the_picture_keeps_its_shape_while_counts_grow(columns: int, stage: Stage) -> None:
    before = drawn(stage, columns)
    stage.look(3.0)
    after = drawn(stage, columns)

    assert len(before) == len(after)
    assert rows_of_lifecycles(before) == rows_of_lifecycles(after)


def rows_of_lifecycles(lines: list[str]) -> list[int]:
    return [row for row, line in enumerate(lines) if line.split(" ")[0] in BUILT_IN]


@pytest.mark.parametrize(("columns", "rows", "news"), [(60, 24, 3), (80, 24, 4), (60, 50, 6), (200, 50, 6)])
def test_news_and_air_give_way_where_the_terminal_is_low(columns: int, rows: int, news: int, stage: Stage) -> None:
    stage.look(3.0)

    lines = drawn(stage, columns, rows)

    assert len(lines) <= rows
    assert sum("something rather long" in line for line in lines) >= news


@pytest.mark.parametrize(("rows", "news"), [(40, 14), (45, 19)])
def test_high_terminal_is_filled_with_the_story(rows: int, news: int, stage: Stage) -> None:
    stage.look(3.0)

    lines = drawn(stage, 80, rows)

    assert sum(line.startswith(" ") and " s  " in line[:10] for line in lines) >= news
    assert len(lines) <= rows


@pytest.mark.parametrize("rows", [12, 15, 18])
def test_very_low_terminal_has_the_totals_and_the_story_before_the_states(rows: int, stage: Stage) -> None:
    stage.look(3.0)

    lines = drawn(stage, 80, rows)

    assert len(lines) <= rows
    assert len(rows_of_lifecycles(lines)) == len(BUILT_IN)
    assert any("moves " in line for line in lines)
    assert sum("something rather long" in line for line in lines) >= NEWS_MIN
    assert not any("dead_lettered" in line for line in lines)


@pytest.mark.parametrize("columns", WIDTHS[:-1])
def test_story_leaves_room_for_the_echo_of_an_interrupt(columns: int, stage: Stage) -> None:
    """A ^C that starts another line moves the picture, and leaves its title on the screen twice."""
    assert max(cell_len(line) for line in drawn(stage, columns) if "something" in line) == columns - ECHO


def test_a_bar_is_filled_as_far_as_jobs_are_there() -> None:
    counts = dict.fromkeys((state.name for state in STANDARD.states), 0) | {"succeeded": 5, "running": 3, "queued": 2}

    line = bar(STANDARD, counts, 20, 40)

    assert line.plain == ENDED * 10 + UNDER_WAY * 10 + TO_COME * 20
    assert [str(span.style) for span in line.spans][:3] == ["green", "cyan", "blue"]


def test_parts_flow_over_as_many_lines_as_they_need_unbroken() -> None:
    parts = [Text("alpha"), Text("beta"), Text("gamma"), Text("a part longer than a line")]

    lines = [line.plain for line in flow(parts, 14, between=" · ", indent=2)]

    assert lines == ["  alpha · beta", "  gamma", "  a part longer than a line"]


def test_the_counts_are_those_of_the_store(stage: Stage, client: SyncClient) -> None:
    stage.look(3.0)

    shown = {key: count for key, count in stage.tally.counts.items() if count}
    assert shown == client.count(by=["lifecycle", "state"])
    assert stage.tally.moves == sum(job.rev for job in client.find(limit=1_000))


def test_a_look_takes_in_each_event_once(stage: Stage, client: SyncClient) -> None:
    stage.look(1.0)
    moves = stage.tally.moves
    stage.look(2.0)

    assert stage.tally.moves == moves > 0


def test_what_others_enqueue_meanwhile_is_left_to_the_audit(stage: Stage, client: SyncClient) -> None:
    client.enqueue("intruder", job_id="intruder-001")

    stage.look(1.0)

    assert "intruder-001" not in stage.tally.states


def test_the_log_tells_news_once_and_how_far_it_is_now_and_then(stage: Stage) -> None:
    lines: list[str] = []
    log = Log(lines.append)
    stage.look(EVERY_S / 2)
    log.show(stage)
    told = len(lines)
    stage.look(EVERY_S)
    log.show(stage)
    log.show(stage)

    assert told == len(stage.news.items)
    assert lines[told:] == [f"{EVERY_S:5.1f} s  {progress(stage)}"]


def test_every_lifecycle_has_a_name_that_fits(stage: Stage) -> None:
    lines = drawn(stage, 60)

    assert all(any(line.startswith(f"{name} ") for line in lines) for name in BUILT_IN)
