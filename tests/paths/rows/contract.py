"""The failure paths of `contract`: it has no retry and no cancel; what is lost stalls, and is queued again."""

from typing import Final

from detent.lifecycle import Compensation
from tests.paths.app import NOBODY
from tests.paths.path import LATER, LIMIT_S, SOON, Deed, Heir, Path, Told, cli, elsewhere, retry
from tests.paths.rows.standard import DONE as UNDONE

RUN: Final = ("claim claimed", "start running")
BEGUN: Final = ("enqueue queued", *RUN)
HELD: Final = ("enqueue queued", "claim claimed")
BACK: Final = ("stall stalled", "requeue queued", *RUN, "complete succeeded")
QUICK: Final = {"retry": retry(5)}

CONTRACT: Final = (
    Path(
        name="handler raises an error that passes",
        acts=("raise TransientError",),
        moves=(*BEGUN, "fail failed"),
        error=Told("TransientError", "engine"), failures=1,
        shows=("CON-01", "ALL-10"),
    ),
    Path(
        name="handler raises an error that passes, and failed jobs are run again",
        acts=("raise TransientError", "succeed"),
        policy=QUICK | {"rerun_failed": True},
        moves=(*BEGUN, "fail failed"),
        error=Told("TransientError", "engine"), failures=1,
        heir=Heir(what="rerun", moves=(*BEGUN, "complete succeeded"), retries=1),
        shows=("ALL-10",),
    ),
    Path(
        name="handler raises an error that does not pass",
        acts=("raise PermanentError",),
        moves=(*BEGUN, "fail failed"),
        error=Told("PermanentError", "engine"), failures=1,
    ),
    Path(
        name="payload does not fit the handler",
        payload={"acts": 7},
        moves=(*BEGUN, "fail failed"),
        error=Told("ValidationError", "validation", stage="input"), failures=1,
    ),
    Path(
        name="result cannot be encoded",
        acts=("return_what_is_no_result",),
        moves=(*BEGUN, "fail failed"),
        error=Told("PermanentError", "engine", stage="output"), failures=1,
    ),
    Path(
        name="completion is rolled back",
        acts=("roll_back",),
        moves=(*BEGUN, "fail failed"),
        error=Told("CompletionRolledBack", "engine", stage="commit", code="completion_rolled_back"), failures=1,
    ),
    Path(
        name="failed job is run again by an operator",
        acts=("raise PermanentError", "succeed"),
        deeds=(cli("failed", "job", "rerun"),),
        moves=(*BEGUN, "fail failed"),
        error=Told("PermanentError", "engine"), failures=1,
        heir=Heir(what="rerun", moves=(*BEGUN, "complete succeeded")),
        shows=("ALL-10",),
    ),
    Path(
        name="run limit is over",
        acts=("wait", "succeed"),
        policy=QUICK | {"timeout_s": LIMIT_S},
        moves=(*BEGUN, *BACK),
        last="TimedOut", attempts=2, failures=1, retries=1,
        shows=("CON-01", "ALL-16"),
    ),
    Path(
        name="run limit is over, and the budget used up",
        acts=("wait",),
        policy={"timeout_s": LIMIT_S, "retry": retry(1)},
        moves=(*BEGUN, "stall stalled"),
        by="reconciler", last="TimedOut", failures=1, retries=1, rests=True,
        shows=("CON-01", "ALL-16"),
    ),
    Path(
        name="budget is used up, and an operator sends it round again",
        acts=("wait", "succeed"),
        policy={"timeout_s": LIMIT_S, "retry": retry(1)},
        deeds=(cli("stalled", "job", "requeue"),),
        moves=(*BEGUN, *BACK),
        last="TimedOut", attempts=2, retries=1,
        shows=("CON-01",),
    ),
    Path(
        name="not started in time",
        kind="elsewhere",
        policy=QUICK | {"timeouts": {"claimed": 0.3}},
        moves=(*HELD, *BACK),
        last="TimedOut", attempts=2, failures=1, retries=1,
        shows=("CON-01", "ALL-16"),
    ),
    Path(
        name="taken from its worker",
        kind="thread", acts=("linger", "succeed"),
        policy=QUICK,
        deeds=(Deed("running", "scheduler", ("stall",)),),
        moves=(*BEGUN, *BACK),
        attempts=2, interruptions=1, notes=("late_result",),
        shows=("CON-01", "ALL-07"),
    ),
    Path(
        name="failed job is undone",
        acts=("raise PermanentError", "succeed"),
        policy={"compensate": Compensation(kind="undo")},
        moves=(*BEGUN, "fail failed"),
        error=Told("PermanentError", "engine"), failures=1, notes=("compensated",),
        heir=Heir(what="undo", moves=UNDONE),
        shows=("STD-19",),
    ),
    Path(
        name="worker is killed",
        kind="killed", acts=("save", "resume"),
        policy=SOON | QUICK,
        moves=(*BEGUN, *BACK),
        renews="running", last="LeaseExpired", attempts=2, crashes=1, retries=1, result={"page": 1},
        shows=("CON-01", "ALL-16"),
    ),
    Path(
        name="worker is killed, and the crash budget used up",
        kind="killed", acts=("wait_deaf",),
        policy=SOON | {"retry": retry(5, crashes_max=1)},
        moves=(*BEGUN, "stall stalled"),
        by="reconciler", last="LeaseExpired", crashes=1, retries=1, rests=True,
        shows=("ALL-16",),
    ),
    Path(
        name="worker is killed, and another reclaims the job",
        kind="killed", acts=("wait_deaf", "succeed"),
        policy=LATER | {"reclaim": True, "retry": retry(5, base_s=0)},
        moves=(*BEGUN, "stall stalled", *RUN, "complete succeeded"),
        instead=(*BEGUN, *BACK),  # a reconciler that looks again before any worker does has requeued it
        last="LeaseExpired", attempts=2, crashes=1, retries=1,
        shows=("CON-08",),
    ),
    Path(
        name="worker stands still for longer than its lease",
        kind="frozen", acts=("linger", "succeed"),
        policy=SOON | QUICK,
        moves=(*BEGUN, *BACK),
        last="LeaseExpired", attempts=2, crashes=1, retries=1, notes=("late_result",),
        shows=("ALL-07", "CON-03"),
    ),
    Path(
        name="worker is told to stop",
        kind="drained", acts=("save_at_the_end", "resume"),
        policy=QUICK,
        moves=(*BEGUN, *BACK),
        renews="running", attempts=2, interruptions=1, result={"page": 1},
        shows=("ALL-16",),
    ),
    Path(
        name="process dies with its handler",
        kind="process", acts=("exit", "succeed"),
        policy=SOON | QUICK,
        moves=(*BEGUN, *BACK),
        last="LeaseExpired", attempts=2, crashes=1, retries=1,
        shows=("ALL-16",),
    ),
    Path(
        name="who claimed it never starts it",
        kind="elsewhere",
        policy=SOON | QUICK,
        deeds=(elsewhere("claimed", "renew"),),
        moves=(*HELD, *BACK),
        renews="claimed", last="LeaseExpired", attempts=2, crashes=1, retries=1,
        shows=("CON-01",),
    ),
    Path(
        name="cancel is asked for, which there is none of",
        kind=NOBODY,
        deeds=(cli("queued", "job", "cancel", refused="illegal_move"),),
        moves=("enqueue queued",),
        by="client", attempts=0, rests=True,
        shows=("CON-01", "ALL-02"),
    ),
    Path(
        name="nobody serves its kind",
        kind=NOBODY,
        moves=("enqueue queued",),
        by="client", attempts=0, rests=True,
    ),
)  # fmt: skip
