"""Checking a record against what its log adds up to (I3), and its values against their digests and its state."""

from detent.audit.invariants import Violation
from detent.audit.step import Columns
from detent.kernel.digest import digest, digest_of
from detent.kernel.fold import differences
from detent.kernel.job import Blob, Job
from detent.lifecycle import Lifecycle


def check_row(lifecycle: Lifecycle, columns: Columns, job: Job) -> list[Violation]:
    """`columns` are the fold of all its events. Owner and lease need no look here: the log's were checked (I7)."""
    messages = [
        f"{name} is {shown!r}; the log adds up to {folded!r}"
        for name, (folded, shown) in differences(columns, job).items()
    ]
    messages += _misfits(lifecycle, job)
    messages += _altered(job)
    return [Violation("I3", job.id, job.rev, message) for message in messages]


def _misfits(lifecycle: Lifecycle, job: Job) -> list[str]:
    """A success has a result, a failure an error, everything else neither; a dead letter's error says why and where."""
    state = lifecycle.by_name.get(job.state)
    if state is None:
        return [f"'{job.state}' is no state of {lifecycle.name} v{lifecycle.version}"]
    misfits = []
    for name, value, outcome in (("result", job.result, "success"), ("error", job.error, "failure")):
        if (value is None) == (state.outcome == outcome):
            misfits.append(f"'{job.state}' {'without' if value is None else 'with'} {name}")
    return misfits


def _altered(job: Job) -> list[str]:
    found = {
        "payload": (digest(job.spec.payload), job.payload_digest),
        "result": (_digest(job.result), job.result_digest),
        "checkpoint": (_digest(job.checkpoint), job.checkpoint_digest),
        "error": (None if job.error is None else digest_of(job.error), job.error_digest),
    }
    return [f"{name} has the digest {is_now}, not {was}" for name, (is_now, was) in found.items() if is_now != was]


def _digest(value: Blob | None) -> str | None:
    return None if value is None else digest(value)
