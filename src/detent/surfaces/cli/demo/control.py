"""Everybody of the demo who is no worker, in one process: gateway, operator, and somebody who claims and never starts.

Each is a duty that looks at the store, does what is to be done now, and is asked again a little later.
"""

from time import monotonic, sleep
from typing import Any, Final

import detent
from detent.client import Job, SyncClient
from detent.errors import DetentError, Refused
from detent.surfaces.cli.demo.child import Leaving, Told, casting, tell
from detent.surfaces.cli.demo.scene import Cue
from detent.surfaces.cli.demo.scenes import BY_HAND
from detent.surfaces.cli.demo.script import Part, write_script

TICK_S: Final = 0.1
IDLER: Final = "idler"
OPERATOR: Final[dict[str, Any]] = {"actor": "ann", "role": "operator"}
STANDING: Final = "requeue"  # a wish that holds until the job has ended


class Control:
    def __init__(self, client: SyncClient, script: list[Part]) -> None:
        self._client = client
        self._to_come = list(script)
        self._cues: dict[str, Cue] = {}

    def look(self, elapsed_s: float) -> None:
        self._enqueue(elapsed_s)
        self._operate()
        self._client.claim(worker=IDLER, queues=[BY_HAND])

    def _enqueue(self, elapsed_s: float) -> None:
        """The gateway: what is due by now. Who asks twice is answered twice, and gets one job."""
        due = [part for part in self._to_come if part.at_s <= elapsed_s]
        self._to_come = self._to_come[len(due) :]
        for answer in self._client.enqueue_many(asked for part in due for asked in part.asked_for()):
            if isinstance(answer, DetentError):
                raise answer
            if answer.answer != "applied":
                tell(Told("again", "gateway", answer.id, answer.answer))
        self._cues |= {part.job_id: part.scene.cue for part in due if part.scene.cue is not None}

    def _operate(self) -> None:
        """The operator, who looks at the jobs that concern her."""
        for job_id, cue in list(self._cues.items()):
            job = self._client.get(job_id)
            is_done = job.phase == cue.phase and self._is_done(job, cue)
            if job.is_ended or (is_done and cue.do != STANDING):
                del self._cues[job_id]

    def _is_done(self, job: Job, cue: Cue) -> bool:
        try:
            self._do(job, cue)
        except Refused:  # it moved since it was read: she looks at it again
            return False
        return True

    def _do(self, job: Job, cue: Cue) -> None:
        match cue.do:
            case "submit":
                self._client.submit(job.id, reason="it is complete now")
            case "approve":
                self._client.approve(job.id, reason="looks right", **OPERATOR)
            case "deny":
                self._client.deny(job.id, reason="not this one", **OPERATOR)
            case "requeue":
                self._client.requeue(job.id, expected_rev=job.rev, reason="try it once more", **OPERATOR)
            case "cancel":
                self._client.cancel(job.id, reason="not wanted any more", **OPERATOR)
            case "cancel hard":
                self._client.cancel(job.id, mode="hard", reason="at once", **OPERATOR)


def main() -> None:
    part = casting()
    leaving = Leaving(part.parent_pid)
    script = write_script(part.jobs, part.seed)
    with detent.connect(part.url) as client:
        control, began_s = Control(client, script), monotonic()
        while not (leaving.is_asked or leaving.is_orphaned):
            control.look(monotonic() - began_s)
            sleep(TICK_S)


if __name__ == "__main__":
    main()
