"""The page of error codes."""

from collections.abc import Iterator
from typing import Final

from detent.errors import (
    ARGUMENT_ERRORS,
    BUS_ERRORS,
    DENIALS,
    POLICY_ERRORS,
    REFUSALS,
    SERVICE_ERRORS,
    STORE_ERRORS,
    TOKEN_ERRORS,
    Cancelled,
    LeaseConflictError,
    LeaseLost,
    PermanentError,
    TransientError,
    ValidationError,
)
from detent.lifecycle.bounds import SETTING_ERRORS
from detent.lifecycle.problems import PROBLEMS
from detent.surfaces.reference.markdown import code, page, section, table

_OF_HANDLERS: Final = (ValidationError, TransientError, PermanentError, LeaseConflictError, Cancelled, LeaseLost)


def error_page() -> str:
    return page(
        "Errors",
        "Every error is a `DetentError` with a stable `code`. Messages may improve; codes do not change.",
        section(
            "Refused",
            "A verb that the job's lifecycle or its present record does not allow. Nothing is changed or written. "
            "`state` says where the job is, `allowed` which verbs leave that state. "
            "They are listed in order of precedence: of several reasons only the first is given.",
            _codes(REFUSALS),
        ),
        section(
            "LifecycleError",
            "A lifecycle whose declaration does not hold together. `problems` has them all, each with the state and "
            "the remedy; `code` is the first one's.",
            _codes(PROBLEMS),
        ),
        section(
            "InvalidArgument",
            "A value that no job could accept. Of settings (`Policy`, `Retry`):",
            _codes(SETTING_ERRORS),
            "Of commands and messages:",
            _codes(ARGUMENT_ERRORS),
        ),
        section(
            "PolicyError",
            "The policy of `dispatch` is wrong or out of reach. What it was to judge stays where it is and does not "
            "run. `problems` are those of a rules file, all of them at once.",
            _codes(POLICY_ERRORS),
        ),
        section(
            "StoreError",
            "The store cannot be used, or could not write. What was acknowledged before stands; what raised this was "
            "not acknowledged. After `store_io`, `store_full` and `outcome_unknown` read the job to see whether the "
            "call took effect.",
            _codes(STORE_ERRORS),
        ),
        *_of_the_service(),
        section("NotFound", "`not_found`: there is no such job or lifecycle in this tenant."),
        section(
            "WaitTimedOut",
            "`wait_timed_out`: the job had not ended when the time to wait for it was over. It goes on. "
            "It is a `TimeoutError`, too.",
        ),
        section(
            "JobFailed",
            "`job_failed` or `job_cancelled`: the result of a job was asked for, and it ended without one. "
            "`error` is what the record says of it.",
        ),
        section(
            "On the record of a job",
            "These are not raised: `error.code` of a job that the bus failed, and not its worker.",
            _codes(BUS_ERRORS),
        ),
        section(
            "What handlers raise and meet",
            "These are no `DetentError`s. A handler raises a `JobError` on purpose: its class says whether another "
            "attempt may help, and `code`, `stage` and `reason_code` go on the record. It meets a `Stopped` when it is "
            "to stop, and lets it pass.",
            table(("class", "meaning"), ((code(each.__name__), _first_line(each)) for each in _OF_HANDLERS)),
        ),
    )


def _of_the_service() -> Iterator[str]:
    yield section(
        "Unauthorized",
        "Nobody knows who asks. What became of a token is told to those only who know its secret.",
        _codes(TOKEN_ERRORS),
    )
    yield section(
        "Forbidden",
        "The token is good, and does not reach as far as what was asked.",
        _codes(DENIALS),
    )
    yield section(
        "ServiceError",
        "Of `detent serve` and of clients over HTTP. Nothing was done: the request cannot be taken as it came, "
        "or not now.",
        _codes(SERVICE_ERRORS),
    )


def _first_line(kind: type) -> str:
    return (kind.__doc__ or "").partition("\n")[0]


def _codes(meanings: dict[str, str]) -> str:
    return table(("code", "meaning"), ((code(name), meaning) for name, meaning in meanings.items()))
