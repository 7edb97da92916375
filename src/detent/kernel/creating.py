"""How a job comes to be: enqueue, and the submit that may come along with it."""

from detent.kernel import bookkeeping
from detent.kernel.change import Change
from detent.kernel.checks import NOBODY
from detent.kernel.clock import micros
from detent.kernel.command import Command, Enqueue
from detent.kernel.digest import digest
from detent.kernel.draft import Draft
from detent.kernel.job import Job, Spec
from detent.lifecycle import Lifecycle, Policy
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
    rerun_of: str | None = None,
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
    if rerun_of is not None:
        columns["rerun_of"] = rerun_of
    columns["payload_digest"] = digest(spec.payload)
    draft.move("enqueue", route.leg, columns, cause=cause, payload={"kind": spec.kind, "queue": spec.queue})
    if submit:
        draft.catch_up()
        _submit(draft, cause)
    return draft.done()


def _submit(draft: Draft, cause: str | None) -> None:
    onward = draft.route_of("submit")
    if onward is None or onward.leg.state.phase not in ("ready", "parked"):
        return  # a submit that ends the job brings a result; it has to be asked for
    role = _submitter(onward, draft.command)
    if role in onward.roles:
        draft.move("submit", onward.leg, _enter(draft, onward), role=role, cause=cause)


def _submitter(onward: Route, command: Command) -> str:
    """What comes along with an enqueue is no way round: who may not submit does not. Jobs that the system makes, of
    whatever somebody asked, are its own.
    """
    if command.granted is None or not isinstance(command, Enqueue):
        return onward.default_role
    return next((role for role in onward.by if role in command.granted), NOBODY)


def spec_of(lifecycle: Lifecycle, command: Enqueue, now: int) -> Spec:
    run_at = command.run_at
    if command.delay_s:
        run_at = max(run_at or 0, now + micros(command.delay_s))
    policy = command.policy or lifecycle.defaults
    return Spec(  # by position, in the order of the fields: half the time of keywords, on every enqueue
        command.job_id, command.kind, lifecycle.name, lifecycle.version, policy,
        command.tenant, command.queue, command.priority, command.payload, run_at, command.dedupe_key,
        command.correlation_id or command.job_id, command.trace_id, command.parent_job_id, command.workflow_id,
        command.step_index, command.topic, command.context_ptr, command.adapter_id, command.env,
        command.limit_key or limit_key_of(command.kind, policy),
    )  # fmt: skip


def limit_key_of(kind: str, policy: Policy) -> str | None:
    """Of a job that names none: with a limit, its kind."""
    return None if policy.limit is None else kind


def enqueue_role(route: Route, command: Command, roles: frozenset[str]) -> str:
    if command.granted is not None:
        wanted = (command.role,) if command.role is not None else route.by
        return next((role for role in wanted if role in command.granted), NOBODY)
    if command.role is not None:
        return command.role
    return command.actor if command.actor is not None and command.actor in roles else route.default_role


def _enter(draft: Draft, route: Route) -> bookkeeping.Columns:
    """A ready job is due now or when its caller wanted it; a parked one waits for its signal."""
    state = route.leg.state
    is_ready = state.phase == "ready"
    due = max(draft.now, draft.job.spec.run_at or 0) if is_ready else None
    return bookkeeping.wait(draft.job, state, draft.now, due=due, claimable=is_ready)
