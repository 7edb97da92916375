"""The bounds on what the kernel may cost. The best of many rounds, on a yardstick: noise is not the kernel's fault."""

import subprocess
import sys

import pytest

from tools.bench_kernel import APP, build_ms, decide_us, import_ms, slowness

DECIDE_US_MAX = 2.0
BUILD_MS_MAX = 5.0
IMPORT_MS_MAX = 100.0
# What only a worker needs, or who has a server, a calendar or rules.
LATER = (
    "detent.runtime.worker",
    "detent.runtime.context",
    "detent.runtime.gate",
    "detent.testing",
    "cronsim",
    "psycopg",
)

pytestmark = pytest.mark.alone


def test_a_decision_takes_two_microseconds_at_most_over_a_life() -> None:
    before, average, after = slowness(), decide_us()["average"], slowness()

    assert average <= DECIDE_US_MAX * max(before, after)


def test_a_lifecycle_is_made_and_checked_in_five_milliseconds() -> None:
    assert build_ms() <= BUILD_MS_MAX * slowness()


def test_the_package_is_imported_in_a_tenth_of_a_second() -> None:
    assert import_ms() <= IMPORT_MS_MAX * slowness()


def test_a_program_that_declares_and_enqueues_jobs_does_not_import_the_worker() -> None:
    program = f"""
import sys
{APP}
app = App("sqlite:///:memory:")
@app.job
def mail(to: str) -> None: ...
with app:
    mail.enqueue("ann")
print([name for name in {LATER!r} if name in sys.modules])
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert ran.stdout == "[]\n"
