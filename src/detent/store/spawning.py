"""Jobs that come of another one's end, in the same transaction: what they are called."""

from msgspec.structs import replace

from detent.kernel import Change
from detent.kernel.digest import derived_id
from detent.store.facts import WorkingCopy


def with_free_id(spawned: Change, copy: WorkingCopy) -> Change:
    """A job that comes of another has an id that follows from it. If somebody has guessed it, the next one will do."""
    spec = spawned.before.spec
    job_id = spec.id
    while copy.job(spec.tenant, job_id) is not None:
        job_id = derived_id(job_id)
    if job_id == spec.id:
        return spawned
    events = tuple(replace(event, job_id=job_id) for event in spawned.events)
    return replace(spawned, before=replace(spawned.before, spec=replace(spec, id=job_id)), events=events)
