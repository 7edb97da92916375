"""The failure paths of `dispatch` on which somebody has the last word: the policy, an operator, whoever cancels."""

from typing import Final

from tests.paths.app import NOBODY
from tests.paths.path import Heir, Path, Told, cli, hard, soft
from tests.paths.rows.dispatch import BEGUN, DONE, HELD, WAITING

DENIED: Final = Told("Denied", "denied", "policy_violation", "fetch")

DISPATCH_JUDGED: Final = (
    Path(
        name="policy denies it",
        topic="deny",
        moves=(*WAITING, "deny DENIED"),
        by="scheduler", error=DENIED, attempts=0,
        shows=("DSP-08", "DSP-03"),
    ),
    Path(
        name="policy holds it, and nobody answers",
        topic="hold",
        moves=WAITING,
        by="scheduler", attempts=0, rests=True,
        shows=("DSP-08",),
    ),
    Path(
        name="policy holds it, and an operator approves",
        topic="hold", deeds=(cli("SCHEDULED", "job", "approve"),),
        moves=(*WAITING, "approve SCHEDULED", "claim DISPATCHED", "start RUNNING", "complete SUCCEEDED"),
        shows=("DSP-08",),
    ),
    Path(
        name="policy holds it, and an operator denies",
        topic="hold", deeds=(cli("SCHEDULED", "job", "deny"),),
        moves=(*WAITING, "deny DENIED"),
        by="operator", error=DENIED, attempts=0,
        shows=("DSP-08",),
    ),
    Path(
        name="policy denies it, and again when an operator runs it again",
        topic="deny", deeds=(cli("DENIED", "job", "rerun"),),
        moves=(*WAITING, "deny DENIED"),
        by="scheduler", error=DENIED, attempts=0,
        heir=Heir(what="rerun", moves=(*WAITING, "deny DENIED"), reason="policy_violation"),
        shows=("DSP-08", "DSP-07"),
    ),
    Path(
        name="policy throttles it",
        topic="throttle",
        moves=DONE,
        shows=("DSP-08",),
    ),
    Path(
        name="policy cannot be reached",
        topic="unreachable",
        moves=("enqueue PENDING",),
        by="gateway", attempts=0, rests=True,
        shows=("DSP-08",),
    ),
    Path(
        name="policy cannot be reached at first",
        topic="shaky",
        moves=DONE,
        shows=("DSP-08",),
    ),
    Path(
        name="nobody serves its kind, so nobody asks the policy",
        kind=NOBODY,
        moves=("enqueue PENDING",),
        by="gateway", attempts=0, rests=True,
    ),
)  # fmt: skip

DISPATCH_STOPPING: Final = (
    Path(
        name="cancelled before the policy is asked",
        kind=NOBODY, deeds=soft("PENDING"),
        moves=("enqueue PENDING", "cancel CANCELLED"),
        by="operator", attempts=0,
    ),
    Path(
        name="cancelled while the policy holds it",
        topic="hold", deeds=soft("SCHEDULED"),
        moves=(*WAITING, "cancel CANCELLED"),
        by="operator", attempts=0,
    ),
    Path(
        name="cancelled before it is started, and its owner does not answer",
        kind="elsewhere", deeds=soft("DISPATCHED"),
        policy={"grace_s": 0.3},
        moves=(*HELD, "request_cancel DISPATCHED", "cancel CANCELLED"),
        by="reconciler",
        shows=("ALL-17",),
    ),
    Path(
        name="cancelled hard before it is started",
        kind="elsewhere", deeds=hard("DISPATCHED"),
        moves=(*HELD, "cancel CANCELLED"),
        by="operator",
    ),
    Path(
        name="cancelled, and its handler stops",
        acts=("wait",), deeds=soft("RUNNING"),
        moves=(*BEGUN, "request_cancel RUNNING", "cancel CANCELLED"),
        shows=("ALL-17",),
    ),
    Path(
        name="cancelled, and its handler does not listen",
        acts=("wait_deaf",), deeds=soft("RUNNING"),
        policy={"grace_s": 0.3},
        moves=(*BEGUN, "request_cancel RUNNING", "cancel CANCELLED"),
        by="owner or reconciler",
        shows=("ALL-17",),
    ),
    Path(
        name="cancelled hard",
        acts=("wait_deaf",), deeds=hard("RUNNING"),
        moves=(*BEGUN, "cancel CANCELLED"),
        by="operator",
    ),
)  # fmt: skip
