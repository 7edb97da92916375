"""Which job a test means, by the arguments of its function and the options of `enqueue`; and how another differs."""

from inspect import Parameter
from typing import Any, Final

from detent.app import JobFunction
from detent.app.handle import ANYTHING
from detent.app.options import priority_number
from detent.app.payload import Payload, Result
from detent.client import Job
from detent.errors import InvalidArgument, shown
from detent.kernel.clock import SECOND

# Options that stand on the record under their own names.
OPTIONS: Final = frozenset({
    "queue", "priority", "tenant", "run_at", "dedupe_key", "correlation_id", "trace_id", "parent_job_id",
    "workflow_id", "step_index", "topic", "context_ptr", "adapter_id", "env", "job_id", "delay_s",
})  # fmt: skip
_MISSING: Final = object()


class Wanted:
    """A job of this kind with these values. Of a function it is known what it takes; of a kind, only its name."""

    def __init__(self, job: str | JobFunction[..., ..., Any, Any], expected: dict[str, Any]) -> None:
        registration = None if isinstance(job, str) else job.registration
        self.kind = job if isinstance(job, str) else job.kind
        self.result: Result = ANYTHING if registration is None else registration.result
        self._payload: Payload | None = None if registration is None else registration.payload
        names = self._parameters()
        is_free = self._payload is None
        self._options = {name: each for name, each in expected.items() if name in OPTIONS and name not in names}
        self._arguments = {name: each for name, each in expected.items() if name not in self._options}
        unknown = [name for name in self._arguments if name not in names and not is_free]
        if unknown:
            message = f"job '{self.kind}' takes no '{unknown[0]}', and it is no option of enqueue"
            raise InvalidArgument(f"{message}; it takes {', '.join(names) or 'nothing'}")

    def differences(self, job: Job) -> list[str]:
        """What is not as it was wanted; none: this is one."""
        payload = job.payload if isinstance(job.payload, dict) else {}
        pairs = [(name, wanted, _of_record(job, name)) for name, wanted in self._options.items()]
        pairs += [(name, wanted, self._of_payload(payload, name)) for name, wanted in self._arguments.items()]
        return [
            f"{name} is {_told(actual)}, not {shown(wanted)}"
            for name, wanted, actual in pairs
            if not self._is_same(name, wanted, actual)
        ]

    def __str__(self) -> str:
        given = ", ".join(f"{name}={shown(value)}" for name, value in {**self._arguments, **self._options}.items())
        return f"{self.kind}({given})"

    def _parameters(self) -> list[str]:
        return [] if self._payload is None else list(self._payload.signature.parameters)

    def _is_same(self, name: str, wanted: Any, actual: Any) -> bool:
        if name == "priority":
            wanted = priority_number(wanted)
        elif name in self._arguments:
            wanted = self._json(name, wanted)
        return actual is not _MISSING and bool(wanted == actual)

    def _json(self, name: str, value: Any) -> Any:
        """As a payload would have it; what cannot stand in one, such as `mock.ANY`, compares by itself."""
        if self._payload is None:
            return value
        try:
            return self._payload.to_json({name: value})[name]
        except InvalidArgument:
            return value

    def _of_payload(self, payload: dict[str, Any], name: str) -> Any:
        """What was not given is as the function has it."""
        if name in payload or self._payload is None:
            return payload.get(name, _MISSING)
        default = self._payload.signature.parameters[name].default
        return _MISSING if default is Parameter.empty else self._json(name, default)


def shown_call(job: Job) -> str:
    """A job in one line."""
    payload = job.payload
    given = (
        ", ".join(f"{name}={shown(value)}" for name, value in payload.items())
        if isinstance(payload, dict)
        else shown(payload)
    )
    return f"{job.id} '{job.state}' in queue '{job.queue}': {job.kind}({given})"


def _of_record(job: Job, name: str) -> Any:
    if name == "delay_s":
        record = job.record
        return 0.0 if record.spec.run_at is None else (record.spec.run_at - record.created_at) / SECOND
    return job.id if name == "job_id" else getattr(job, name)


def _told(value: Any) -> str:
    return "missing" if value is _MISSING else shown(value)
