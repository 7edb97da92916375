"""How a job comes to be: enqueue, and the submit that may come along with it."""

from detent.kernel import bookkeeping
from detent.kernel.change import Change
from detent.kernel.command import Command, Enqueue
from detent.kernel.digest import digest
from detent.kernel.draft import Draft
from detent.kernel.job import Job, Spec
from detent.lifecycle import Lifecycle
from detent.lifecycle.table import Route


def create(
    lifecycle: Lifecycle,
    spec: Spec,
    command: Command,
    now: int,
    *,
    role: str,
    submit: bool = False,
    retries: int = 0,
    cause: str | None = None,
) -> Change:
    """The first event of a job, and the second if it is submitted at once."""
    route = lifecycle.table.start
    state = route.leg.state
    # The record before its first event stands at revision 0.
    blank = Job(spec=spec, state=state.name, phase=state.phase, created_at=now, updated_at=now)
    draft = Draft(lifecycle, blank, blank, command, route, role, now, 0.0)
    columns = _enter(draft, route)
    columns["created_at"] = now
    columns["retries"] = retries
    columns["payload_digest"] = digest(spec.payload)
    draft.move("enqueue", route.leg, columns, cause=cause, payload={"kind": spec.kind, "queue": spec.queue})
    if submit:
        draft.catch_up()
        _submit(draft, cause)
    return draft.done()


def _submit(draft: Draft, cause: str | None) -> None:
    onward = draft.route_of("submit")
    if onward is not None and onward.default_role in onward.roles:
        draft.move("submit", onward.leg, _enter(draft, onward), role=onward.default_role, cause=cause)


def spec_of(lifecycle: Lifecycle, command: Enqueue) -> Spec:
    return Spec(
        id=command.job_id,
        kind=command.kind,
        lifecycle=lifecycle.name,
        lifecycle_version=lifecycle.version,
        policy=command.policy or lifecycle.defaults,
        tenant=command.tenant,
        queue=command.queue,
        priority=command.priority,
        payload=command.payload,
        run_at=command.run_at,
        dedupe_key=command.dedupe_key,
        correlation_id=command.correlation_id or command.job_id,
        trace_id=command.trace_id,
        parent_job_id=command.parent_job_id,
        workflow_id=command.workflow_id,
        step_index=command.step_index,
        topic=command.topic,
        context_ptr=command.context_ptr,
        adapter_id=command.adapter_id,
        env=command.env,
    )


def enqueue_role(route: Route, command: Command, roles: frozenset[str]) -> str:
    if command.role is not None:
        return command.role
    return command.actor if command.actor is not None and command.actor in roles else route.default_role


def _enter(draft: Draft, route: Route) -> bookkeeping.Columns:
    """A ready job is due now or when its caller wanted it; a parked one waits for its signal."""
    state = route.leg.state
    is_ready = state.phase == "ready"
    due = max(draft.now, draft.job.spec.run_at or 0) if is_ready else None
    return bookkeeping.wait(draft.job, state, draft.now, due=due, claimable=is_ready)
