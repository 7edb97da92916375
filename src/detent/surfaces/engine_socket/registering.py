"""What an engine may call itself, and what it still holds when it comes back: by its own word, and by the record."""

from collections.abc import Sequence

from detent.client import Job
from detent.kernel import Job as Record
from detent.lifecycle.bounds import check_name
from detent.surfaces.engine_socket.engine import Engine
from detent.surfaces.engine_socket.roster import Roster
from detent.surfaces.engine_socket.shaping import Shaping
from detent.surfaces.engine_socket.visitor import Visitor
from detent.wire.engine_messages import Granted, HeldJob, Lost, Register


def check_names(said: Register) -> None:
    """What could be on no record is refused at once, and not at the first job."""
    named = {
        "engineId": [said.engine_id], "jobTypes": said.job_types, "queues": said.queues, "adapters": said.adapters,
        "instanceId": [said.instance_id], "version": [said.version],
    }  # fmt: skip
    for field, names in named.items():
        for name in names or ():
            if name is not None:
                check_name(field, name)


async def resumed(
    visitor: Visitor, engine: Engine, said: Sequence[HeldJob], roster: Roster, shaping: Shaping
) -> tuple[list[Granted], list[Lost]]:
    """The leases of what it holds are renewed. What it does not name it has forgotten: that runs out by itself."""
    client, granted, lost = visitor.client, list[Granted](), list[Lost]()
    found = await client.store.get(client.tenant, [each.job_id for each in said]) if said else []
    for each, job in zip(said, found, strict=True):
        renewed = await _renewed(visitor, engine, job) if job is not None and _is_its(job, engine, each) else None
        if renewed is None:
            lost.append(await shaping.lost(client, each.job_id, each.attempt, job))
        else:
            roster.hold(engine, renewed.id, renewed.attempt)
            granted.append(await shaping.granted(client, renewed.record))
    return granted, lost


def _is_its(job: Record, engine: Engine, said: HeldJob) -> bool:
    """By the fence. An engine that never heard whether it was given the job can have it as long as nobody began it:
    of two that begin, one is refused.
    """
    if job.owner != engine.name:
        return False
    return job.phase == "held" if said.attempt is None else job.attempt == said.attempt


async def _renewed(visitor: Visitor, engine: Engine, job: Record) -> Job | None:
    asked = {"job_id": job.id, "worker": engine.name, "attempt": job.attempt}
    (answer,) = await visitor.client.apply([visitor.grant.asked("renew", asked) | {"verb": "renew"}])
    return answer if isinstance(answer, Job) else None
