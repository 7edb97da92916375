"""What one job came to holds for the next only if deciding that one by itself gives the very same."""

from collections.abc import Iterator
from typing import Any, Final

import pytest
from msgspec.structs import replace

from detent.kernel import Change, decide
from detent.kernel.alike import Precedent
from detent.kernel.command import Claim, Command, Complete, Start
from detent.kernel.job import Job, Progress
from detent.lifecycle import Lifecycle, Policy
from tests.kernel.tables import bring_to, lifecycle_of

NAMES: Final = ("standard", "dispatch", "engine", "document")
VERBS: Final = ("claim", "claim and start", "start", "complete")
SECOND: Final = 1_000_000


def state_before(lifecycle: Lifecycle, verb: str) -> str | None:
    """The first state from which the verb leads on."""
    asked = verb.partition(" ")[0]
    return next((state for state, routes in lifecycle.table.routes.items() if asked in routes), None)


def command_for(job: Job, verb: str) -> Command:
    if verb.startswith("claim"):
        return Claim(worker="w1", start=verb != "claim")
    kind = Start if verb == "start" else Complete
    return kind(worker=job.owner, attempt=job.attempt)


def others(job: Job) -> Iterator[Job]:
    """The same job with one thing about it different, whatever that is."""
    yield replace(job, spec=replace(job.spec, id="other", correlation_id="other"))
    for name, value in different(job):
        yield replace(job, **{name: value})
    for name, value in different(job.spec):
        yield replace(job, spec=replace(job.spec, **{name: value}))
    longer = replace(job.spec.policy, lease_s=90.0, heartbeat_s=20.0)
    for policy in (longer, Policy(timeout_s=7.0), replace(job.spec.policy, grace_s=1.0)):
        yield replace(job, spec=replace(job.spec, policy=policy))
    yield replace(job, progress=Progress(fraction=0.5))


def different(record: Any) -> Iterator[tuple[str, Any]]:
    """Each field of a simple kind with other values: a little more, a lot more, or none."""
    for name in record.__struct_fields__:
        value = getattr(record, name)
        if name in ("lifecycle", "lifecycle_version", "state", "phase"):
            continue  # these go together; a job of another lifecycle is never compared with this one
        if isinstance(value, bool) or not isinstance(value, str | int | float | bytes | None):
            continue
        if isinstance(value, str):
            yield name, f"{value}-other"
        elif isinstance(value, bytes):
            yield name, value + b" "
        elif isinstance(value, int | float):
            yield from ((name, value + 1), (name, value + 3_600 * SECOND), (name, max(value - 3_600 * SECOND, 0)))
        if name.endswith(("_at", "_by")) and name != "created_at" and name != "updated_at":
            yield from ((name, None), (name, 1), (name, 10**16))
        if value is None and name in ("owner", "last_owner", "rerun_of", "verdict", "rule", "trace_id", "dedupe_key"):
            yield name, "hold" if name == "verdict" else "other"


def decided(lifecycle: Lifecycle, job: Job, command: Command, now: int) -> Any:
    answer = decide(lifecycle, job, command, now)
    return (answer, answer.job) if isinstance(answer, Change) else (answer.code, answer.state, answer.allowed)


def followed(lifecycle: Lifecycle, first: Job, job: Job, command: Command, now: int) -> Any:
    precedent = Precedent(decide)
    assert isinstance(precedent(lifecycle, first, command, now, 0.5, None), Change)
    answer = precedent(lifecycle, job, command, now, 0.5, None)
    if not isinstance(answer, Change):
        return answer.code, answer.state, answer.allowed
    return replace(answer, like=None, whole=None), answer.job


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("name", NAMES)
def test_whatever_differs_a_follower_is_decided_as_it_would_be_by_itself(name: str, verb: str) -> None:
    lifecycle = lifecycle_of(name)
    state = state_before(lifecycle, verb)
    if state is None:
        assert (name, verb) == ("document", "start"), "only document goes without a start"
        return
    job = bring_to(name, state).job
    command, now = command_for(job, verb), job.updated_at + SECOND

    differing = [each for each in others(job) if followed(lifecycle, job, each, command, now)
                 != decided(lifecycle, each, command, now)]  # fmt: skip

    assert differing == []


@pytest.mark.parametrize("verb", VERBS)
def test_job_that_differs_in_its_name_alone_follows(verb: str) -> None:
    lifecycle = lifecycle_of("standard")
    job = bring_to("standard", state_before(lifecycle, verb) or "").job
    other = replace(job, spec=replace(job.spec, id="other", correlation_id="chain", payload=b"[1]"))
    command, now = command_for(job, verb), job.updated_at + SECOND
    precedent = Precedent(decide)

    first = precedent(lifecycle, job, command, now, 0.5, None)
    second = precedent(lifecycle, other, command, now, 0.5, None)

    assert isinstance(second, Change)
    assert second.like is first
    assert {(event.job_id, event.correlation_id) for event in second.events} == {("other", "chain")}


def test_job_of_a_later_moment_or_another_command_does_not_follow() -> None:
    lifecycle, job = lifecycle_of("standard"), bring_to("standard", "running").job
    now = job.updated_at + SECOND
    done = command_for(job, "complete")
    precedent = Precedent(decide)

    answers = [
        precedent(lifecycle, job, done, now, 0.5, None),
        precedent(lifecycle, job, done, now + 1, 0.5, None),
        precedent(lifecycle, job, replace(done, result=b"1"), now + 1, 0.5, None),
    ]

    assert [isinstance(each, Change) and each.like is None for each in answers] == [True, True, True]
