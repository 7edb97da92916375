"""The store's speed beside plain apsw on the same tables, in pairs, so that a busy machine slows both.

The bounds leave room for noise; `make bench` measures more carefully, and at full size with BENCH_ARGS.
"""

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from detent.client import connect
from detent.testing.bench import BATCH, measure, on_sqlite
from tests.figures import Show
from tools.bench_kernel import slowness
from tools.bench_store import claims, fill, verify

ENDED: Final = 20_000
# 1,000,000 jobs in 120 s.
VERIFY_US_MAX: Final = 300  # three times what it is on a machine that does nothing else
MEMORY_MIB_MAX: Final = 40

pytestmark = pytest.mark.alone

_PEAK: Final = """
import resource, sys
from pathlib import Path
from tools.bench_store import verify
print(verify(Path(sys.argv[1]))["peak_mib"])
"""


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("full") / "full.db"
    fill(path, ENDED)
    return path


def test_lives_in_batches_have_half_the_speed_of_plain_apsw(tmp_path: Path, show: Show) -> None:
    with on_sqlite(tmp_path, BATCH) as (raw, client):
        *_, life = measure(raw, client, BATCH, pairs=7)

    show(life)
    assert life.ratio >= 0.42


def test_lives_one_at_a_time_have_most_of_the_speed_of_plain_apsw(tmp_path: Path, show: Show) -> None:
    with on_sqlite(tmp_path, 1) as (raw, client):
        *_, life = measure(raw, client, 1, pairs=7)

    show(life)
    assert life.ratio >= 0.5


def test_claims_do_not_feel_the_history_in_the_file(tmp_path: Path, full: Path, show: Show) -> None:
    figures = claims(tmp_path, full, pairs=7)

    show(figures)
    assert figures["ratio"] <= 1.35


@pytest.mark.requirement("ALL-15")
def test_store_of_raw_rows_is_verified_clean_and_quickly(full: Path, show: Show) -> None:
    figures = verify(full)

    show(figures)
    assert figures["jobs"] >= ENDED
    assert figures["violations"] == 0
    # Its own time, not the clock's: others may be busy meanwhile.
    assert figures["cpu_seconds"] / figures["jobs"] * 1e6 <= VERIFY_US_MAX * slowness()


def test_memory_of_verify_does_not_grow_with_the_store(tmp_path: Path, full: Path) -> None:
    small = tmp_path / "small.db"
    fill(small, ENDED // 20)

    assert peak_mib(full) - peak_mib(small) <= MEMORY_MIB_MAX


def test_memory_of_verify_does_not_grow_with_the_length_of_logs(tmp_path: Path) -> None:
    small, large = tmp_path / "few.db", tmp_path / "many.db"
    for path, renewals in ((small, 10), (large, 2_000)):
        with connect(f"sqlite:///{path}?synchronous=normal") as client:
            client.enqueue_many([{"kind": "scan"}] * 20)
            fences = [{"job_id": job.id, "worker": "w", "attempt": 1} for job in client.claim(worker="w", limit=20)]
            for _ in range(renewals):
                client.renew_many(fences)

    assert peak_mib(large) - peak_mib(small) <= MEMORY_MIB_MAX


def peak_mib(path: Path) -> int:
    child = [sys.executable, "-c", _PEAK, str(path)]
    return int(subprocess.run(child, check=True, capture_output=True, text=True, timeout=60).stdout)
