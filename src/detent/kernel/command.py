"""What can be asked of the kernel: one struct per verb, tagged by it."""

from typing import ClassVar, Final, Literal, get_args

from msgspec import Struct

from detent.kernel.failure import Error, ReasonCode, Stage
from detent.kernel.job import NULL, Blob, Progress
from detent.lifecycle import Policy
from detent.lifecycle.words import Role

Verdict = Literal["allow", "deny", "hold", "throttle"]
CancelMode = Literal["soft", "hard"]
VERDICTS: Final[tuple[str, ...]] = get_args(Verdict)


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")


class Command(Struct, frozen=True, kw_only=True, tag_field="verb", tag=_snake, forbid_unknown_fields=True, gc=False):
    """Who asks, and on what ground. `worker` makes the asker a worker; `attempt` and `expected_rev` are the fence.

    `value_digest` stands for payload, result and checkpoint when a repeat is told from another request: encrypted,
    the same value is other bytes each time. `granted` are the roles that the asker may act in, where somebody has
    judged that; None: any.
    """

    verb: ClassVar[str] = ""

    actor: str | None = None
    role: Role | None = None
    worker: str | None = None
    attempt: int | None = None
    expected_rev: int | None = None
    request_id: str | None = None
    reason: str | None = None
    trace_id: str | None = None
    value_digest: str | None = None
    granted: frozenset[Role] | None = None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.verb = _snake(cls.__name__)


class Enqueue(Command, frozen=True):
    """Create a job. `submit` also submits it where the lifecycle has that verb, in the same change.

    `delay_s`: not before so long from now, as the store's clock has it. With `run_at` too, the later one counts.
    `limit_key`: with whom it shares its limit; if it has one and names no key, with all jobs of its kind.
    """

    job_id: str
    kind: str
    payload: Blob = NULL
    tenant: str = "default"
    queue: str = "default"
    priority: int = 0
    run_at: int | None = None
    policy: Policy | None = None
    dedupe_key: str | None = None
    correlation_id: str | None = None
    parent_job_id: str | None = None
    workflow_id: str | None = None
    step_index: int | None = None
    topic: str | None = None
    context_ptr: str | None = None
    adapter_id: str | None = None
    env: dict[str, str] = {}
    limit_key: str | None = None
    submit: bool = False
    delay_s: float = 0.0


class Submit(Command, frozen=True):
    checkpoint: Blob | None = None


class Schedule(Command, frozen=True):
    """The policy's verdict and the rule that gave it. `delay_s` is how long a throttled job waits."""

    verdict: Verdict
    rule: str
    delay_s: float = 0.0


class Approve(Command, frozen=True):
    result: Blob = NULL


class Deny(Command, frozen=True):
    rule: str | None = None


class Claim(Command, frozen=True):
    """Take the lease. `start` also starts it, in the same change, for a worker that has the capacity now."""

    lease_s: float | None = None
    allow_unusual_lease: bool = False
    start: bool = False


class Start(Command, frozen=True):
    pass


class Renew(Command, frozen=True):
    checkpoint: Blob | None = None
    progress: Progress | None = None


class Complete(Command, frozen=True):
    result: Blob = NULL
    result_ptr: str | None = None
    execution_ms: int | None = None


class Fail(Command, frozen=True):
    error: Error
    execution_ms: int | None = None


class Retry(Command, frozen=True):
    error: Error = Error("TransientError", "retried by the system")


class Release(Command, frozen=True):
    checkpoint: Blob | None = None


class Stall(Command, frozen=True):
    pass


class Requeue(Command, frozen=True):
    pass


class Expire(Command, frozen=True):
    pass


class TimeOut(Command, frozen=True):
    pass


class RequestCancel(Command, frozen=True):
    pass


class Cancel(Command, frozen=True):
    mode: CancelMode = "soft"


class DeadLetter(Command, frozen=True):
    reason_code: ReasonCode | None = None
    stage: Stage | None = None
    error: Error | None = None


class ReportProgress(Command, frozen=True, tag="progress"):
    """No move: it leaves a note."""

    progress: Progress


class RegisterArtifact(Command, frozen=True, tag="artifact"):
    """No move either: a note of something the handler has made, which is kept elsewhere."""

    name: str
    pointer: str
    size: int | None = None
    digest: str | None = None


class Rerun(Command, frozen=True):
    """Run an ended job again: as a new job that names the old one and keeps its policy."""

    new_job_id: str
    payload: Blob | None = None
    delay_s: float = 0.0


ReportProgress.verb = "progress"
RegisterArtifact.verb = "artifact"

AnyCommand = (
    Enqueue | Submit | Schedule | Approve | Deny | Claim | Start | Renew | Complete | Fail | Retry | Release | Stall
    | Requeue | Expire | TimeOut | RequestCancel | Cancel | DeadLetter | ReportProgress | RegisterArtifact
    | Rerun
)  # fmt: skip
COMMANDS: Final[dict[str, type[Command]]] = {command.verb: command for command in get_args(AnyCommand)}
