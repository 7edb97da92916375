"""Histories to audit: a job driven through the real kernel, on a clock that only tests move; and edits of its log."""

from typing import Any, Final, Self

from msgspec.structs import replace

from detent.audit import Violation, check_job
from detent.kernel import Change, Error, Event, Job, Note, decide
from detent.kernel.command import Claim, Command, Complete, Enqueue, Fail, Start
from detent.kernel.due import due_command
from detent.kernel.fold import fold
from detent.kernel.notes import late_result
from detent.lifecycle import Lifecycle

SECOND: Final = 1_000_000
BEGIN: Final = 1_700_000_000 * SECOND
TRANSIENT: Final = Error("TransientError", "try again")
PERMANENT: Final = Error("PermanentError", "never")


class Story:
    """One job and everything that happened to it. Each step returns the story, so that a story reads as one."""

    def __init__(self, lifecycle: Lifecycle, job_id: str = "j1", **fields: Any) -> None:
        self.lifecycle = lifecycle
        self.now = BEGIN
        self.events: list[Event] = []
        self.notes: list[Note] = []
        self.spawned: list[Change] = []
        command = Enqueue(job_id=job_id, kind="k", payload=b'{"page": 1}', **fields)
        created = decide(lifecycle, None, command, self.now)
        assert isinstance(created, Change), str(created)
        self._write(created)

    def do(self, command: Command, *, after_s: float = 1.0) -> Self:
        """A step that is accepted. Where the lifecycle wants the revision it is given the present one."""
        self.now += round(after_s * SECOND)
        if self.lifecycle.requires_rev:
            command = replace(command, expected_rev=self.job.rev)
        answer = decide(self.lifecycle, self.job, command, self.now)
        assert isinstance(answer, Change), str(answer)
        if answer.before.id == self.job.id:
            self._write(answer)
        else:
            self.spawned.append(answer)
        return self

    def refused(self, command: Command) -> Self:
        answer = decide(self.lifecycle, self.job, command, self.now)
        assert not isinstance(answer, Change)
        note = late_result(self.job, command, answer, self.now)
        self.notes += [note] if note is not None else []
        return self

    def reconcile(self) -> Self:
        """On to the moment at which the system acts by itself."""
        assert self.job.wake_at is not None, f"nothing is due in {self.job.state}"
        self.now = max(self.now, self.job.wake_at)
        command = due_command(self.lifecycle, self.job, self.now)
        assert command is not None
        return self.do(command, after_s=0)

    def claim(self, worker: str = "w1", *, after_s: float = 1.0, **fields: Any) -> Self:
        return self.do(Claim(worker=worker, **fields), after_s=after_s)

    def own(self, verb: type[Command], worker: str = "w1", *, after_s: float = 1.0, **fields: Any) -> Self:
        return self.do(verb(worker=worker, attempt=self.job.attempt, **fields), after_s=after_s)

    def start(self) -> Self:
        return self.own(Start)

    def complete(self) -> Self:
        return self.own(Complete, result=b'"done"')

    def fail(self, error: Error = TRANSIENT) -> Self:
        return self.own(Fail, error=error)

    def event(self, verb: str, number: int = 1) -> Event:
        """The first, or a later, event of a verb."""
        return [event for event in self.events if event.verb == verb][number - 1]

    def _write(self, change: Change) -> None:
        self.job: Job = change.job
        self.events += change.events
        self.notes += change.notes
        self.spawned += change.spawned


def edited(
    story: Story, verb: str, number: int = 1, /, *, changes: dict[str, Any] | None = None, **fields: Any
) -> Story:
    """The story with one event altered, its columns too."""
    old = story.event(verb, number)
    new = replace(old, changes=old.changes | (changes or {}), **fields)
    story.events[story.events.index(old)] = new
    return story


def cut(story: Story, verb: str, *, columns: tuple[str, ...]) -> Story:
    """The story with columns left out of one event, as if the move had forgotten them."""
    old = story.event(verb)
    kept = {name: value for name, value in old.changes.items() if name not in columns}
    story.events[story.events.index(old)] = replace(old, changes=kept)
    return story


def appended(story: Story, event: Event, **fields: Any) -> Story:
    """The story with one more event, next in the chain."""
    last = story.events[-1]
    chained: dict[str, Any] = {"rev": last.rev + 1, "from_state": last.to_state}
    story.events.append(replace(event, **(chained | fields)))
    return story


def record_of(story: Story, **fields: Any) -> Job:
    """The record that the log adds up to, so that only the log is at fault."""
    return replace(story.job, **(fold(story.events) | fields))


def found_in(story: Story, **fields: Any) -> list[Violation]:
    return check_job(story.lifecycle, record_of(story, **fields), story.events, story.notes)


def ids(violations: list[Violation] | tuple[Violation, ...]) -> set[str]:
    return {violation.invariant for violation in violations}
