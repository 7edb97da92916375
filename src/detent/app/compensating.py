"""From the job that undoes another to what the record says of it."""

from inspect import Parameter
from typing import TYPE_CHECKING, Any

from detent.app.hints import bad
from detent.app.payload import Payload
from detent.errors import shown
from detent.lifecycle import Compensation

if TYPE_CHECKING:
    from detent.app.registration import Registration


def compensation_of(kind: str, payload: Payload, given: Any) -> Compensation | None:
    """A kind is taken at its word: it is declared elsewhere. Of a function it is known what it takes, and where."""
    if given is None:
        return None
    if isinstance(given, str):
        return Compensation(kind=given)
    undo: Registration | None = getattr(given, "registration", None)
    if undo is None:
        raise bad(kind, f"compensate is {shown(given)}; give a job function or a kind")
    _check_parameters(kind, payload, undo)
    return Compensation(
        kind=undo.kind,
        queue=undo.queue,
        lifecycle=undo.lifecycle.name,
        lifecycle_version=undo.lifecycle.version,
        policy=undo.policy,
    )


def _check_parameters(kind: str, payload: Payload, undo: "Registration") -> None:
    """It is given the very payload of the job that it undoes, so whatever that takes it has to take, too."""
    ours, theirs = payload.signature.parameters, undo.payload.signature.parameters
    unknown = [name for name in ours if name not in theirs]
    missing = [name for name, each in theirs.items() if _is_required(each) and not _is_required(ours.get(name))]
    if unknown or missing:
        wrong = f"has no parameter '{unknown[0]}'" if unknown else f"needs '{missing[0]}', which may be missing there"
        raise bad(kind, f"compensate is job '{undo.kind}', which is given the same payload, and {wrong}")


def _is_required(parameter: Parameter | None) -> bool:
    return parameter is not None and parameter.default is Parameter.empty
