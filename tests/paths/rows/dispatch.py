"""The failure paths of `dispatch`: nothing is tried twice, and what is lost is over."""

from typing import Final

from detent.lifecycle import Compensation
from tests.paths.path import LATER, LIMIT_S, SOON, Heir, Path, Told, cli, elsewhere, retry
from tests.paths.rows.standard import DONE as UNDONE

WAITING: Final = ("enqueue PENDING", "schedule SCHEDULED")
HELD: Final = (*WAITING, "claim DISPATCHED")
BEGUN: Final = (*HELD, "start RUNNING")
DONE: Final = (*BEGUN, "complete SUCCEEDED")
TRANSIENT: Final = Told("TransientError", "engine")
LOST: Final = Told("LeaseExpired", "system", "infrastructure_failure")

DISPATCH: Final = (
    Path(
        name="handler raises an error that passes",
        acts=("raise TransientError",),
        moves=(*BEGUN, "fail FAILED"),
        error=TRANSIENT, failures=1,
        shows=("DSP-07",),
    ),
    Path(
        name="handler raises an error that passes, and failed jobs are run again",
        acts=("raise TransientError", "succeed"),
        policy={"rerun_failed": True, "retry": retry(2)},
        moves=(*BEGUN, "fail FAILED"),
        error=TRANSIENT, failures=1,
        heir=Heir(what="rerun", moves=DONE, retries=1),
        shows=("DSP-07",),
    ),
    Path(
        name="handler raises an error that does not pass",
        acts=("raise PermanentError",),
        moves=(*BEGUN, "fail FAILED"),
        error=Told("PermanentError", "engine"), failures=1,
    ),
    Path(
        name="payload does not fit the handler",
        payload={"acts": 7},
        moves=(*BEGUN, "fail FAILED"),
        error=Told("ValidationError", "validation", stage="input"), failures=1,
    ),
    Path(
        name="result cannot be encoded",
        acts=("return_what_is_no_result",),
        moves=(*BEGUN, "fail FAILED"),
        error=Told("PermanentError", "engine", stage="output"), failures=1,
    ),
    Path(
        name="completion is rolled back",
        acts=("roll_back",),
        moves=(*BEGUN, "fail FAILED"),
        error=Told("CompletionRolledBack", "engine", stage="commit", code="completion_rolled_back"), failures=1,
    ),
    Path(
        name="run limit is over",
        acts=("wait",),
        policy={"timeout_s": LIMIT_S},
        moves=(*BEGUN, "time_out TIMEOUT"),
        by="reconciler", error=Told("TimedOut", "engine", "timeout"), failures=1,
    ),
    Path(
        name="job that timed out is run again by an operator",
        acts=("wait", "succeed"),
        policy={"timeout_s": LIMIT_S},
        deeds=(cli("TIMEOUT", "job", "rerun"),),
        moves=(*BEGUN, "time_out TIMEOUT"),
        by="reconciler", error=Told("TimedOut", "engine", "timeout"), failures=1,
        heir=Heir(what="rerun", moves=DONE),
        shows=("DSP-07", "ALL-10"),
    ),
    Path(
        name="not started in time",
        kind="elsewhere",
        policy={"timeouts": {"DISPATCHED": 0.3}},
        moves=(*HELD, "time_out TIMEOUT"),
        by="reconciler", error=Told("TimedOut", "system", "timeout", "input"), failures=1,
    ),
    Path(
        name="who claimed it is not heard of again",
        kind="elsewhere", deeds=(elsewhere("DISPATCHED", "renew"),),
        policy=SOON,
        moves=(*HELD, "expire TIMEOUT"),
        by="reconciler", renews="DISPATCHED", crashes=1,
        error=Told("LeaseExpired", "system", "infrastructure_failure", "input"),
    ),
    Path(
        name="worker is killed",
        kind="killed", acts=("save",),
        policy=SOON,
        moves=(*BEGUN, "expire TIMEOUT"),
        by="reconciler", renews="RUNNING", error=LOST, crashes=1,
        shows=("ALL-16",),
    ),
    Path(
        name="worker stands still for longer than its lease",
        kind="frozen", acts=("linger",),
        policy=SOON,
        moves=(*BEGUN, "expire TIMEOUT"),
        by="reconciler", error=LOST, crashes=1, notes=("late_result",),
        shows=("ALL-07", "DSP-06"),
    ),
    Path(
        name="worker is told to stop",
        kind="drained", acts=("wait",),
        policy=LATER,
        moves=(*BEGUN, "expire TIMEOUT"),
        by="reconciler", error=LOST, crashes=1,
        shows=("ALL-16",),
    ),
    Path(
        name="worker is killed, and what was done undone",
        kind="killed", acts=("wait_deaf", "succeed"),
        policy=SOON | {"compensate": Compensation(kind="undo")},
        moves=(*BEGUN, "expire TIMEOUT"),
        by="reconciler", error=LOST, crashes=1, notes=("compensated",),
        heir=Heir(what="undo", moves=UNDONE),
        shows=("STD-19",),
    ),
    Path(
        name="process dies with its handler",
        kind="process", acts=("exit",),
        moves=(*BEGUN, "fail FAILED"),
        error=Told("ProcessCrashed", "system"), crashes=1,
        shows=("ALL-16",),
    ),
)  # fmt: skip
