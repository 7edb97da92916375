"""The failure paths of `engine` on which the job is cancelled, which is a failure there."""

from typing import Final

from tests.paths.app import NOBODY
from tests.paths.path import Path, Told, hard, soft
from tests.paths.rows.engine import BEGUN, HELD


def cancelled(stage: str = "exec") -> Told:
    return Told("Cancelled", "cancelled", stage=stage)


ENGINE_STOPPING: Final = (
    Path(
        name="cancelled before anybody takes it",
        kind=NOBODY, deeds=soft("queued"),
        moves=("enqueue queued", "cancel failed"),
        by="operator", error=cancelled("fetch"), attempts=0,
        shows=("ENG-05",),
    ),
    Path(
        name="cancelled before it is started, and its owner does not answer",
        kind="elsewhere", deeds=soft("dispatched"),
        policy={"grace_s": 0.3},
        moves=(*HELD, "request_cancel dispatched", "cancel failed"),
        by="reconciler", error=cancelled("input"),
        shows=("ALL-17",),
    ),
    Path(
        name="cancelled hard before it is started",
        kind="elsewhere", deeds=hard("dispatched"),
        moves=(*HELD, "cancel failed"),
        by="operator", error=cancelled("input"),
    ),
    Path(
        name="cancelled, and its handler stops",
        acts=("wait",), deeds=soft("running"),
        moves=(*BEGUN, "request_cancel running", "cancel failed"),
        error=cancelled(),
        shows=("ALL-17",),
    ),
    Path(
        name="cancelled, and its handler does not listen",
        acts=("wait_deaf",), deeds=soft("running"),
        policy={"grace_s": 0.3},
        moves=(*BEGUN, "request_cancel running", "cancel failed"),
        by="owner or reconciler", error=cancelled(),
        shows=("ALL-17",),
    ),
    Path(
        name="cancelled hard",
        acts=("wait_deaf",), deeds=hard("running"),
        moves=(*BEGUN, "cancel failed"),
        by="operator", error=cancelled(),
    ),
)  # fmt: skip
