"""The rules of moves that go forward: submit, schedule, approve, deny, claim, start, renew, complete; and of
what is said without one: progress, artifacts.
"""

from typing import Any

from detent.kernel import bookkeeping, notes
from detent.kernel.change import Change
from detent.kernel.clock import micros
from detent.kernel.command import (
    Approve,
    Claim,
    Command,
    Complete,
    Deny,
    RegisterArtifact,
    Renew,
    ReportProgress,
    Schedule,
    Submit,
)
from detent.kernel.digest import digest
from detent.kernel.draft import Draft
from detent.kernel.ending import end_denied, end_success, is_cancelled_instead
from detent.kernel.job import NULL, Blob
from detent.lifecycle.table import Route
from detent.lifecycle.words import LEASED


def submit(draft: Draft, command: Submit) -> Change:
    advance(draft, checkpoint=command.checkpoint)
    return draft.done()


def advance(draft: Draft, *, checkpoint: Blob | None = None, result: Blob = NULL) -> None:
    """Follow the route's forward leg, whatever phase it leads to."""
    leg = draft.route.leg
    if leg.state.phase == "ended":
        end_success(draft, draft.route, result)
        return
    kept, values = keep_checkpoint(checkpoint)
    if is_cancelled_instead(draft, draft.route.verb, kept, values):
        return
    columns = bookkeeping.wait(
        draft.job, leg.state, draft.now, due=_first_due(draft, leg.state.phase), claimable=leg.state.phase == "ready"
    )
    draft.move(draft.route.verb, leg, columns | kept, values=values)


def schedule(draft: Draft, command: Schedule) -> Change | None:
    """Record the policy's verdict; a job without one is not claimable. None where deny is not declared."""
    leg = draft.route.leg
    delay_s = command.delay_s if command.verdict == "throttle" else 0
    due = None if command.verdict in ("hold", "deny") else _first_due(draft, "ready", delay_s)
    columns = bookkeeping.wait(draft.job, leg.state, draft.now, due=due, claimable=due is not None)
    columns |= {"verdict": command.verdict, "rule": command.rule}
    said = {"verdict": command.verdict, "rule": command.rule}
    draft.move("schedule", leg, columns, cause=f"{command.verdict} by rule {command.rule}", payload=said)
    if command.verdict == "deny":
        draft.catch_up()
        denial = draft.route_of("deny")
        if denial is None:
            return None
        end_denied(draft, denial, rule=command.rule)
    return draft.done()


def approve(draft: Draft, command: Approve) -> Change:
    leg = draft.route.leg
    if leg.state.name != draft.job.state:
        advance(draft, result=command.result)
        return draft.done()
    if draft.job.verdict != "hold":
        return draft.done("unchanged")
    columns = bookkeeping.wait(draft.job, leg.state, draft.now, due=_first_due(draft, "ready"), claimable=True)
    draft.move("approve", leg, columns | {"verdict": "allow"}, payload={"verdict": "allow", "rule": draft.job.rule})
    return draft.done()


def deny(draft: Draft, command: Deny) -> Change:
    end_denied(draft, draft.route, rule=command.rule or draft.job.rule)
    return draft.done()


def claim(draft: Draft, command: Claim) -> Change:
    job, leg = draft.job, draft.route.leg
    assert command.worker is not None, "parse refuses a claim that names no worker"
    lease_s = command.lease_s if command.lease_s is not None else job.spec.policy.lease_s
    draft.move("claim", leg, bookkeeping.take_lease(job, leg.state, draft.now, worker=command.worker, lease_s=lease_s))
    if command.start and leg.state.phase == "held":
        draft.catch_up()
        started = draft.route_of("start")
        if started is not None and "owner" in started.by:
            _start(draft, started, role="owner")
    return draft.done()


def start(draft: Draft, command: Command) -> Change:
    _start(draft, draft.route)
    return draft.done()


def renew(draft: Draft, command: Renew) -> Change:
    """Extend the lease. A renewal that carries something is a heartbeat, and is called so."""
    columns = bookkeeping.renew_lease(draft.job, draft.now)
    if command.checkpoint is None and command.progress is None:
        draft.move("renew", draft.route.leg, columns)
        return draft.done()
    kept, values = keep_checkpoint(command.checkpoint)
    said = None
    if command.progress is not None:
        values["progress"] = command.progress
        said = {"fraction": command.progress.fraction, "message": command.progress.message}
    heartbeat = draft.lifecycle.table.heartbeat_event
    draft.move("renew", draft.route.leg, columns | kept, values=values, payload=said, event_type=heartbeat)
    return draft.done()


def complete(draft: Draft, command: Complete) -> Change:
    if draft.route.implied is not None:
        imply_start(draft, draft.route.implied)
    end_success(draft, draft.route, command.result, result_ptr=command.result_ptr, execution_ms=command.execution_ms)
    return draft.done()


def progress(draft: Draft, command: ReportProgress) -> Change:
    """No move of its own. It may imply a start, which is one."""
    if draft.route.implied is not None:
        imply_start(draft, draft.route.implied)
    draft.values = {"progress": command.progress}
    note = notes.progress(draft.lifecycle, draft.job, command, draft.now)
    return draft.done("applied" if draft.events else "noted", notes=(note,))


def artifact(draft: Draft, command: RegisterArtifact) -> Change:
    """Likewise: what a handler makes before it has reported its start shows that it runs."""
    if draft.route.implied is not None:
        imply_start(draft, draft.route.implied)
    note = notes.artifact(draft.lifecycle, draft.job, command, draft.now)
    return draft.done("applied" if draft.events else "noted", notes=(note,))


def imply_start(draft: Draft, start: Route) -> None:
    _start(draft, start, cause=f"implied by {draft.route.verb}")
    draft.catch_up()


def keep_checkpoint(checkpoint: Blob | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """The column for the log, and the value for the record."""
    if checkpoint is None:
        return {}, {}
    return {"checkpoint_digest": digest(checkpoint)}, {"checkpoint": checkpoint}


def _start(draft: Draft, route: Route, *, role: str | None = None, cause: str | None = None) -> None:
    leg = route.leg
    assert leg.state.phase in LEASED, "start stays within the lease"
    draft.move("start", leg, bookkeeping.go_on(draft.job, leg.state, draft.now), role=role, cause=cause)


def _first_due(draft: Draft, phase: str, delay_s: float = 0.0) -> int | None:
    """A ready job is due now, or when its caller wanted it, or after the throttle; a parked one waits for a signal."""
    if phase != "ready":
        return None
    return max(draft.now + micros(delay_s), draft.job.spec.run_at or 0)
