"""The failure paths of `document` on which the job is cancelled, which is a failure there."""

from typing import Final

from detent.lifecycle import Compensation
from tests.paths.app import NOBODY
from tests.paths.path import Heir, Path, Told, hard, retry, soft
from tests.paths.rows.document import BEGUN
from tests.paths.rows.standard import DONE as UNDONE

LONG: Final = {"retry": retry(4, base_s=3600, max_s=3600)}


def cancelled(stage: str = "exec") -> Told:
    return Told("Cancelled", "cancelled", stage=stage)


DOCUMENT_STOPPING: Final = (
    Path(
        name="cancelled before it is submitted",
        is_submitted=False, deeds=soft("CREATED"),
        moves=("enqueue CREATED", "cancel FAILED"),
        by="operator", error=cancelled("fetch"), attempts=0,
    ),
    Path(
        name="cancelled before anybody takes it",
        kind=NOBODY, deeds=soft("QUEUED"),
        moves=("enqueue CREATED", "submit QUEUED", "cancel FAILED"),
        by="operator", error=cancelled("fetch"), attempts=0,
    ),
    Path(
        name="cancelled while it waits for its retry",
        acts=("raise TransientError",), deeds=soft("RETRYING"),
        policy=LONG,
        moves=(*BEGUN, "retry RETRYING", "cancel FAILED"),
        by="operator", error=cancelled("fetch"), failures=1, retries=1,
    ),
    Path(
        name="cancelled, and its handler stops",
        acts=("wait",), deeds=soft("RUNNING"),
        moves=(*BEGUN, "request_cancel RUNNING", "cancel FAILED"),
        error=cancelled(),
        shows=("ALL-17",),
    ),
    Path(
        name="cancelled, and its handler does not listen",
        acts=("wait_deaf",), deeds=soft("RUNNING"),
        policy={"grace_s": 0.3},
        moves=(*BEGUN, "request_cancel RUNNING", "cancel FAILED"),
        by="owner or reconciler", error=cancelled(),
        shows=("ALL-17",),
    ),
    Path(
        name="cancelled job is undone",
        acts=("wait", "succeed"), deeds=soft("RUNNING"),
        policy={"compensate": Compensation(kind="undo")},
        moves=(*BEGUN, "request_cancel RUNNING", "cancel FAILED"),
        error=cancelled(), notes=("compensated",),
        heir=Heir(what="undo", moves=UNDONE),
        shows=("STD-19", "ALL-17"),
    ),
    Path(
        name="cancelled hard",
        acts=("wait_deaf",), deeds=hard("RUNNING"),
        moves=(*BEGUN, "cancel FAILED"),
        by="operator", error=cancelled(),
    ),
)  # fmt: skip
