"""The failure paths of `standard`: what a handler, its input or its output can do wrong."""

from typing import Final

from detent.lifecycle import Compensation
from detent.lifecycles import STANDARD
from tests.paths.app import NOBODY
from tests.paths.path import Heir, Path, Told, cli, retry

RUN: Final = ("claim assigned", "start running")
BEGUN: Final = ("enqueue queued", *RUN)
DONE: Final = (*BEGUN, "complete succeeded")
TRANSIENT: Final = Told("TransientError", "engine", "exhausted_retries")
PERMANENT: Final = Told("PermanentError", "engine")
ROLLED_BACK: Final = Told("CompletionRolledBack", "engine", "exhausted_retries", "commit", "completion_rolled_back")

STANDARD_FAILING: Final = (
    Path(
        name="handler raises an error that passes",
        acts=("raise TransientError", "succeed"),
        policy={"retry": retry(3)},
        moves=(*BEGUN, "retry queued", *RUN, "complete succeeded"),
        last="TransientError", attempts=2, failures=1, retries=1,
        shows=("STD-05", "STD-20", "ALL-16"),
    ),
    Path(
        name="handler raises an error that nobody has mapped",
        acts=("raise LookupError", "succeed"),
        policy={"retry": retry(3)},
        moves=(*BEGUN, "retry queued", *RUN, "complete succeeded"),
        last="LookupError", attempts=2, failures=1, retries=1,
        shows=("STD-20",),
    ),
    *(
        Path(
            name=f"handler exits {where}",
            kind=kind, acts=("raise SystemExit", "succeed"),
            policy={"retry": retry(3)},
            moves=(*BEGUN, "retry queued", *RUN, "complete succeeded"),
            last="SystemExit", attempts=2, failures=1, retries=1,
            shows=("STD-20",),
        )
        for kind, where in (("play", "on the event loop"), ("thread", "on a thread"), ("process", "in a process"))
    ),
    Path(
        name="handler awaits what somebody has cancelled",
        acts=("await_what_is_cancelled", "succeed"),
        policy={"retry": retry(3)},
        moves=(*BEGUN, "retry queued", *RUN, "complete succeeded"),
        last="CancelledError", attempts=2, failures=1, retries=1,
        shows=("STD-20",),
    ),
    Path(
        name="handler raises an error that has a budget of its own",
        acts=("raise ConnectionError",),
        policy={"retry": retry(5, by_error={"ConnectionError": retry(1)})},
        moves=(*BEGUN, "dead_letter dead_lettered"),
        error=Told("ConnectionError", "system", "exhausted_retries"), failures=1,
        shows=("STD-05", "STD-06"),
    ),
    Path(
        name="retries wait ever longer, up to the longest",
        acts=(*("raise TransientError",) * 4, "succeed"),
        policy={"retry": retry(5, base_s=0.1, factor=3, max_s=0.5, jitter=True)},
        moves=(*BEGUN, *("retry queued", *RUN) * 4, "complete succeeded"),
        last="TransientError", attempts=5, failures=4, retries=4,
        shows=("STD-05",),
    ),
    Path(
        name="retries run out",
        acts=("raise TransientError",),
        policy={"retry": retry(2)},
        moves=(*BEGUN, "retry queued", *RUN, "dead_letter dead_lettered"),
        error=TRANSIENT, attempts=2, failures=2, retries=1,
        shows=("STD-06", "STD-09", "ALL-16"),
    ),
    Path(
        name="retries run out, and the policy wants it failed",
        acts=("raise TransientError",),
        policy={"retry": retry(2, used_up="fail")},
        moves=(*BEGUN, "retry queued", *RUN, "fail failed"),
        error=TRANSIENT, attempts=2, failures=2, retries=1,
        shows=("STD-06",),
    ),
    Path(
        name="handler raises an error that does not pass",
        acts=("raise PermanentError",),
        moves=(*BEGUN, "fail failed"),
        error=PERMANENT, failures=1,
        shows=("STD-20",),
    ),
    Path(
        name="handler finds its input invalid",
        acts=("raise ValidationError",),
        moves=(*BEGUN, "fail failed"),
        error=Told("ValidationError", "validation"), failures=1,
        shows=("STD-20",),
    ),
    Path(
        name="payload does not fit the handler",
        payload={"acts": 7},
        moves=(*BEGUN, "fail failed"),
        error=Told("ValidationError", "validation", stage="input"), failures=1,
        shows=("STD-20",),
    ),
    Path(
        name="result cannot be encoded",
        acts=("return_what_is_no_result",),
        moves=(*BEGUN, "fail failed"),
        error=Told("PermanentError", "engine", stage="output"), failures=1,
    ),
    Path(
        name="completion is rolled back",
        acts=("roll_back", "succeed"),
        policy={"retry": retry(3)},
        moves=(*BEGUN, "retry queued", *RUN, "complete succeeded"),
        last="CompletionRolledBack", attempts=2, failures=1, retries=1,
    ),
    Path(
        name="completion is rolled back every time",
        acts=("roll_back",),
        policy={"retry": retry(2)},
        moves=(*BEGUN, "retry queued", *RUN, "dead_letter dead_lettered"),
        error=ROLLED_BACK, attempts=2, failures=2, retries=1,
        shows=("STD-09",),
    ),
    Path(
        name="dead letter is run again by an operator",
        acts=("raise TransientError", "succeed"),
        policy={"retry": retry(1)},
        deeds=(cli("dead_lettered", "dlq", "redrive", "--yes"),),
        moves=(*BEGUN, "dead_letter dead_lettered"),
        error=TRANSIENT, failures=1,
        heir=Heir(what="rerun", moves=DONE),
        shows=("ALL-10",),
    ),
    Path(
        name="failed job is run again by an operator",
        acts=("raise PermanentError", "succeed"),
        deeds=(cli("failed", "job", "rerun"),),
        moves=(*BEGUN, "fail failed"),
        error=PERMANENT, failures=1,
        heir=Heir(what="rerun", moves=DONE),
        shows=("ALL-10",),
    ),
    Path(
        name="failed job is undone",
        acts=("raise PermanentError", "succeed"),
        policy={"compensate": Compensation(kind="undo")},
        moves=(*BEGUN, "fail failed"),
        error=PERMANENT, failures=1, notes=("compensated",),
        heir=Heir(what="undo", moves=(*BEGUN, "complete succeeded")),
        shows=("STD-19",),
    ),
    Path(
        name="failed job cannot be undone",
        acts=("raise PermanentError",),
        policy={"compensate": Compensation(kind="undo", policy=STANDARD.policy(retry=retry(1)))},
        moves=(*BEGUN, "fail failed"),
        error=PERMANENT, failures=1,
        heir=Heir(what="undo", moves=(*BEGUN, "dead_letter dead_lettered"), reason="compensation_failed"),
        shows=("STD-19",),
    ),
    Path(
        name="job that fails has made something",
        acts=("emit_and_fail",),
        moves=(*BEGUN, "fail failed"),
        error=PERMANENT, failures=1, artifact="partial", notes=("artifact",),
        shows=("STD-22",),
    ),
    Path(
        name="nobody serves its kind",
        kind=NOBODY,
        moves=("enqueue queued",),
        by="client", attempts=0, rests=True,
    ),
)  # fmt: skip
