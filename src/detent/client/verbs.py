"""The verbs: one method each, and batches of those that workers use by the hundred. HTTP mirrors them one to one."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Unpack

from detent.client.applying import Applying
from detent.client.arguments import Item, bounded, check_text_name
from detent.client.scope import Who, raised
from detent.client.views import Job
from detent.errors import DetentError, InvalidArgument, shown
from detent.kernel import Error
from detent.kernel.command import Claim
from detent.lifecycle import Policy
from detent.lifecycle.bounds import check_whole
from detent.store import ClaimRequest
from detent.store.protocol import Transaction

Reported = Error | Mapping[str, Any] | BaseException
CLAIM_MAX: Final = 1_000
NAMES_MAX: Final = 100


class Verbs(Applying):
    """Each verb answers with the job as it is then, or raises; a batch answers each item with one or the other."""

    async def enqueue(
        self,
        kind: str,
        payload: Any = None,
        *,
        lifecycle: str = "standard",
        lifecycle_version: int | None = None,
        queue: str = "default",
        job_id: str | None = None,
        request_id: str | None = None,
        dedupe_key: str | None = None,
        limit_key: str | None = None,
        priority: int = 0,
        run_at: datetime | None = None,
        delay_s: float = 0.0,
        policy: Policy | None = None,
        submit: bool = False,
        tenant: str | None = None,
        correlation_id: str | None = None,
        trace_id: str | None = None,
        parent_job_id: str | None = None,
        workflow_id: str | None = None,
        step_index: int | None = None,
        topic: str | None = None,
        context_ptr: str | None = None,
        adapter_id: str | None = None,
        env: dict[str, str] | None = None,
        actor: str | None = None,
        role: str | None = None,
        reason: str | None = None,
        tx: Transaction | None = None,
    ) -> Job:
        """Make a job. With a dedupe key, or a request id that was used before, it may be one that exists."""
        # Exactly the arguments: nothing else may have a name before this line.
        given = {name: value for name, value in locals().items() if value is not None}
        del given["self"]
        given.pop("tx", None)
        await self._know([given])
        (answer,) = await self._ask_new([self._new_job(given)], tx)
        return raised(answer)

    async def enqueue_many(self, items: Iterable[Item], *, tx: Transaction | None = None) -> list[Job | DetentError]:
        """Make jobs, each given as the arguments of `enqueue`, in one transaction."""
        listed = bounded(items)
        await self._know(listed)
        return await self._each(listed, self._enqueue_request, self._ask_new, tx)

    async def claim(
        self,
        *,
        worker: str,
        queues: Sequence[str] = ("default",),
        kinds: Sequence[str] | None = None,
        adapters: Sequence[str] | None = None,
        limit: int = 1,
        lease_s: float | None = None,
        allow_unusual_lease: bool = False,
        start: bool = False,
        request_id: str | None = None,
        actor: str | None = None,
        role: str | None = None,
        trace_id: str | None = None,
        tx: Transaction | None = None,
    ) -> list[Job]:
        """Take up to `limit` jobs that are due, the first in order. `start` also starts them, in the same move."""
        who = {"worker": worker, "request_id": request_id, "actor": actor, "role": role, "trace_id": trace_id}
        how = {"lease_s": lease_s, "allow_unusual_lease": allow_unusual_lease, "start": start}
        request = self.claim_request({**who, **how}, queues=queues, kinds=kinds, adapters=adapters, limit=limit)
        return [raised(self._seen(reply)) for reply in await self.store.claim(request, tx)]

    def claim_request(
        self,
        arguments: Item,
        *,
        queues: Sequence[str] = ("default",),
        kinds: Sequence[str] | None = None,
        adapters: Sequence[str] | None = None,
        limit: int = 1,
    ) -> ClaimRequest:
        """What `claim` asks of the store, checked."""
        command = self._command("claim", arguments)
        assert isinstance(command, Claim)
        check_whole("limit", limit, least=1, most=CLAIM_MAX)
        return ClaimRequest(
            self.tenant,
            command,
            names("queues", queues) or (),
            names("kinds", kinds),
            names("adapters", adapters),
            limit,
        )

    async def start(self, job_id: str, **who: Unpack[Who]) -> Job:
        """Begin the work on a job that was claimed; it is the first heartbeat."""
        return await self._do("start", job_id, who)

    async def renew(self, job_id: str, *, checkpoint: Any = None, progress: Any = None, **who: Unpack[Who]) -> Job:
        """Extend the lease; a checkpoint or progress comes along."""
        return await self._do("renew", job_id, who, checkpoint=checkpoint, progress=progress)

    async def complete(
        self,
        job_id: str,
        *,
        result: Any = None,
        result_ptr: str | None = None,
        execution_ms: int | None = None,
        **who: Unpack[Who],
    ) -> Job:
        """End the job as a success: with `result`, or with `result_ptr`, a pointer to where it is kept."""
        return await self._do("complete", job_id, who, result=result, result_ptr=result_ptr, execution_ms=execution_ms)

    async def fail(self, job_id: str, *, error: Reported, execution_ms: int | None = None, **who: Unpack[Who]) -> Job:
        """Report a failure: what becomes of the job, its lifecycle and its policy say."""
        return await self._do("fail", job_id, who, error=error, execution_ms=execution_ms)

    async def start_many(self, items: Iterable[Item], *, tx: Transaction | None = None) -> list[Job | DetentError]:
        """Start jobs, each given as the arguments of `start`, in one transaction; likewise the other batches."""
        return await self._batch("start", items, tx)

    async def renew_many(self, items: Iterable[Item], *, tx: Transaction | None = None) -> list[Job | DetentError]:
        """Extend leases, each given as the arguments of `renew`."""
        return await self._batch("renew", items, tx)

    async def complete_many(self, items: Iterable[Item], *, tx: Transaction | None = None) -> list[Job | DetentError]:
        """End jobs with their results, each given as the arguments of `complete`."""
        return await self._batch("complete", items, tx)

    async def fail_many(self, items: Iterable[Item], *, tx: Transaction | None = None) -> list[Job | DetentError]:
        """Report failures, each given as the arguments of `fail`."""
        return await self._batch("fail", items, tx)

    async def release(self, job_id: str, *, checkpoint: Any = None, **who: Unpack[Who]) -> Job:
        """Give the job back unfinished, without counting a failure."""
        return await self._do("release", job_id, who, checkpoint=checkpoint)

    async def progress(self, job_id: str, fraction: float, message: str = "", **who: Unpack[Who]) -> Job:
        """A note on how far along it is; no move."""
        return await self._do("progress", job_id, who, progress={"fraction": fraction, "message": message})

    async def artifact(
        self,
        job_id: str,
        *,
        name: str,
        pointer: str,
        size: int | None = None,
        digest: str | None = None,
        **who: Unpack[Who],
    ) -> Job:
        """Register something the handler has made, kept where `pointer` says; no move. `size` is in bytes."""
        return await self._do("artifact", job_id, who, name=name, pointer=pointer, size=size, digest=digest)

    async def submit(self, job_id: str, *, checkpoint: Any = None, **who: Unpack[Who]) -> Job:
        """Hand the job on to where its lifecycle leads next, such as from CREATED to its queue."""
        return await self._do("submit", job_id, who, checkpoint=checkpoint)

    async def schedule(self, job_id: str, *, verdict: str, rule: str, delay_s: float = 0.0, **who: Unpack[Who]) -> Job:
        """Record the policy's verdict: allow, throttle (by `delay_s`), hold or deny."""
        return await self._do("schedule", job_id, who, verdict=verdict, rule=rule, delay_s=delay_s)

    async def approve(self, job_id: str, *, result: Any = None, **who: Unpack[Who]) -> Job:
        """Say yes to a job that waits for an answer."""
        return await self._do("approve", job_id, who, result=result)

    async def deny(self, job_id: str, *, rule: str | None = None, **who: Unpack[Who]) -> Job:
        """Say no to a job that waits for an answer; `rule` is why."""
        return await self._do("deny", job_id, who, rule=rule)

    async def cancel(self, job_id: str, *, mode: str = "soft", **who: Unpack[Who]) -> Job:
        """Stop a job. Soft asks whoever runs it to stop within the grace; hard revokes the lease at once."""
        return await self._do("cancel", job_id, who, mode=mode)

    async def request_cancel(self, job_id: str, **who: Unpack[Who]) -> Job:
        """Ask whoever runs the job to stop within the grace; what a soft `cancel` does to a leased job."""
        return await self._do("request_cancel", job_id, who)

    async def retry(self, job_id: str, *, error: Reported | None = None, **who: Unpack[Who]) -> Job:
        """Send the job round again while its budget lasts."""
        return await self._do("retry", job_id, who, error=error)

    async def stall(self, job_id: str, **who: Unpack[Who]) -> Job:
        """Take the job from its owner and set it aside until somebody requeues it."""
        return await self._do("stall", job_id, who)

    async def requeue(self, job_id: str, **who: Unpack[Who]) -> Job:
        """Put a job that waits back into its queue."""
        return await self._do("requeue", job_id, who)

    async def expire(self, job_id: str, **who: Unpack[Who]) -> Job:
        """Take the job from an owner whose lease is over; `reconcile` does it by itself."""
        return await self._do("expire", job_id, who)

    async def time_out(self, job_id: str, **who: Unpack[Who]) -> Job:
        """End a state that has lasted longer than its limit; `reconcile` does it by itself."""
        return await self._do("time_out", job_id, who)

    async def dead_letter(
        self,
        job_id: str,
        *,
        reason_code: str | None = None,
        stage: str | None = None,
        error: Reported | None = None,
        **who: Unpack[Who],
    ) -> Job:
        """Set the job aside for good, with the reason and the stage."""
        return await self._do("dead_letter", job_id, who, reason_code=reason_code, stage=stage, error=error)

    async def rerun(self, job_id: str, *, payload: Any = None, delay_s: float = 0.0, **who: Unpack[Who]) -> Job:
        """Run an ended job again: the answer is a new job that names it. `payload` replaces the old one."""
        new = self._rerun_id(job_id, who.get("request_id"))
        return await self._do("rerun", job_id, who, new_job_id=new, payload=payload, delay_s=delay_s)


def names(field: str, given: Sequence[str] | None) -> tuple[str, ...] | None:
    """A list of names, bounded. A single string is most likely a slip."""
    if given is None:
        return None
    if isinstance(given, str) or not isinstance(given, Sequence) or not 1 <= len(given) <= NAMES_MAX:
        raise InvalidArgument(f"{field} is {shown(given)}; give a list of 1 to {NAMES_MAX} names")
    for name in given:
        check_text_name(field, name)
    return tuple(given)
