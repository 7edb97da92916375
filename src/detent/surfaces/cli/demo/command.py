"""`detent demo`: the main job of Detent in one command, on a file of its own, with the proof at the end."""

import tempfile
from pathlib import Path
from typing import Final

import click

from detent.client import connect
from detent.client.sync import run
from detent.lifecycle.bounds import LEASE_S_MIN
from detent.lifecycles import BUILT_IN
from detent.surfaces.cli.chatter import remark
from detent.surfaces.cli.command import Command
from detent.surfaces.cli.demo.asked import Asked
from detent.surfaces.cli.demo.closing import show_report
from detent.surfaces.cli.demo.display import displayed, introduce
from detent.surfaces.cli.demo.playing import play, store_of
from detent.surfaces.cli.demo.report import DemoReport
from detent.surfaces.cli.demo.scene import LEASE_S
from detent.surfaces.cli.demo.script import JOBS_MAX, JOBS_MIN
from detent.surfaces.cli.failure import Failure, Missing
from detent.surfaces.cli.options import JSON
from detent.surfaces.cli.output import write_json

SEED: Final = 4
WORKERS: Final = click.IntRange(2, 8)  # one of them is killed
JOBS: Final = click.IntRange(JOBS_MIN, JOBS_MAX)


@click.command(cls=Command, example="detent demo\ndetent demo --file demo.db --jobs 100 --json", shape=DemoReport)
@click.option("--file", "path", metavar="PATH", help="Keep the jobs here; by default in a new, temporary folder.")
@click.option("--jobs", default=400, show_default=True, type=JOBS, metavar="N", help="How many jobs.")
@click.option("--workers", default=4, show_default=True, type=WORKERS, metavar="N", help="Processes that share them.")
@click.option("--seed", default=SEED, show_default=True, type=click.IntRange(0), metavar="N", help="Draws other jobs.")
@JSON
def demo(path: str | None, jobs: int, workers: int, seed: int, as_json: bool) -> None:
    """Watch hundreds of jobs move, fail, retry and recover, then see the proof that every move was legal.

    Several processes share one SQLite file, and one of them is killed while it works. It takes some fifteen seconds,
    and leaves the file for you to look into. $DETENT_URL is not touched. Exit 1: something was found that must not be.
    """
    file = Path(tempfile.mkdtemp(prefix="detent-demo-")) / "demo.db" if path is None else _usable(Path(path))
    asked = Asked(file=file.resolve(), jobs=jobs, workers=workers, seed=seed)
    _refuse_foreign(asked)
    with store_of(asked) as client:
        introduce(_introduction(asked), as_json=as_json)
        try:
            with displayed(as_json=as_json) as show:
                report = play(client, asked, show)
        except KeyboardInterrupt:
            remark(f"Stopped; no process is left behind. What was done so far is in {asked.file}")
            raise
    if as_json:
        write_json(report)
    else:
        show_report(report)
    if report.violations:
        raise SystemExit(1)


def _usable(file: Path) -> Path:
    if not file.parent.is_dir():
        raise Missing(f"there is no folder '{file.parent}'. Make it first, or leave --file out for a temporary one")
    if file.is_dir():
        raise Failure(f"'{file}' is a folder. Name a file in it, such as '{file / 'demo.db'}'")
    return file


def _refuse_foreign(asked: Asked) -> None:
    """A file that holds something, but no store, is somebody's own."""
    is_used = asked.file.exists() and asked.file.stat().st_size > 0
    if is_used and all(each.applied_at is None for each in run(connect(asked.url).store.migrations())):
        raise Failure(f"'{asked.file}' holds tables of somebody's own. Name a new file, or leave --file out")


def _introduction(asked: Asked) -> list[str]:
    return [
        f"{asked.jobs} jobs, {len(BUILT_IN)} lifecycles, {asked.workers} workers, one SQLite file: {asked.file}",
        f"Leases last {LEASE_S:g} s here, not {LEASE_S_MIN:g} s or more (allow_unusual_lease=True): some will run out.",
        "",
    ]
