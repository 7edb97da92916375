"""From what a handler came to, to what is asked of the store. No I/O: a table of cases."""

from time import monotonic
from typing import Any

from detent.client.codec import Codec
from detent.errors import DetentError
from detent.kernel.command import COMMANDS, Cancel, Command, Complete, Fail, Release, Renew, ReportProgress
from detent.runtime.faults import Fault, error_for, fault_of
from detent.runtime.run import Run


class Ending:
    """`worker` is who asks."""

    def __init__(self, worker: str, codec: Codec) -> None:
        self._worker = worker
        self._codec = codec

    def of(self, run: Run, value: Any, fault: Fault | None) -> list[Command]:
        """What a run is to be ended with; nothing, if it is not ours to say."""
        if run.stop is not None and run.stop.reason in ("lost", "cancelled"):
            return self.late(run, value, fault)
        if fault is None:
            return self._completed(run, value)
        if run.stop is not None and (fault.is_stop or fault.names[0] == "CancelledError" or run.is_killed):
            return self._stopped(run)
        return self.failed(run, fault)

    def late(self, run: Run, value: Any, fault: Fault | None) -> list[Command]:
        """Of a job that is not ours any more. It is told where the store is sure to refuse it, and keep it as a note.

        As long as the lease may still be live there, what was said after it was given up is discarded.
        """
        was_stopped = fault is not None and (fault.is_stop or fault.names[0] == "CancelledError")
        if was_stopped or not run.is_surely_lost:
            return []
        return self._completed(run, value)[-1:] if fault is None else self.failed(run, fault)[-1:]

    def failed(self, run: Run, fault: Fault) -> list[Command]:
        error = error_for(fault, run.job.spec.policy)
        return [*self._before(run), Fail(**self._who(run), error=error, execution_ms=_took_ms(run))]

    def given_back(self, run: Run) -> list[Command]:
        """As its lifecycle allows; nothing where only time takes it back."""
        verb = run.ways.give_back[run.job.state]
        if verb == "release":
            checkpoint, run.checkpoint = run.checkpoint, None
            return [*self._before(run), Release(**self._who(run), reason="worker stops", checkpoint=checkpoint)]
        if not verb:
            return []
        return [*self._before(run), COMMANDS[verb](**self._who(run), reason="worker stops")]

    def _completed(self, run: Run, value: Any) -> list[Command]:
        try:
            result = self._codec.encode(run.handler.result(value), "result")
        except DetentError as error:  # too large, too deep, no JSON: it would be so again
            final = Fault(("PermanentError",), str(error), error.code, "output")
            return self.failed(run, final)
        except Exception as error:
            return self.failed(run, fault_of(error, stage="output"))
        done = Complete(worker=self._worker, attempt=run.attempt, result=result, execution_ms=_took_ms(run))
        if run.progress is None:
            return [done]
        run.checkpoint = None
        return [*self._before(run), done]

    def _stopped(self, run: Run) -> list[Command]:
        assert run.stop is not None, "only a handler that was told to stop was stopped"
        if run.stop.reason == "leaving":
            return self.given_back(run)
        if run.stop.reason == "cancel":
            how = "stopped the hard way when the grace was over" if run.is_killed else "stopped when it was asked to"
            return [*self._before(run), Cancel(**self._who(run), mode="hard", reason=how)]
        if run.job.state in run.ways.time_out:
            return [*self._before(run), COMMANDS["time_out"](**self._who(run), reason="stopped at its time limit")]
        return []  # its time limit is the reconciler's to record

    def _before(self, run: Run) -> list[Command]:
        """What the handler saved or told last, and nobody has written yet."""
        commands: list[Command] = []
        if run.progress is not None:
            commands.append(ReportProgress(**self._who(run), progress=run.progress))
            run.progress = None
        if run.checkpoint is not None:
            commands.append(Renew(**self._who(run), checkpoint=run.checkpoint))
            run.checkpoint = None
        return commands

    def _who(self, run: Run) -> dict[str, Any]:
        return {"worker": self._worker, "attempt": run.attempt}


def _took_ms(run: Run) -> int | None:
    """Not said of what took no time worth telling: it would make the log of short jobs longer by a third."""
    return round((monotonic() - run.began_s) * 1_000) or None
