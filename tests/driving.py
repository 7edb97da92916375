"""A job driven through the real kernel, on a clock that only the test moves, with all that was said of it kept."""

from collections.abc import Callable
from typing import Any, Final

from hypothesis import strategies as st

from detent.errors import Refused
from detent.kernel import Change, Error, Event, Job, Note, decide
from detent.kernel.command import (
    Cancel,
    Claim,
    Command,
    Complete,
    Enqueue,
    Fail,
    RegisterArtifact,
    Release,
    Renew,
    ReportProgress,
    Start,
)
from detent.kernel.due import due_command
from detent.kernel.job import Progress
from detent.kernel.notes import late_result
from detent.lifecycle import Lifecycle

START: Final = 1_738_425_600_123_456  # 2025-02-01T16:00:00.123456Z
WORKER: Final = "worker-1"
STEPS_MAX: Final = 200


class Life:
    def __init__(self, lifecycle: Lifecycle, command: Enqueue | None = None, *, at: int = START, **fields: Any) -> None:
        self.lifecycle = lifecycle
        self.now = at
        self.events: list[Event] = []
        self.notes: list[Note] = []
        self.spawned: list[Change] = []
        self.records: list[Job] = []
        created = decide(lifecycle, None, command or Enqueue(**{"job_id": "job-1", "kind": "scan"} | fields), at)
        assert isinstance(created, Change)
        self.job: Job = self._write(created)

    def do(self, command: Command) -> Change:
        answer = self.ask(command)
        assert isinstance(answer, Change), str(answer)
        return answer

    def ask(self, command: Command) -> Change | Refused:
        """As a store does it: write what is accepted, keep the note of a result that came too late."""
        answer = decide(self.lifecycle, self.job, command, self.now)
        if isinstance(answer, Change):
            self.job = self._write(answer)
        else:
            note = late_result(self.job, command, answer, self.now)
            self.notes += [note] if note is not None else []
        return answer

    def wait(self, seconds: float) -> None:
        self.now += round(seconds * 1_000_000)

    def reconcile(self) -> Change:
        """Go on to the moment at which the system acts by itself, and let it."""
        assert self.job.wake_at is not None, f"nothing is due in {self.job.state}"
        self.now = max(self.now, self.job.wake_at)
        command = due_command(self.lifecycle, self.job, self.now)
        assert command is not None
        return self.do(command)

    def run_out(self) -> None:
        """Let time alone bring the job to its end."""
        for _ in range(STEPS_MAX):
            if self.job.is_ended or self.job.wake_at is None:
                return
            self.reconcile()
        raise AssertionError(f"still {self.job.state} after {STEPS_MAX} steps")

    def as_owner(self) -> dict[str, Any]:
        return {"worker": WORKER, "attempt": self.job.attempt, "expected_rev": self.job.rev}

    def claim(self, *, start: bool = False) -> Change:
        return self.do(Claim(worker=WORKER, start=start))

    def start(self) -> Change:
        return self.do(Start(**self.as_owner()))

    def complete(self, result: bytes = b"{}") -> Change:
        return self.do(Complete(**self.as_owner(), result=result))

    def fail(self, type_: str = "TransientError", message: str = "no luck", *, code: str | None = None) -> Change:
        return self.do(Fail(**self.as_owner(), error=Error(type_, message, code=code)))

    def progress(self, fraction: float) -> Change:
        return self.do(ReportProgress(**self.as_owner(), progress=Progress(fraction)))

    def artifact(self, name: str = "page", pointer: str = "s3://made/page", **said: Any) -> Change:
        return self.do(RegisterArtifact(**self.as_owner(), name=name, pointer=pointer, **said))

    def _write(self, change: Change) -> Job:
        self.events += change.events
        self.notes += change.notes
        self.spawned += change.spawned
        self.records.append(change.job)
        return change.job


# -- lives as hypothesis draws them ----------------------------------------------------------------------------------

Step = tuple[str, float]
Act = Callable[[Life], Command | None]

ACTS: Final[dict[str, Act]] = {
    "claim": lambda life: Claim(worker=WORKER),
    "start": lambda life: Start(**life.as_owner()),
    "renew": lambda life: Renew(**life.as_owner()),
    "heartbeat": lambda life: Renew(**life.as_owner(), progress=Progress(0.5)),
    "progress": lambda life: ReportProgress(**life.as_owner(), progress=Progress(0.25)),
    "artifact": lambda life: RegisterArtifact(**life.as_owner(), name="page", pointer="s3://made/page"),
    "complete": lambda life: Complete(**life.as_owner(), result=b"1"),
    "fail": lambda life: Fail(**life.as_owner(), error=Error("TransientError", "no luck")),
    "give up": lambda life: Fail(**life.as_owner(), error=Error("PermanentError", "never")),
    "release": lambda life: Release(**life.as_owner()),
    "cancel": lambda life: Cancel(mode="hard", expected_rev=life.job.rev),
    "stop": lambda life: Cancel(mode="soft", expected_rev=life.job.rev),
    "intrude": lambda life: Complete(**life.as_owner() | {"worker": "somebody-else"}),
    "reconcile": lambda life: due_command(life.lifecycle, life.job, life.now),
}
WAITS_S: Final = (0.0, 0.4, 1.0, 9.0, 12.0, 31.0, 61.0)

steps: Final = st.lists(st.tuples(st.sampled_from(sorted(ACTS)), st.sampled_from(WAITS_S)), max_size=12)


def live(life: Life, story: list[Step]) -> Life:
    """Try each act at its time. Many are refused; that is part of the story."""
    for act, wait_s in story:
        life.wait(wait_s)
        command = ACTS[act](life)
        if command is not None:
            life.ask(command)
    return life
