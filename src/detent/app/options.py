"""What can be said of a job: when it is declared, and when one is made. Each is a keyword; none is needed."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final, TypedDict

from detent.app.cron import Cron
from detent.errors import InvalidArgument, JobError, shown
from detent.lifecycle import Lifecycle, Limit, Retry
from detent.runtime.handler import Isolation
from detent.store.protocol import Transaction
from detent.wire.dispatch import PRIORITIES, PriorityName

if TYPE_CHECKING:
    from detent.app.function import JobFunction

# An exception, as its class or by name, and what it means: a class of `JobError`, or a retry of its own.
Errors = Mapping[type[BaseException] | str, type[JobError] | Retry]
# A format string, or a function of the same arguments.
KeyMaker = str | Callable[..., str | None]


class Settings(TypedDict, total=False):
    """What a job type is like. `App(defaults=…)` gives them for every job; a job's own come first.

    `lifecycle` is a name or a `Lifecycle`. `priority` is a number, or critical (20), interactive (10) or batch (0).
    `errors` says what exceptions mean, and holds for their subclasses too. `isolation` is where the function runs:
    "async" on the event loop, "thread", or "process". `adapters` are those its workers have. The others are those of
    `Policy`; what is not given is as the lifecycle has it.
    """

    queue: str
    lifecycle: str | Lifecycle
    priority: int | PriorityName
    tenant: str
    isolation: Isolation
    adapters: Sequence[str]
    errors: Errors
    retry: Retry
    lease_s: float
    heartbeat_s: float
    allow_unusual_lease: bool
    timeout_s: float
    timeouts: dict[str, float]
    grace_s: float
    aging_s: float
    rerun_failed: bool
    reclaim: bool
    accept_amendments: bool
    limit: Limit


class JobOptions(Settings, total=False):
    """Of one job type. `kind` is its name on the record, else the function's.

    `compensate` is the job that undoes its work, as a function or a kind. `dedupe` makes the dedupe key: a format
    string ("{path}") or a function of the same arguments. `limit_key` makes the key of the `limit` likewise: jobs that
    share it share the limit; without one all jobs of the kind do. `cron` is when a job is made by itself.
    """

    kind: str
    compensate: "str | JobFunction[Any, Any, Any, Any]"
    dedupe: KeyMaker
    limit_key: KeyMaker
    cron: str | Cron


class EnqueueOptions(TypedDict, total=False):
    """Of one job. They are those of `Client.enqueue`; what is not given is as the job was declared.

    Inside a handler `parent_job_id`, `correlation_id` and `trace_id` are those of the job it works on, unless given.
    """

    tx: Transaction
    dedupe_key: str
    limit_key: str
    priority: int | PriorityName
    delay_s: float
    run_at: datetime
    correlation_id: str
    request_id: str
    job_id: str
    queue: str
    tenant: str
    parent_job_id: str
    workflow_id: str
    step_index: int
    topic: str
    context_ptr: str
    adapter_id: str
    env: dict[str, str]
    trace_id: str
    actor: str
    reason: str


SETTINGS: Final = frozenset(Settings.__annotations__)
JOB_OPTIONS: Final = frozenset(JobOptions.__annotations__)
ENQUEUE_OPTIONS: Final = frozenset(EnqueueOptions.__annotations__)


def check_options(where: str, given: Mapping[str, Any], known: frozenset[str]) -> None:
    """A keyword that does not exist is most likely a slip; Python would let it pass, as one of **options."""
    for name in given:
        if name not in known:
            close = get_close_matches(name, known, n=1)
            hint = f"did you mean '{close[0]}'?" if close else f"there are {', '.join(sorted(known))}"
            raise InvalidArgument(f"{where} has no option '{name}'; {hint}")


def priority_number(priority: Any) -> Any:
    """Names for numbers. A number is checked where every other is."""
    if not isinstance(priority, str):
        return priority
    for name, number in PRIORITIES.items():
        if name == priority:
            return number
    raise InvalidArgument(f"priority is {shown(priority)}; give a number, or one of {', '.join(PRIORITIES)}")
