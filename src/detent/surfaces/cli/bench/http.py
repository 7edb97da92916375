"""A service beside a store: each on one of its own, the service in another process."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from tempfile import TemporaryFile
from typing import Final

import msgspec
from msgspec import Struct

from detent.client import connect
from detent.client.verbs import CLAIM_MAX
from detent.surfaces.cli.bench.places import Place, scratch_folder
from detent.surfaces.cli.chatter import watched
from detent.surfaces.cli.failure import Failure
from detent.testing.bench import Comparison, address

PROGRAM: Final = "detent.surfaces.cli.bench.serving"
NEEDED: Final = ("starlette", "uvicorn", "urllib3")
LARGER: Final = 5  # times the batch that was asked for: how much the size of a request matters
GRACE_S: Final = 10.0


class Told(Struct, frozen=True):
    """Where the service is, and the token to use there."""

    address: str
    token: str


def over_http(place: Place, batch: int, pairs: int) -> tuple[list[Comparison], str]:
    """The comparisons, and where they were made."""
    if any(find_spec(name) is None for name in NEEDED):
        raise Failure("a service needs packages that are not installed; run: pip install 'detent[server]'")
    # Only whoever serves has what asks.
    from detent.testing.bench_http import Caller, compare_http

    batches = sorted({batch, min(LARGER * batch, CLAIM_MAX)})
    with (
        _stores(place) as (served, direct, where),
        _service(served) as told,
        Caller(told.address, told.token) as caller,
        connect(direct) as client,
        watched("measuring, pairs", total=len(batches) * (pairs + 1)) as watch,
    ):
        return [compare_http(client, caller, each, pairs=pairs, on_pair=watch.step) for each in batches], where


@contextmanager
def _stores(place: Place) -> Iterator[tuple[str, str, str]]:
    """Two addresses of empty stores, and where they are."""
    if place.server is None:
        with scratch_folder(place.folder) as folder:
            served, direct = (
                f"{address(folder / name)}?synchronous={place.synchronous}" for name in ("served.db", "direct.db")
            )
            yield served, direct, str(folder.parent)
        return
    # Only whoever has a server has its driver.
    from detent.testing.bench_postgres import scratch, translated

    with translated(place.server), scratch(place.server) as served, scratch(place.server) as direct:
        yield served, direct, place.host


@contextmanager
def _service(url: str) -> Iterator[Told]:
    """For as long as the block lasts."""
    with (
        TemporaryFile() as said,
        subprocess.Popen(
            [sys.executable, "-m", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(url.encode() + b"\n")
            process.stdin.flush()
            line = process.stdout.readline()
            if not line:
                said.seek(0)
                words = said.read().decode(errors="replace").strip().splitlines() or ["nothing"]
                raise Failure(f"the service did not begin; it said: {words[-1]}")
            yield msgspec.json.decode(line, type=Told)
            process.stdin.close()
            process.wait(GRACE_S)
        finally:
            process.kill()
