"""Who would take a job that is due, by what the workers report of themselves; and why none of them has.

It knows only workers that report. Of programs that claim jobs by themselves the log tells, in `client.turns`.
"""

from collections.abc import Sequence
from datetime import datetime

from detent.client.moments import to_moment
from detent.client.reasons import Facts, Reason
from detent.client.spoken import moment
from detent.client.views import Job
from detent.client.workers import Worker
from detent.store.fleet import BUS_HOST, Lane


def paused(job: Job, facts: Facts) -> list[Reason]:
    queue = facts.queue
    if queue is None or queue.paused_at is None:
        return []
    why = f": {queue.paused_reason}" if queue.paused_reason else ""
    text = f"queue '{job.queue}' is paused, nothing is claimed from it; {queue.paused_by} paused it{why}"
    return [Reason("queue_paused", text, to_moment(queue.paused_at))]


def by_reports(job: Job, due: datetime, facts: Facts) -> Reason | None:
    """None: no worker reports itself, or was heard of in a day."""
    if not facts.workers and facts.gone is None:
        return None
    of_queue = [each for each in facts.workers if job.queue in each.queues]
    if not of_queue:
        return Reason("queue_not_served", _no_queue(job, facts), due)
    of_kind = [each for each in of_queue if each.kinds is None or job.kind in each.kinds]
    if not of_kind:
        text = f"nobody serves kind '{job.kind}'; queue '{job.queue}' is served for other kinds, by {_who(of_queue)}"
        return Reason("kind_not_served", text, due)
    takers = [each for each in of_kind if _has_adapter(each, job.adapter_id)]
    if not takers:
        text = (
            f"nobody who serves it has adapter '{job.adapter_id}'; it would be served without that, by {_who(of_kind)}"
        )
        return Reason("adapter_not_served", text, due)
    return _turn(takers, due, facts, job)


def unjudged(job: Job, facts: Facts) -> Reason:
    """A worker asks its policy about what it would run itself."""
    takers = [each for each in facts.workers if _is_for(each, job)]
    askers = [each for each in takers if each.host != BUS_HOST]
    if askers:
        asking = f"who serves it asks: {_who(askers)}, and says in its log if the policy is out of reach"
    elif takers:
        asking = "the service that is on the bus for its pool asks, and says in its log if policy or bus is away"
    else:
        asking = f"a worker that serves queue '{job.queue}' and kind '{job.kind}' would ask; is one running?"
    return Reason("waits_for_a_verdict", f"the policy has given no verdict on it yet; {asking}", job.updated_at)


def serves(worker: Worker, job: Job) -> bool:
    return _is_for(worker, job) and _has_adapter(worker, job.adapter_id)


def _is_for(worker: Worker, job: Job) -> bool:
    return job.queue in worker.queues and (worker.kinds is None or job.kind in worker.kinds)


def _has_adapter(worker: Worker, adapter_id: str | None) -> bool:
    return adapter_id is None or worker.adapters is None or adapter_id in worker.adapters


def _turn(takers: Sequence[Worker], due: datetime, facts: Facts, job: Job) -> Reason:
    at_work = [each for each in takers if not each.is_draining]
    crowd = f"one of {facts.waiting:,} ready in queue '{job.queue}'"
    if not at_work:
        return Reason("workers_draining", f"who serves it is shutting down: {_who(takers)}; it is {crowd}", due)
    lanes = [_lane(each, job.kind) for each in at_work]
    taken, slots = sum(min(each.running, each.slots) for each in lanes), sum(each.slots for each in lanes)
    what = _named({each.isolation for each in lanes})
    if taken == slots:
        text = f"the workers that serve it are busy, {taken} of {slots} {what}: {_who(at_work)}; it is {crowd}"
        return Reason("workers_busy", text, due)
    text = f"it waits for its turn, {crowd}; it is served by {_who(at_work)}, with {taken} of {slots} {what} taken"
    return Reason("waits_its_turn", text, due)


def _lane(worker: Worker, kind: str) -> Lane:
    """Where jobs of this kind run: its others may be full, or have room that is of no use to them."""
    for lane in worker.lanes:
        if kind in lane.kinds:
            return lane
    return Lane(isolation="", kinds=(), slots=worker.slots, running=worker.running)


def _named(isolations: set[str]) -> str:
    """`slots`, or `thread slots` where all are of one kind."""
    (isolation,) = isolations if len(isolations) == 1 else ("",)
    return f"{isolation} slots".strip()


def _no_queue(job: Job, facts: Facts) -> str:
    others = f"; other queues are served, by {_who(facts.workers)}" if facts.workers else "; no worker is there"
    gone = facts.gone
    if gone is None or not serves(gone, job):
        return f"nobody serves queue '{job.queue}'{others}"
    last = f"'{gone.name}' on {gone.host} did, and was last heard of at {moment(gone.seen_at, facts.now)}"
    return f"nobody serves queue '{job.queue}' any more{others}; {last}"


def _who(workers: Sequence[Worker]) -> str:
    """`'w1'`, `'w1' and 'w2'`, `'w1' and 3 others`."""
    first = f"'{workers[0].name}'"
    if len(workers) == 1:
        return first
    return f"{first} and '{workers[1].name}'" if len(workers) == 2 else f"{first} and {len(workers) - 1} others"
