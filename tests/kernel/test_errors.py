"""What an error means: which are tried again, who decides that, and what category the record gives them."""

from typing import Any

import pytest

from detent.audit import check_job
from detent.errors import InvalidArgument
from detent.kernel import Error, parse
from detent.kernel.command import Cancel, Fail, Schedule
from detent.kernel.failure import MESSAGE_CHARS_MAX, TYPE_CHARS_MAX, Category
from detent.lifecycle import Lifecycle, Policy
from detent.lifecycle.words import ERROR_CLASSES
from detent.lifecycles import CONTRACT, DISPATCH, DOCUMENT, ENGINE, STANDARD
from tests.driving import Life

PASSING = ["TransientSystemError", "DeadlineExceeded", "QueueOverload", "DependencyUnavailable"]
LASTING = ["InvalidInput", "ValidationError", "PermanentTimeout", "ConfigurationError", "ResourceLimitExceeded"]
LONG = 20_000


def running(lifecycle: Lifecycle, **fields: Any) -> Life:
    life = Life(lifecycle, submit=True, **fields)
    if lifecycle is DISPATCH:
        life.do(Schedule(verdict="allow", rule="default"))
    life.claim(start=True)
    return life


def failed(life: Life, **error: Any) -> Error:
    """The error on the record of a job that just ended so."""
    life.do(Fail(**life.as_owner(), error=Error(**error)))
    assert life.job.error is not None
    return life.job.error


# -- what is tried again ---------------------------------------------------------------------------------------------


@pytest.mark.requirement("STD-20")
@pytest.mark.parametrize("type_", ["TransientError", "LeaseConflictError"])
def test_passing_classes_are_tried_again(type_: str) -> None:
    life = running(STANDARD)
    life.fail(type_)

    assert (life.job.state, life.job.failures) == ("queued", 1)


@pytest.mark.requirement("STD-20")
@pytest.mark.parametrize("type_", ["ValidationError", "PermanentError"])
def test_lasting_classes_end_the_job_at_the_first_failure(type_: str) -> None:
    life = running(STANDARD)
    life.fail(type_)

    assert (life.job.state, life.job.failures, life.job.attempt) == ("failed", 1, 1)


@pytest.mark.requirement("STD-20")
def test_there_are_four_classes() -> None:
    assert set(ERROR_CLASSES) == {"ValidationError", "TransientError", "PermanentError", "LeaseConflictError"}


@pytest.mark.requirement("STD-20")
@pytest.mark.parametrize("type_", ["KeyError", "my.module.Oops", "transienterror", "Ошибка"])
def test_exception_that_nobody_mapped_is_tried_again(type_: str) -> None:
    life = running(STANDARD)
    life.fail(type_)

    assert life.job.state == "queued"
    assert life.job.last_error is not None
    assert life.job.last_error.type == type_


@pytest.mark.requirement("DOC-02")
@pytest.mark.parametrize("lifecycle", [STANDARD, DOCUMENT], ids=lambda lifecycle: lifecycle.name)
@pytest.mark.parametrize("type_", PASSING)
def test_passing_trouble_takes_the_way_back(lifecycle: Lifecycle, type_: str) -> None:
    life = running(lifecycle)
    life.fail(type_)

    assert life.job.phase == ("ready" if lifecycle is STANDARD else "parked")
    assert life.job.error is None


@pytest.mark.requirement("DOC-02")
@pytest.mark.parametrize("lifecycle", [STANDARD, DOCUMENT], ids=lambda lifecycle: lifecycle.name)
@pytest.mark.parametrize("type_", LASTING)
def test_lasting_trouble_ends_the_job(lifecycle: Lifecycle, type_: str) -> None:
    life = running(lifecycle)
    life.fail(type_)

    assert life.job.is_ended
    assert life.job.error is not None
    assert life.job.error.type == type_


@pytest.mark.requirement("ALL-10")
@pytest.mark.parametrize("lifecycle", [DISPATCH, ENGINE, CONTRACT], ids=lambda lifecycle: lifecycle.name)
@pytest.mark.parametrize("type_", ["TransientError", "PermanentError", "KeyError"])
def test_without_a_way_back_every_class_ends_the_job(lifecycle: Lifecycle, type_: str) -> None:
    life = running(lifecycle)
    life.fail(type_)

    assert life.job.is_ended
    assert life.spawned == []


# -- who decides -----------------------------------------------------------------------------------------------------


@pytest.mark.requirement("STD-20")
@pytest.mark.parametrize(
    ("type_", "mapped_to", "state"),
    [
        ("KeyError", "PermanentError", "failed"),
        ("KeyError", "ValidationError", "failed"),
        ("KeyError", "TransientError", "queued"),
        ("ValidationError", "TransientError", "queued"),
        ("TransientError", "PermanentError", "failed"),
        ("BadScan", "InvalidInput", "failed"),  # one of the named causes will do as well
    ],
)
def test_mapping_of_the_user_wins(type_: str, mapped_to: str, state: str) -> None:
    life = running(STANDARD, policy=Policy(error_classes={type_: mapped_to}))
    life.fail(type_)

    assert life.job.state == state


@pytest.mark.requirement("STD-20")
def test_mapping_of_one_type_leaves_the_others_alone() -> None:
    life = running(STANDARD, policy=Policy(error_classes={"KeyError": "PermanentError"}))
    life.fail("IndexError")

    assert life.job.state == "queued"


# -- categories ------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("ENG-04")
@pytest.mark.parametrize(
    ("type_", "category"),
    [
        ("ValidationError", "validation"),
        ("InvalidInput", "validation"),
        ("BadReference", "engine"),
        ("InvalidData", "engine"),
        ("BuildError", "engine"),
        ("PermanentError", "engine"),
        ("NetworkError", "system"),
        ("ConnectionError", "system"),
        ("EngineCrash", "system"),
        ("OutOfMemory", "system"),
        ("MemoryError", "system"),
    ],
)
def test_category_of_a_reported_failure_follows_from_its_type(type_: str, category: str) -> None:
    error = failed(running(ENGINE), type=type_)

    assert error.category == category


@pytest.mark.requirement("ENG-04")
def test_category_follows_the_mapping_of_the_user() -> None:
    error = failed(running(ENGINE, policy=Policy(error_classes={"BadSchema": "ValidationError"})), type="BadSchema")

    assert error.category == "validation"


@pytest.mark.requirement("ENG-04")
def test_job_that_no_engine_took_failed_in_the_queue() -> None:
    life = Life(ENGINE)
    life.reconcile()

    assert life.job.error is not None
    assert life.job.error.category == "queue"


@pytest.mark.requirement("ENG-04")
@pytest.mark.parametrize("starts", [False, True], ids=["before its start", "at work"])
def test_job_whose_engine_fell_silent_failed_for_the_system(starts: bool) -> None:
    life = Life(ENGINE, policy=Policy(timeouts={"dispatched": 600, "running": 600}))
    life.claim(start=starts)
    life.reconcile()

    assert life.events[-1].verb == "expire"
    assert life.job.error is not None
    assert life.job.error.category == "system"


@pytest.mark.requirement("ENG-04")
def test_job_that_ran_too_long_failed_in_the_engine() -> None:
    life = Life(ENGINE, policy=Policy(timeout_s=5))
    life.claim(start=True)
    life.reconcile()

    assert life.events[-1].verb == "time_out"
    assert life.job.error is not None
    assert life.job.error.category == "engine"


@pytest.mark.requirement("ENG-04")
@pytest.mark.parametrize("missing", ["kind", "job_id"])
def test_job_with_a_field_missing_is_a_validation_error_and_never_queued(missing: str) -> None:
    fields = {"job_id": "job-1", "kind": "scan"}
    del fields[missing]
    with pytest.raises(InvalidArgument, match=missing) as refused:
        parse("enqueue", fields)

    assert refused.value.category == "validation"


@pytest.mark.requirement("ENG-04")
@pytest.mark.parametrize("category", ["validation", "engine", "system"])
def test_worker_may_say_what_category_its_failure_has(category: Category) -> None:
    error = failed(running(ENGINE), type="Odd", category=category)

    assert error.category == category


@pytest.mark.requirement("ENG-04")
@pytest.mark.parametrize("category", ["cancelled", "denied", "queue"])
@pytest.mark.parametrize("lifecycle", [STANDARD, DISPATCH, ENGINE, CONTRACT, DOCUMENT], ids=lambda of: of.name)
def test_worker_cannot_report_a_category_that_is_the_kernels(lifecycle: Lifecycle, category: Category) -> None:
    life = running(lifecycle)
    error = failed(life, type="PermanentError", message="boom", category=category)

    assert error.category == "engine"
    assert error.message == "boom"
    assert check_job(lifecycle, life.job, life.events) == []


@pytest.mark.requirement("ENG-04")
def test_categories_of_the_kernel_are_given_by_the_kernel() -> None:
    denied = Life(DISPATCH)
    denied.do(Schedule(verdict="deny", rule="no"))
    cancelled = running(ENGINE)
    cancelled.do(Cancel(mode="hard"))

    assert denied.job.error is not None
    assert cancelled.job.error is not None
    assert (denied.job.error.category, cancelled.job.error.category) == ("denied", "cancelled")


# -- bounds ----------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("STD-20")
@pytest.mark.parametrize("policy", [Policy(), Policy(error_classes={"E" * TYPE_CHARS_MAX: "PermanentError"})])
def test_long_types_and_messages_are_cut_to_what_the_record_keeps(policy: Policy) -> None:
    life = running(STANDARD, policy=policy)
    life.do(Fail(**life.as_owner(), error=Error("E" * LONG, "m" * LONG, code="E7")))
    error = life.job.last_error

    assert error is not None
    assert (error.type, error.message, error.code) == ("E" * TYPE_CHARS_MAX, "m" * MESSAGE_CHARS_MAX, "E7")
    assert life.job.state == ("failed" if policy.error_classes else "queued")
