"""The failure paths of `engine`: every failure ends in `failed`, with its category."""

from typing import Final

from detent.lifecycle import Compensation
from tests.paths.app import NOBODY
from tests.paths.path import LATER, LIMIT_S, SOON, Heir, Path, Told, cli, elsewhere, retry
from tests.paths.rows.standard import DONE as UNDONE

HELD: Final = ("enqueue queued", "claim dispatched")
BEGUN: Final = (*HELD, "start running")
DONE: Final = (*BEGUN, "complete completed")
LOST: Final = Told("LeaseExpired", "system", "infrastructure_failure")
# What a handler raises, and in which category the job has failed then (ENG-04).
CATEGORIES: Final = (
    ("LookupError", "engine"), ("PermanentError", "engine"), ("TransientError", "engine"),
    ("ValidationError", "validation"), ("InvalidInput", "validation"),
    ("ConnectionError", "system"), ("MemoryError", "system"), ("OutOfMemory", "system"),
)  # fmt: skip

ENGINE: Final = (
    *(
        Path(
            name=f"handler raises {each}",
            acts=(f"raise {each}",),
            moves=(*BEGUN, "fail failed"),
            error=Told(each, category), failures=1,
            shows=("ENG-03", "ENG-04", "ENG-05", "ENG-11"),
        )
        for each, category in CATEGORIES
    ),
    Path(
        name="handler raises an error that passes, and failed jobs are run again",
        acts=("raise TransientError", "succeed"),
        policy={"rerun_failed": True, "retry": retry(2)},
        moves=(*BEGUN, "fail failed"),
        error=Told("TransientError", "engine"), failures=1,
        heir=Heir(what="rerun", moves=DONE, retries=1),
        shows=("ENG-11", "ENG-05"),
    ),
    Path(
        name="handler raises an error that passes, is run again, and fails again",
        acts=("raise TransientError",),
        policy={"rerun_failed": True, "retry": retry(2)},
        moves=(*BEGUN, "fail failed"),
        error=Told("TransientError", "engine"), failures=1,
        heir=Heir(what="rerun", moves=(*BEGUN, "fail failed"), retries=1),
        shows=("ENG-11", "ENG-05"),
    ),
    Path(
        name="handler raises an error that does not pass, and failed jobs are run again",
        acts=("raise PermanentError",),
        policy={"rerun_failed": True, "retry": retry(2)},
        moves=(*BEGUN, "fail failed"),
        error=Told("PermanentError", "engine"), failures=1,
        shows=("ENG-11",),
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
        name="handler fails when it is halfway",
        acts=("report_and_fail",),
        moves=(*BEGUN, "fail failed"),
        error=Told("PermanentError", "engine"), failures=1, notes=("progress",),
        shows=("ENG-05",),
    ),
    Path(
        name="payload does not fit the handler",
        payload={"acts": 7},
        moves=(*BEGUN, "fail failed"),
        error=Told("ValidationError", "validation", stage="input"), failures=1,
        shows=("ENG-04",),
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
        heir=Heir(what="rerun", moves=DONE),
        shows=("ALL-10",),
    ),
    Path(
        name="nobody takes it in time",
        kind=NOBODY,
        policy={"timeouts": {"queued": 0.3}},
        moves=("enqueue queued", "time_out failed"),
        by="reconciler", error=Told("TimedOut", "queue", "timeout", "fetch"), attempts=0,
        shows=("ENG-02", "ENG-04", "ENG-05"),
    ),
    Path(
        name="not started in time",
        kind="elsewhere",
        policy={"timeouts": {"dispatched": 0.3}},
        moves=(*HELD, "time_out failed"),
        by="reconciler", error=Told("TimedOut", "system", "timeout", "input"), failures=1,
        shows=("ENG-02", "ENG-05"),
    ),
    Path(
        name="run limit is over",
        acts=("wait",),
        policy={"timeout_s": LIMIT_S},
        moves=(*BEGUN, "time_out failed"),
        by="reconciler", error=Told("TimedOut", "engine", "timeout"), failures=1,
        shows=("ENG-02", "ENG-05"),
    ),
    Path(
        name="who claimed it is not heard of again",
        kind="elsewhere", deeds=(elsewhere("dispatched", "renew"),),
        policy=SOON,
        moves=(*HELD, "expire failed"),
        by="reconciler", renews="dispatched", crashes=1,
        error=Told("LeaseExpired", "system", "infrastructure_failure", "input"),
        shows=("ENG-03",),
    ),
    Path(
        name="worker is killed",
        kind="killed", acts=("save",),
        policy=SOON,
        moves=(*BEGUN, "expire failed"),
        by="reconciler", renews="running", error=LOST, crashes=1,
        shows=("ENG-03", "ENG-04", "ALL-16"),
    ),
    Path(
        name="worker is killed, and failed jobs are run again",
        kind="killed", acts=("wait_deaf", "succeed"),
        policy=SOON | {"rerun_failed": True, "retry": retry(2)},
        moves=(*BEGUN, "expire failed"),
        by="reconciler", error=LOST, crashes=1,
        heir=Heir(what="rerun", moves=DONE, retries=1),
        shows=("ENG-11",),
    ),
    Path(
        name="worker stands still for longer than its lease",
        kind="frozen", acts=("linger",),
        policy=SOON,
        moves=(*BEGUN, "expire failed"),
        by="reconciler", error=LOST, crashes=1, notes=("late_result",),
        shows=("ALL-07", "ENG-03"),
    ),
    Path(
        name="worker is told to stop",
        kind="drained", acts=("wait",),
        policy=LATER,
        moves=(*BEGUN, "expire failed"),
        by="reconciler", error=LOST, crashes=1,
        shows=("ALL-16",),
    ),
    Path(
        name="process dies with its handler",
        kind="process", acts=("exit",),
        moves=(*BEGUN, "fail failed"),
        error=Told("ProcessCrashed", "system"), crashes=1,
        shows=("ENG-04", "ALL-16"),
    ),
)  # fmt: skip
