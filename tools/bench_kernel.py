"""What the kernel costs: one `decide`, by verb and over a life; making a lifecycle; importing the package.

Each figure is the best of several rounds, since noise on a busy machine only ever adds. `--json` for programs.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from timeit import repeat
from typing import Final

from msgspec.structs import replace

from detent.errors import Refused
from detent.kernel import Change, Error, Job, decide
from detent.kernel.command import Claim, Command, Complete, Enqueue, Fail, Renew, Start
from detent.lifecycles import BUILT_IN, STANDARD

ROUNDS: Final = 200
CALLS: Final = 100  # short rounds: some of them find the machine idle
# How long `yardstick` takes on the machine the figures in the README are from, when nothing else runs on it.
YARDSTICK_US: Final = 0.42
MICRO: Final = 1_000_000
APP: Final = "from detent import App"
# One life as workers live it: a few renewals while it runs, and now and then someone who is too late.
LIFE: Final = ("enqueue", "claim", "start", "renew", "renew", "renew", "renew", "refused", "complete")


def best_s(act: Callable[[], object], *, calls: int) -> float:
    """Seconds per call, in the best round."""
    return min(repeat(act, number=calls, repeat=ROUNDS)) / calls


def yardstick() -> dict[str, int]:
    """A fixed piece of plain Python. A machine that takes longer for it is slower, or busy, by that factor."""
    counted: dict[str, int] = {}
    for name in ("a", "b", "c", "d", "e", "f", "g", "h"):
        counted[name] = len(counted) + 1
    return counted


def slowness() -> float:
    """How much slower this machine is now than the one the bounds were set on; never less than 1."""
    return max(1.0, MICRO * best_s(yardstick, calls=CALLS) / YARDSTICK_US)


def cases() -> dict[str, tuple[Job | None, Command]]:
    """By name: the record and the command that a decision is timed on."""
    queued = _after(None, Enqueue(job_id="j", kind="k"))
    assigned = _after(queued, Claim(worker="w"))
    running = _after(assigned, Start(worker="w", attempt=1))
    return {
        "enqueue": (None, Enqueue(job_id="j", kind="k")),
        "claim": (queued, Claim(worker="w")),
        "start": (assigned, Start(worker="w", attempt=1)),
        "renew": (running, Renew(worker="w", attempt=1)),
        "complete": (running, Complete(worker="w", attempt=1)),
        "fail": (running, Fail(worker="w", attempt=1, error=Error("TransientError", "again"))),
        "refused": (running, Complete(worker="other", attempt=1)),
    }


def decide_us() -> dict[str, float]:
    """Microseconds per decision, by verb; `average` is over one life."""
    figures = {}
    for name, (job, command) in cases().items():
        figures[name] = MICRO * best_s(lambda job=job, command=command: decide(STANDARD, job, command, 0), calls=CALLS)  # type: ignore[misc]
    return figures | {"average": sum(figures[name] for name in LIFE) / len(LIFE)}


def build_ms() -> float:
    """Milliseconds to make, check and compile the slowest built-in lifecycle."""
    return max(1_000 * best_s(lambda made=made: replace(made).table, calls=3) for made in BUILT_IN.values())  # type: ignore[misc]


def import_ms(what: str = "import detent") -> float:
    """Milliseconds that an import adds to starting Python."""
    # Its own time, not the clock's: others may be busy meanwhile.
    program = f"import time; t = time.process_time(); {what}; print(time.process_time() - t)"
    runs = [subprocess.run([sys.executable, "-c", program], capture_output=True, check=True) for _ in range(7)]
    return 1_000 * min(float(run.stdout) for run in runs)


def _after(job: Job | None, command: Command) -> Job:
    answer = decide(STANDARD, job, command, 0)
    assert isinstance(answer, Change), str(answer) if isinstance(answer, Refused) else answer
    return answer.job


def main() -> None:
    decisions, building, importing, declaring = decide_us(), build_ms(), import_ms(), import_ms(APP)
    if "--json" in sys.argv:
        figures = {
            "decide_us": decisions,
            "build_lifecycle_ms": building,
            "import_ms": importing,
            "import_app_ms": declaring,
        }
        sys.stdout.write(json.dumps(figures) + "\n")
        return
    for name, microseconds in decisions.items():
        sys.stdout.write(f"decide {name:<9} {microseconds:5.2f} µs\n")
    sys.stdout.write(
        f"build a lifecycle {building:.2f} ms\nimport detent {importing:.0f} ms\n{APP} {declaring:.0f} ms\n"
    )


if __name__ == "__main__":
    main()
