"""What becomes of the jobs that a killed worker held, followed from event to event until they have all ended."""

from collections.abc import Iterator

from detent.client import Event
from detent.lifecycle import Lifecycle
from detent.surfaces.cli.demo.director import Blow, returns


class Rescue:
    """The dead do nothing: whatever happens to a job of theirs, somebody else does it."""

    def __init__(self, blow: Blow) -> None:
        self._worker = blow.worker
        self._held = len(blow.held)
        self._unnoticed = {job.id for job in blow.held}
        self._unfinished = {job.id for job in blow.held if returns(job)}
        self._saved = {job.id for job in blow.held if returns(job) and job.checkpoint is not None}
        self._ended = 0
        self._is_resumed = False

    def follow(self, event: Event, lifecycle: Lifecycle) -> Iterator[str]:
        is_end = lifecycle.by_name[event.to_state].phase == "ended"
        if event.job_id in self._unnoticed:
            yield from self._notice(event, is_end=is_end)
        if event.verb == "claim" and event.job_id in (self._saved or self._unfinished) and not self._is_resumed:
            self._is_resumed = True
            place = ", from its checkpoint" if event.job_id in self._saved else ""
            yield f"{event.worker} goes on with {event.job_id}: attempt {event.attempt}{place}"
        if is_end and event.job_id in self._unfinished:
            self._unfinished.discard(event.job_id)
            if not self._unfinished:
                yield f"recovered: others have ended what {self._worker} left behind"

    def _notice(self, event: Event, *, is_end: bool) -> Iterator[str]:
        self._unnoticed.discard(event.job_id)
        self._ended += is_end
        if not self._unnoticed:
            # Some lifecycles answer the loss of a worker with an end.
            what = f"{self._held - self._ended} go round again, {self._ended} end, as their lifecycles declare"
            yield f"the reconciler took {self._worker}'s {self._held} jobs away: {what}"
