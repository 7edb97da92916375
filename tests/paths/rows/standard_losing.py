"""The failure paths of `standard` on which an attempt is lost: time limits, and workers that are gone."""

from typing import Final

from detent.lifecycle import Compensation
from tests.paths.path import LIMIT_S, SOON, Heir, Path, Told, elsewhere, retry
from tests.paths.rows.standard import BEGUN, RUN

HELD: Final = ("enqueue queued", "claim assigned")
LOST: Final = Told("LeaseExpired", "system", "infrastructure_failure")
OVERTIME: Final = Told("TimedOut", "engine", "timeout")

STANDARD_LOSING: Final = (
    Path(
        name="run limit is over",
        acts=("wait", "succeed"),
        policy={"timeout_s": LIMIT_S, "retry": retry(3)},
        moves=(*BEGUN, "time_out queued", *RUN, "complete succeeded"),
        last="TimedOut", attempts=2, failures=1, retries=1,
        shows=("ALL-16",),
    ),
    Path(
        name="run limit is over, and its handler does not listen",
        acts=("wait_deaf",),
        policy={"timeout_s": LIMIT_S, "retry": retry(1)},
        moves=(*BEGUN, "time_out dead_lettered"),
        by="owner or reconciler", error=OVERTIME, failures=1,
        shows=("ALL-16", "STD-09"),
    ),
    Path(
        name="run limit is over elsewhere",
        kind="elsewhere",
        policy={"timeout_s": LIMIT_S, "retry": retry(1)},
        deeds=(elsewhere("assigned", "start"),),
        moves=(*BEGUN, "time_out dead_lettered"),
        by="reconciler", error=OVERTIME, failures=1,
    ),
    Path(
        name="worker is killed",
        kind="killed", acts=("save", "resume"),
        policy=SOON,
        moves=(*BEGUN, "expire queued", *RUN, "complete succeeded"),
        renews="running", last="LeaseExpired", attempts=2, crashes=1, retries=1, result={"page": 1},
        shows=("STD-03", "STD-04", "ALL-16"),
    ),
    Path(
        name="worker is killed, and the crash budget used up",
        kind="killed", acts=("wait_deaf",),
        policy=SOON | {"retry": retry(5, crashes_max=1)},
        moves=(*BEGUN, "expire dead_lettered"),
        by="reconciler", error=LOST, crashes=1,
        shows=("STD-04", "STD-09", "ALL-16"),
    ),
    Path(
        name="worker is killed, the crash budget used up, and what was done undone",
        kind="killed", acts=("wait_deaf", "succeed"),
        policy=SOON | {"retry": retry(5, crashes_max=1), "compensate": Compensation(kind="undo")},
        moves=(*BEGUN, "expire dead_lettered"),
        by="reconciler", error=LOST, crashes=1, notes=("compensated",),
        heir=Heir(what="undo", moves=(*BEGUN, "complete succeeded")),
        shows=("STD-19",),
    ),
    Path(
        name="worker stands still for longer than its lease",
        kind="frozen", acts=("linger", "succeed"),
        policy=SOON,
        moves=(*BEGUN, "expire queued", *RUN, "complete succeeded"),
        last="LeaseExpired", attempts=2, crashes=1, retries=1, notes=("late_result",),
        shows=("ALL-07", "STD-04"),
    ),
    Path(
        name="worker is told to stop",
        kind="drained", acts=("save_at_the_end", "resume"),
        moves=(*BEGUN, "release queued", *RUN, "complete succeeded"),
        attempts=2, interruptions=1, result={"page": 1},
        shows=("ALL-16",),
    ),
    Path(
        name="process dies with its handler",
        kind="process", acts=("exit", "succeed"),
        policy={"retry": retry(3)},
        moves=(*BEGUN, "retry queued", *RUN, "complete succeeded"),
        last="ProcessCrashed", attempts=2, crashes=1, retries=1,
        shows=("ALL-16",),
    ),
    Path(
        name="process dies with its handler every time",
        kind="process", acts=("exit",),
        policy={"retry": retry(5, crashes_max=2)},
        moves=(*BEGUN, "retry queued", *RUN, "dead_letter dead_lettered"),
        error=Told("ProcessCrashed", "system", "infrastructure_failure"), attempts=2, crashes=2, retries=1,
        shows=("ALL-16", "STD-09"),
    ),
    Path(
        name="who claimed it never starts it",
        kind="elsewhere",
        policy=SOON,
        moves=(*HELD, "expire queued", *RUN, "complete succeeded"),
        last="LeaseExpired", attempts=2, crashes=1, retries=1,
        shows=("STD-04",),
    ),
    Path(
        name="who claimed it never starts it, and the crash budget is used up",
        kind="elsewhere",
        policy=SOON | {"retry": retry(5, crashes_max=1)},
        moves=(*HELD, "expire dead_lettered"),
        by="reconciler", error=Told("LeaseExpired", "system", "infrastructure_failure", "input"), crashes=1,
        shows=("STD-04",),
    ),
    Path(
        name="who claimed it gives it back before it starts",
        kind="elsewhere",
        deeds=(elsewhere("assigned", "renew"), elsewhere("assigned", "release")),
        moves=(*HELD, "release queued", *RUN, "complete succeeded"),
        renews="assigned", attempts=2, interruptions=1,
    ),
)  # fmt: skip
