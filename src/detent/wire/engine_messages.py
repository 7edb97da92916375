"""What an engine and the service say to each other on the `/engine` namespace, each message as a shape.

What an engine says is answered: `accepted`, or why not. An `attempt` that is left out is that of the connection on
which the job was acknowledged or resumed.
"""

from typing import Annotated, Any, Final, Literal

from msgspec import Meta, field

from detent.wire.bounds import Count, Name, Text
from detent.wire.engine import EngineJob
from detent.wire.shape import CamelShape

CAPACITY_MAX: Final = 1_000
NAMES_MAX: Final = 100

Names = Annotated[list[Name], Meta(min_length=1, max_length=NAMES_MAX)]
Capacity = Annotated[int, Meta(ge=0, le=CAPACITY_MAX)]
Percent = Annotated[float, Meta(ge=0, le=100)]
# What an engine may say of its own failure; `queue`, and what the system finds out, are not for it to say.
Category = Literal["validation", "engine", "system"]


class HeldJob(CamelShape, frozen=True, kw_only=True):
    """Without its attempt: it was acknowledged, and the answer to that was lost."""

    job_id: Name
    attempt: Count | None = None


class Register(CamelShape, frozen=True, kw_only=True):
    """`capacity`: how many jobs at once; 0: none for now. `jobs`: what it still holds from before it was cut off.

    `instanceId` is new with each start of the engine, and stays the same over its reconnects. `version` is for people.
    """

    engine_id: Name
    job_types: Names
    capacity: Capacity = 1
    queues: Names = field(default_factory=lambda: ["default"])
    adapters: Names | None = None
    instance_id: Name | None = None
    version: Name | None = None
    jobs: Annotated[list[HeldJob], Meta(max_length=CAPACITY_MAX)] = field(default_factory=list)


class JobAck(CamelShape, frozen=True, kw_only=True):
    job_id: Name


class JobReject(CamelShape, frozen=True, kw_only=True):
    job_id: Name
    reason: Text | None = None


class JobStarted(CamelShape, frozen=True, kw_only=True):
    job_id: Name
    attempt: Count | None = None


class JobProgress(CamelShape, frozen=True, kw_only=True):
    job_id: Name
    progress: Percent
    message: Text = ""
    attempt: Count | None = None


class JobComplete(CamelShape, frozen=True, kw_only=True):
    job_id: Name
    result: Any = None
    attempt: Count | None = None


class JobFailed(CamelShape, frozen=True, kw_only=True):
    """`error` as in telemetry: `BAD_ASSET: corrupted_texture.png`."""

    job_id: Name
    error: Text
    category: Category | None = None
    attempt: Count | None = None


class JobCancelled(CamelShape, frozen=True, kw_only=True):
    """It was told to stop, and has."""

    job_id: Name
    attempt: Count | None = None


class Heartbeat(CamelShape, frozen=True, kw_only=True):
    """Of all that it holds. `capacity`: another one from now on."""

    capacity: Capacity | None = None


class Watch(CamelShape, frozen=True, kw_only=True):
    """`after`: the cursor of the last telemetry that was seen; without it, from now on."""

    job_id: Name | None = None
    job_type: Name | None = None
    queue: Name | None = None
    after: Text | None = None


class Unwatch(CamelShape, frozen=True, kw_only=True):
    pass


SAID: Final[dict[str, type[CamelShape]]] = {
    "register": Register,
    "job_ack": JobAck,
    "job_reject": JobReject,
    "job_started": JobStarted,
    "job_progress": JobProgress,
    "job_complete": JobComplete,
    "job_failed": JobFailed,
    "job_cancelled": JobCancelled,
    "heartbeat": Heartbeat,
    "watch": Watch,
    "unwatch": Unwatch,
}


# -- what the service says


class JobOffer(CamelShape, frozen=True, kw_only=True):
    """A job that can be had. It is nobody's until it is acknowledged; the offer stands for `expiresInS`."""

    job: EngineJob
    expires_in_s: float


class Granted(CamelShape, frozen=True, kw_only=True):
    """A job that is the engine's, by this attempt, as long as a heartbeat comes every `heartbeatS`."""

    job: EngineJob
    attempt: int
    heartbeat_s: float | None
    lease_expires_at: int | None
    is_cancelled: bool


class Lost(CamelShape, frozen=True, kw_only=True):
    """A job that is the engine's no more. It is to stop, and what it says of it changes nothing."""

    job_id: str
    attempt: int | None
    status: str | None
    error: str | None


class Stop(CamelShape, frozen=True, kw_only=True):
    """Somebody asks for the job to stop, by then at the latest. `job_cancelled` says that it has."""

    job_id: str
    attempt: int
    reason: str | None
    until: int | None


class Refusal(CamelShape, frozen=True, kw_only=True):
    """`code` is stable, `detail` for people. Of a move: the status that the job is in, and what is allowed from it."""

    code: str
    detail: str
    job_id: str | None = None
    status: str | None = None
    allowed: list[str] | None = None
    accepted: bool = False


class Accepted(CamelShape, frozen=True, kw_only=True):
    accepted: bool = True


class Registered(Accepted, frozen=True, kw_only=True):
    """`jobs`: what it holds and can go on with. `lost`: what it thought it held."""

    engine_id: str
    jobs: list[Granted]
    lost: list[Lost]


class Acknowledged(Granted, frozen=True, kw_only=True):
    """The job is the engine's, and can be started."""

    accepted: bool = True


class Moved(Accepted, frozen=True, kw_only=True):
    """The job as it is now."""

    job: EngineJob


class Alive(Accepted, frozen=True, kw_only=True):
    """`lost`: jobs that are the engine's no more. `cancelled`: those that are to stop."""

    held: int
    lost: list[Lost]
    cancelled: list[Stop]


class Watching(Accepted, frozen=True, kw_only=True):
    """From this place on."""

    cursor: str


class WatchEnded(CamelShape, frozen=True, kw_only=True):
    """`reason`: slow, closing, trouble or revoked. Whoever watches again after the cursor has no gap and no double."""

    reason: str
    cursor: str
