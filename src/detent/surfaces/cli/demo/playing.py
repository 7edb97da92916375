"""A demo from its beginning to its report: the store made ready, the processes started, watched, and gone again."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Final

import detent
from detent.client import SyncClient
from detent.client.sync import run
from detent.surfaces.cli.demo.asked import Asked
from detent.surfaces.cli.demo.cast import LEAVE_S, Cast
from detent.surfaces.cli.demo.report import DemoReport, audit, report_of
from detent.surfaces.cli.demo.script import JOBS_MIN, write_script
from detent.surfaces.cli.demo.stage import Stage
from detent.surfaces.cli.failure import Failure

LIMIT_S: Final = 23.0  # leaving and the audit come after it: 30 s in all
TICK_S: Final = 0.1


@contextmanager
def store_of(asked: Asked) -> Iterator[SyncClient]:
    """The store of a demo, which is its own: no address from the environment, and nobody's jobs in it."""
    with detent.connect(asked.quick_url) as client:
        _refuse_used(client, asked.file)
        yield client


def play(client: SyncClient, asked: Asked, show: Callable[[Stage], None]) -> DemoReport:
    began_s = monotonic()
    script = write_script(asked.jobs, asked.seed)
    with Cast(url=asked.quick_url, jobs=asked.jobs, seed=asked.seed, capacity=asked.capacity) as cast:
        stage = Stage(client, cast, script, began_s=began_s)
        cast.start_control()
        for _ in range(asked.workers):
            cast.start_worker()
        _watch(stage, show, asked)
        _see_off(stage, show)
    found = audit(client, script)
    return report_of(asked, found, stage.blow, repeats=stage.told["again"], seconds=monotonic() - began_s)


def _refuse_used(client: SyncClient, file: Path) -> None:
    """Whosever jobs they are: of every tenant."""
    if run(client.client.store.stories(None, 1)).items:
        raise Failure(
            f"'{file}' has jobs in it already, and a demo wants a file of its own. "
            "Name a new one, remove this one, or leave --file out"
        )


def _watch(stage: Stage, show: Callable[[Stage], None], asked: Asked) -> None:
    while not stage.is_over:
        if stage.elapsed_s > LIMIT_S:
            raise Failure(_overdue(stage, asked))
        stage.look(monotonic())
        stage.direct()
        show(stage)
        sleep(TICK_S)


def _overdue(stage: Stage, asked: Asked) -> str:
    left = asked.jobs - stage.tally.ended
    return (
        f"the demo is not done after {LIMIT_S:g} s: {left} of {asked.jobs} jobs have not ended. The machine may be too "
        f"busy: try --jobs {max(asked.jobs // 2, JOBS_MIN)}. What was done so far is in {asked.file}"
    )


def _see_off(stage: Stage, show: Callable[[Stage], None]) -> None:
    """Workers finish what they are at. Who was silent comes back only now, perhaps, and is told that it is late."""
    stage.conclude()
    stage.cast.ask_to_leave()
    until_s = monotonic() + LEAVE_S
    while not stage.cast.are_gone() and monotonic() < until_s:
        stage.look(monotonic())
        show(stage)
        sleep(TICK_S)
    stage.look(monotonic())
    show(stage)
