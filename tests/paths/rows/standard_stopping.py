"""The failure paths of `standard` on which somebody stops the job: cancels, soft and hard, and dead letters by hand."""

from typing import Final

from detent.lifecycle import Compensation
from tests.paths.app import NOBODY
from tests.paths.path import LIMIT_S, SOON, Deed, Heir, Path, Told, hard, soft
from tests.paths.rows.standard import BEGUN
from tests.paths.rows.standard_losing import HELD

ASKED: Final = (*BEGUN, "request_cancel running")
SET_ASIDE: Final = "DeadLettered"


def bury(when: str) -> tuple[Deed, ...]:
    return (Deed(when, "operator", ("dead_letter",)),)


STANDARD_STOPPING: Final = (
    Path(
        name="cancelled before anybody takes it",
        kind=NOBODY, deeds=soft("queued"),
        moves=("enqueue queued", "cancel cancelled"),
        by="operator", attempts=0,
    ),
    Path(
        name="cancelled before it is started, and its owner does not answer",
        kind="elsewhere", deeds=soft("assigned"),
        policy={"grace_s": 0.3},
        moves=(*HELD, "request_cancel assigned", "cancel cancelled"),
        by="reconciler",
        shows=("ALL-17",),
    ),
    Path(
        name="cancelled hard before it is started",
        kind="elsewhere", deeds=hard("assigned"),
        moves=(*HELD, "cancel cancelled"),
        by="operator",
    ),
    Path(
        name="cancelled, and its handler saves and stops",
        acts=("save_at_the_end",), deeds=soft("running"),
        moves=(*ASKED, "cancel cancelled"),
        renews="running",
        shows=("STD-07", "ALL-17"),
    ),
    Path(
        name="cancelled, and its handler does not listen",
        acts=("wait_deaf",), deeds=soft("running"),
        policy={"grace_s": 0.3},
        moves=(*ASKED, "cancel cancelled"),
        by="owner or reconciler",
        shows=("STD-08", "ALL-17"),
    ),
    Path(
        name="cancelled, and its handler completes it anyway",
        acts=("finish_anyway",), deeds=soft("running"),
        moves=(*ASKED, "complete succeeded"),
        result="done anyway",
        shows=("ALL-17",),
    ),
    Path(
        name="cancelled, and its handler fails on the way",
        acts=("fail_when_told",), deeds=soft("running"),
        moves=(*ASKED, "cancel cancelled"),
        last="TransientError",
        shows=("ALL-17",),
    ),
    Path(
        name="cancelled, and its handler fails for good",
        acts=("fail_finally_when_told",), deeds=soft("running"),
        moves=(*ASKED, "fail failed"),
        error=Told("PermanentError", "engine"), failures=1,
        shows=("ALL-17",),
    ),
    Path(
        name="cancelled, and its run limit over before its grace",
        acts=("wait_deaf",), deeds=soft("running"),
        policy={"timeout_s": 4 * LIMIT_S},
        moves=(*ASKED, "cancel cancelled"),
        by="owner or reconciler", last="TimedOut",
        shows=("ALL-17",),
    ),
    Path(
        name="cancelled, and its worker killed",
        kind="killed", acts=("wait_deaf",), deeds=soft("running"),
        policy=SOON,
        moves=(*ASKED, "cancel cancelled"),
        by="reconciler", last="LeaseExpired",
        shows=("ALL-17",),
    ),
    Path(
        name="cancelled, and its worker told to stop",
        kind="drained", acts=("wait_deaf",), deeds=soft("running"),
        moves=(*ASKED, "cancel cancelled"),
        shows=("ALL-17",),
    ),
    Path(
        name="cancelled hard on the event loop",
        acts=("wait_deaf",), deeds=hard("running"),
        moves=(*BEGUN, "cancel cancelled"),
        by="operator",
        shows=("STD-08",),
    ),
    Path(
        name="cancelled hard on a thread",
        kind="thread", acts=("linger",), deeds=hard("running"),
        moves=(*BEGUN, "cancel cancelled"),
        by="operator", notes=("late_result",),
        shows=("STD-08",),
    ),
    Path(
        name="cancelled hard in a process that never lets go",
        kind="process", acts=("spin",), deeds=hard("running"),
        moves=(*BEGUN, "cancel cancelled"),
        by="operator",
        shows=("STD-08",),
    ),
    Path(
        name="cancelled hard when it has made something",
        acts=("emit",), deeds=hard("running"),
        moves=(*BEGUN, "cancel cancelled"),
        by="operator", artifact="discarded", notes=("artifact",),
        shows=("STD-22", "STD-08"),
    ),
    Path(
        name="cancelled job is undone",
        acts=("wait", "succeed"), deeds=soft("running"),
        policy={"compensate": Compensation(kind="undo")},
        moves=(*ASKED, "cancel cancelled"),
        notes=("compensated",),
        heir=Heir(what="undo", moves=(*BEGUN, "complete succeeded")),
        shows=("STD-19",),
    ),
    Path(
        name="cancelled hard, and undone when nobody can still be at it",
        acts=("wait_deaf", "succeed"), deeds=hard("running"),
        policy=SOON | {"compensate": Compensation(kind="undo")},
        moves=(*BEGUN, "cancel cancelled"),
        by="operator", notes=("compensated",),
        heir=Heir(what="undo", moves=(*BEGUN, "complete succeeded")),
        shows=("STD-19", "STD-08"),
    ),
    Path(
        name="set aside before anybody takes it",
        kind=NOBODY, deeds=bury("queued"),
        moves=("enqueue queued", "dead_letter dead_lettered"),
        by="operator", error=Told(SET_ASIDE, "system", "policy_violation", "fetch"), attempts=0,
        shows=("STD-09",),
    ),
    Path(
        name="set aside before it is started",
        kind="elsewhere", deeds=bury("assigned"),
        moves=(*HELD, "dead_letter dead_lettered"),
        by="operator", error=Told(SET_ASIDE, "system", "policy_violation", "input"),
        shows=("STD-09",),
    ),
    Path(
        name="set aside while it runs",
        kind="thread", acts=("linger",), deeds=bury("running"),
        moves=(*BEGUN, "dead_letter dead_lettered"),
        by="operator", error=Told(SET_ASIDE, "system", "policy_violation"), notes=("late_result",),
        shows=("STD-09",),
    ),
)  # fmt: skip
