"""The failure paths of `document`: a few retries after a fixed delay, then the end."""

from typing import Final

from tests.paths.app import NOBODY
from tests.paths.path import LIMIT_S, SOON, Deed, Heir, Path, Told, cli, retry

BEGUN: Final = ("enqueue CREATED", "submit QUEUED", "claim RUNNING")
AGAIN: Final = ("requeue QUEUED", "claim RUNNING")
BACK: Final = (*AGAIN, "complete SUCCEEDED")
QUICK: Final = {"retry": retry(4)}
FULL: Final = {"type": "ResourceLimitExceeded"}
RETRIED: Final = ("TransientSystemError", "DeadlineExceeded", "QueueOverload", "DependencyUnavailable")
FINAL: Final = (
    Told("InvalidInput", "validation"), Told("ValidationError", "validation"), Told("PermanentTimeout", "engine"),
    Told("ConfigurationError", "engine"), Told("ResourceLimitExceeded", "engine"),
)  # fmt: skip

# What passes and what does not (DOC-02): a path for each class of error.
CLASSES: Final = (
    *(
        Path(
            name=f"handler raises {each}, which passes",
            acts=(f"raise {each}", "succeed"),
            policy=QUICK,
            moves=(*BEGUN, "retry RETRYING", *BACK),
            last=each, attempts=2, failures=1, retries=1,
            shows=("DOC-02", "DOC-05"),
        )
        for each in RETRIED
    ),
    *(
        Path(
            name=f"handler raises {each.type}, which does not pass",
            acts=(f"raise {each.type}",),
            moves=(*BEGUN, "fail FAILED"),
            error=each, failures=1,
            shows=("DOC-02",),
        )
        for each in FINAL
    ),
)  # fmt: skip

DOCUMENT: Final = (
    *CLASSES,
    Path(
        name="the fourth failure is the last",
        acts=("raise TransientError",),
        moves=(*BEGUN, *("retry RETRYING", *AGAIN) * 3, "fail FAILED"),
        error=Told("TransientError", "engine", "exhausted_retries"), attempts=4, failures=4, retries=3,
        shows=("DOC-03", "DOC-05"),
    ),
    Path(
        name="payload does not fit the handler",
        payload={"acts": 7},
        moves=(*BEGUN, "fail FAILED"),
        error=Told("ValidationError", "validation", stage="input"), failures=1,
        shows=("DOC-02",),
    ),
    Path(
        name="result cannot be encoded",
        acts=("return_what_is_no_result",),
        moves=(*BEGUN, "fail FAILED"),
        error=Told("PermanentError", "engine", stage="output"), failures=1,
    ),
    Path(
        name="completion is rolled back",
        acts=("roll_back", "succeed"),
        policy=QUICK,
        moves=(*BEGUN, "retry RETRYING", *BACK),
        last="CompletionRolledBack", attempts=2, failures=1, retries=1,
    ),
    Path(
        name="failed job is run again by an operator",
        acts=("raise PermanentError", "succeed"),
        deeds=(cli("FAILED", "job", "rerun"),),
        moves=(*BEGUN, "fail FAILED"),
        error=Told("PermanentError", "engine"), failures=1,
        heir=Heir(what="rerun", moves=(*BEGUN, "complete SUCCEEDED")),
        shows=("ALL-10",),
    ),
    Path(
        name="run limit is over",
        acts=("wait", "succeed"),
        policy=QUICK | {"timeout_s": LIMIT_S},
        moves=(*BEGUN, "time_out RETRYING", *BACK),
        last="TimedOut", attempts=2, failures=1, retries=1,
        shows=("DOC-01",),
    ),
    Path(
        name="run limit is over, and the retries used up",
        acts=("wait_deaf",),
        policy={"timeout_s": LIMIT_S, "retry": retry(1)},
        moves=(*BEGUN, "time_out FAILED"),
        by="reconciler", error=Told("TimedOut", "engine", "timeout"), failures=1,
        shows=("DOC-01",),
    ),
    Path(
        name="worker is killed",
        kind="killed", acts=("save", "resume"),
        policy=SOON | QUICK,
        moves=(*BEGUN, "expire RETRYING", *BACK),
        renews="RUNNING", last="LeaseExpired", attempts=2, crashes=1, retries=1, result={"page": 1},
        shows=("DOC-05", "ALL-16"),
    ),
    Path(
        name="worker is killed, and the retries used up",
        kind="killed", acts=("wait_deaf",),
        policy=SOON | {"retry": retry(1)},
        moves=(*BEGUN, "expire FAILED"),
        by="reconciler", error=Told("LeaseExpired", "system", "infrastructure_failure"), crashes=1,
        shows=("DOC-05", "ALL-16"),
    ),
    Path(
        name="worker stands still for longer than its lease",
        kind="frozen", acts=("linger", "succeed"),
        policy=SOON | QUICK,
        moves=(*BEGUN, "expire RETRYING", *BACK),
        last="LeaseExpired", attempts=2, crashes=1, retries=1, notes=("late_result",),
        shows=("DOC-05", "ALL-07"),
    ),
    Path(
        name="worker is told to stop",
        kind="drained", acts=("save_at_the_end", "resume"),
        policy=QUICK,
        moves=(*BEGUN, "release RETRYING", *BACK),
        attempts=2, interruptions=1, result={"page": 1},
        shows=("DOC-03", "ALL-16"),
    ),
    Path(
        name="process dies with its handler",
        kind="process", acts=("exit", "succeed"),
        policy=QUICK,
        moves=(*BEGUN, "retry RETRYING", *BACK),
        last="ProcessCrashed", attempts=2, crashes=1, retries=1,
        shows=("ALL-16",),
    ),
    Path(
        name="never submitted",
        is_submitted=False,
        moves=("enqueue CREATED",),
        by="client", attempts=0, rests=True,
    ),
    Path(
        name="submitted by hand",
        is_submitted=False, deeds=(cli("CREATED", "job", "submit"),),
        moves=(*BEGUN, "complete SUCCEEDED"),
    ),
    Path(
        name="resources are exhausted before anybody takes it",
        kind=NOBODY, deeds=(Deed("QUEUED", "scheduler", ("fail",), given={"error": FULL}),),
        moves=("enqueue CREATED", "submit QUEUED", "fail FAILED"),
        by="scheduler", error=Told("ResourceLimitExceeded", "queue", stage="fetch"), attempts=0,
        shows=("DOC-01",),
    ),
    Path(
        name="nobody serves its kind",
        kind=NOBODY,
        moves=("enqueue CREATED", "submit QUEUED"),
        by="client", attempts=0, rests=True,
    ),
)  # fmt: skip
