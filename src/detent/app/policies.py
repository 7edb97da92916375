"""From the options of a job to its lifecycle and the policy that each of its jobs keeps."""

from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import replace

from detent.app.hints import bad
from detent.app.options import Errors
from detent.errors import JobError, NotFound, shown
from detent.lifecycle import Compensation, Lifecycle, Policy, Retry
from detent.lifecycle.registry import Registry
from detent.lifecycle.soundness import check_policy
from detent.lifecycle.words import ERROR_CLASSES

# Options that a policy has under the same name. One that `Policy` gains is added here and in `Settings`, and reaches
# the record.
OF_POLICY: Final = (
    "retry", "lease_s", "heartbeat_s", "allow_unusual_lease", "timeout_s", "timeouts", "grace_s", "aging_s",
    "rerun_failed", "reclaim", "accept_amendments", "limit",
)  # fmt: skip


def lifecycle_of(kind: str, given: str | Lifecycle, known: Registry) -> Lifecycle:
    """One that was given itself is known from then on."""
    if isinstance(given, Lifecycle):
        known.register(given)
        return given
    try:
        return known.get(given)
    except NotFound as missing:
        raise bad(kind, f"{missing}; give App(lifecycles=[…]) your own") from missing


def policy_of(
    kind: str, lifecycle: Lifecycle, options: Mapping[str, Any], compensation: Compensation | None
) -> Policy | None:
    """None: just the lifecycle's defaults."""
    settings = {name: options[name] for name in OF_POLICY if name in options}
    if compensation is not None:
        settings["compensate"] = compensation
    errors = options.get("errors")
    if errors:
        settings |= _errors(kind, errors, settings.get("retry", lifecycle.defaults.retry), lifecycle.defaults)
    if not settings:
        return None
    policy = lifecycle.policy(**settings)
    check_policy(lifecycle, policy)
    return policy


def _errors(kind: str, errors: Errors, retry: Retry, defaults: Policy) -> dict[str, Any]:
    """By name, because that is what a record can keep. The worker looks for the names of base classes, too."""
    classes: dict[str, str] = {}
    retries: dict[str, Retry] = {}
    for error, meaning in errors.items():
        name = _name(kind, error)
        if name in classes or name in retries:
            raise bad(kind, f"errors names two exceptions called {name}; the record could not tell them apart")
        if isinstance(meaning, Retry):
            retries[name] = meaning
        else:
            classes[name] = _class(kind, name, meaning)
    return {
        "error_classes": {**defaults.error_classes, **classes},
        "retry": replace(retry, by_error={**retry.by_error, **retries}),
    }


def _name(kind: str, error: object) -> str:
    if isinstance(error, type) and issubclass(error, BaseException):
        return error.__name__
    if isinstance(error, str):
        return error
    raise bad(kind, f"errors has the key {shown(error)}; give exception classes, or their names")


def _class(kind: str, name: str, meaning: object) -> str:
    if isinstance(meaning, type) and issubclass(meaning, JobError) and meaning.__name__ in ERROR_CLASSES:
        return meaning.__name__
    choices = f"{', '.join(ERROR_CLASSES)}, or a Retry"
    raise bad(kind, f"errors says that {name} is {shown(meaning)}; give one of {choices}")
