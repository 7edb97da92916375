"""The words in which a demo is written: acts, cues and scenes. `scenes` has the scenes, `acting` what an act does."""

from typing import Any, Final, Literal

from msgspec import Struct

LEASE_S: Final = 2.0  # in earnest 30 s and more; here a worker is to be missed while somebody watches
GRACE_S: Final = 1.0

Deed = Literal["work", "fail", "vanish", "linger", "stall", "release", "misread"]
Wish = Literal["submit", "approve", "deny", "requeue", "cancel", "cancel hard"]


class Act(Struct, frozen=True, omit_defaults=True):
    """How one attempt goes: what is done, for how long, and in how many steps, each with a checkpoint."""

    do: Deed
    for_s: float = 0.15
    steps: int = 1
    error: str = ""
    message: str = ""


class Cue(Struct, frozen=True):
    """What somebody does to a job once it is in a phase."""

    phase: str
    do: Wish


class Scene(Struct, frozen=True):
    """A kind of job, how its attempts go, and the state it must end in, or is left in for whoever comes after the demo.

    The last act is that of all further attempts. `share` says how many of these jobs there are beyond the first one.
    `when`: between which fractions of the demo they are enqueued. `asked` are further arguments of enqueue, `policy`
    settings of the job's own. `again`: it is asked for twice, with the same dedupe key or request id. `parent`: the
    kind of job that it belongs to.
    """

    kind: str
    end: str
    acts: tuple[Act, ...] = (Act("work"),)
    share: int = 1
    when: tuple[float, float] = (0.0, 1.0)
    cue: Cue | None = None
    asked: dict[str, Any] = {}
    policy: dict[str, Any] = {}
    again: Literal["dedupe_key", "request_id"] | None = None
    parent: str | None = None
    is_left: bool = False
