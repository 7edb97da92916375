"""What a store is asked to do, and what it answers: one request for one job, one reply to it."""

from typing import NamedTuple

from msgspec import Struct

from detent.errors import DetentError
from detent.kernel import Job
from detent.kernel.change import Answer, Receipt
from detent.kernel.command import Claim, Command
from detent.lifecycle import Lifecycle

Key = tuple[str, str]  # tenant and job id


class Request(Struct, frozen=True, gc=False):
    """One command for one job. An enqueue also brings the lifecycle that its job will follow.

    `is_fresh`: the id was made up for this very request, so that nobody can have it, and nobody need look.
    """

    tenant: str
    job_id: str
    command: Command
    lifecycle: Lifecycle | None = None
    is_fresh: bool = False


class ClaimRequest(Struct, frozen=True, gc=False):
    """A claim goes to the queue, not to a job. None for kinds or adapters: any.

    `spared` are left to others even so: lanes of queue, kind and adapter for which somebody has that adapter.
    """

    tenant: str
    command: Claim
    queues: tuple[str, ...] = ("default",)
    kinds: tuple[str, ...] | None = None
    adapters: tuple[str, ...] | None = None
    limit: int = 1
    spared: frozenset[tuple[str, str, str]] = frozenset()


class Reply(Struct, frozen=True, gc=False):
    """The job as it is now, and how the request was answered."""

    job: Job
    answer: Answer = "applied"


# Of several requests each has its own reply; one that was refused is in its place as the error.
Replies = list[Reply | DetentError]


class Scope(NamedTuple):
    """Within what a request id is unique: a verb that makes or picks its jobs, or else the job."""

    tenant: str
    verb: str
    job_id: str
    request_id: str


class Kept(Struct, frozen=True, gc=False):
    """A receipt where a store keeps it. `claimed` are the jobs that a claim took, each with its attempt."""

    scope: Scope
    receipt: Receipt
    claimed: dict[str, int] | None = None


def scope_of(tenant: str, job_id: str, verb: str, request_id: str) -> Scope:
    if verb in ("enqueue", "claim"):
        return Scope(tenant, verb, "", request_id)
    return Scope(tenant, "", job_id, request_id)
