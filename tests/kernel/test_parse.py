"""Untrusted arguments become a command or an `InvalidArgument`, nothing else; and every command can be decided."""

from math import inf, nan
from typing import Any, Final

import msgspec
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from detent.errors import InvalidArgument, Refused
from detent.kernel import Change, Job, Receipt, decide, parse
from detent.kernel.command import COMMANDS, VERDICTS, Claim, Command, RequestCancel
from detent.kernel.failure import REASON_CODES, STAGES
from detent.kernel.notes import late_result
from tests.chance import examples
from tests.driving import START, WORKER
from tests.kernel.tables import LEASED_PLACES, PLACES, POLICIES, ROLES, bring_to, lifecycle_of

ENQUEUE: Final[dict[str, Any]] = {"job_id": "job-2", "kind": "scan"}
INT64_MAX: Final = 2**63 - 1


def refusal_of(verb: str, arguments: Any) -> InvalidArgument:
    with pytest.raises(InvalidArgument) as refused:
        parse(verb, arguments)
    return refused.value


def parsed(verb: str, arguments: Any) -> Command | InvalidArgument:
    """The command, or the refusal. Anything else that is raised is a fault, and is let through."""
    try:
        return parse(verb, arguments)
    except InvalidArgument as refusal:
        return refusal


# -- what is refused, and how it is said -----------------------------------------------------------------------------

# verb, arguments, then the field and the remedy that the message names
WRONG: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "no job id": ("enqueue", {"kind": "scan"}, "job_id", "required"),
    "no kind": ("enqueue", {"job_id": "a"}, "kind", "required"),
    "no verdict": ("schedule", {"rule": "r"}, "verdict", "required"),
    "no rule": ("schedule", {"verdict": "allow"}, "rule", "required"),
    "no error": ("fail", {}, "error", "required"),
    "no progress": ("progress", {}, "progress", "required"),
    "no name of an artifact": ("artifact", {"pointer": "s3://made"}, "name", "required"),
    "no pointer to an artifact": ("artifact", {"name": "page"}, "pointer", "required"),
    "an empty pointer": ("artifact", {"name": "page", "pointer": ""}, "pointer", "where the artifact is kept"),
    "a pointer without end": ("artifact", {"name": "page", "pointer": "x" * 8_193}, "pointer", "at most 8192"),
    "less than nothing": ("artifact", {"name": "page", "pointer": "s3://made", "size": -1}, "size", "use 0 to"),
    "a digest that is no name": ("artifact", {"name": "p", "pointer": "s3://made", "digest": ""}, "digest", "empty"),
    "no new job id": ("rerun", {}, "new_job_id", "required"),
    "no worker to claim for": ("claim", {}, "worker", "pass worker="),
    "an argument of another verb": ("claim", {"worker": "w", "result": b"1"}, "result", "unknown field"),
    "an argument of no verb": ("enqueue", ENQUEUE | {"colour": "red"}, "colour", "unknown field"),
    "a setting that does not exist": ("enqueue", ENQUEUE | {"policy": {"leese_s": 60}}, "leese_s", "unknown field"),
    "a field no error has": ("fail", {"error": {"type": "E", "stack": ""}}, "stack", "unknown field"),
    "another verb's tag": ("claim", {"verb": "start", "worker": "w"}, "verb", "start"),
    "a number for a name": ("enqueue", {"job_id": 7, "kind": "scan"}, "job_id", "`str`"),
    "a text for a number": ("start", {"attempt": "1"}, "attempt", "`int | null`"),
    "a flag for a number": ("start", {"attempt": True}, "attempt", "`int | null`"),
    "a fraction for a count": ("start", {"expected_rev": 1.5}, "expected_rev", "`int | null`"),
    "a number for a flag": ("claim", {"worker": "w", "start": 1}, "start", "`bool`"),
    "a text for bytes": ("complete", {"result": "{}"}, "result", "`bytes`"),
    "an object for bytes": ("enqueue", ENQUEUE | {"payload": {}}, "payload", "`bytes`"),
    "a text for an error": ("fail", {"error": "boom"}, "error", "`object`"),
    "a list for env": ("enqueue", ENQUEUE | {"env": []}, "env", "`object`"),
    "a number in env": ("enqueue", ENQUEUE | {"env": {"user_id": 7}}, "env", "`str`"),
    "a text for a policy": ("enqueue", ENQUEUE | {"policy": "fast"}, "policy", "`object"),
    "an empty name": ("enqueue", {"job_id": "", "kind": "scan"}, "job_id", "give it a name"),
    "an empty worker": ("claim", {"worker": ""}, "worker", "give it a name"),
    "an empty request id": ("start", {"request_id": ""}, "request_id", "give it a name"),
    "an empty error type": ("fail", {"error": {"type": ""}}, "error.type", "give it a name"),
    "an empty env key": ("enqueue", ENQUEUE | {"env": {"": "x"}}, "env key", "give it a name"),
    "a huge name": ("enqueue", ENQUEUE | {"queue": "q" * 256}, "queue", "at most 255"),
    "a name of many bytes": ("enqueue", ENQUEUE | {"queue": "漢" * 214}, "queue", "at most 640"),
    "a huge env key": ("enqueue", ENQUEUE | {"env": {"k" * 256: "x"}}, "env key", "at most 255"),
    "a line break in a name": ("enqueue", ENQUEUE | {"tenant": "a\nb"}, "tenant", "printable"),
    "an escape in a name": ("claim", {"worker": "w\x1b[31m"}, "worker", "printable"),
    "a NUL in a name": ("cancel", {"actor": "a\0"}, "actor", "printable"),
    "a lone surrogate in a name": ("cancel", {"trace_id": "\ud800"}, "trace_id", "printable"),
    "a right-to-left override in a name": ("cancel", {"actor": "\u202eecila"}, "actor", "printable"),
    "a control character in an error code": ("fail", {"error": {"type": "E", "code": "\t"}}, "error.code", "printable"),
    "a NUL in a text": ("cancel", {"reason": "a\0b"}, "reason", "remove it"),
    "a lone surrogate in a text": ("cancel", {"reason": "\udfff"}, "reason", "remove it"),
    "a NUL in a pointer": ("complete", {"result_ptr": "\0"}, "result_ptr", "remove it"),
    "a NUL in a message": ("fail", {"error": {"type": "E", "message": "\0"}}, "error.message", "remove it"),
    "a lone surrogate in env": ("enqueue", ENQUEUE | {"env": {"a": "\ud83d"}}, "env['a']", "remove it"),
    "a NUL in a word on progress": (
        "progress", {"progress": {"fraction": 0.5, "message": "\0"}}, "progress", "remove it",
    ),
    "a lone surrogate in a word on progress": (
        "renew", {"progress": {"fraction": 0.5, "message": "\ud800"}}, "progress", "remove it",
    ),
    "a huge reason": ("cancel", {"reason": "x" * 4_097}, "reason", "at most 4096"),
    "a huge pointer": ("enqueue", ENQUEUE | {"context_ptr": "x" * 8_193}, "context_ptr", "at most 8192"),
    "a huge message": ("fail", {"error": {"type": "E", "message": "x" * 8_193}}, "error.message", "at most 8192"),
    "a huge env": ("enqueue", ENQUEUE | {"env": {str(i): "x" for i in range(65)}}, "env", "at most 64"),
    "a priority too high": ("enqueue", ENQUEUE | {"priority": 1_001}, "priority", "-1000 to 1000"),
    "a priority too low": ("enqueue", ENQUEUE | {"priority": -1_001}, "priority", "-1000 to 1000"),
    "a priority by name": ("enqueue", ENQUEUE | {"priority": "critical"}, "priority", "`int`"),
    "a negative attempt": ("start", {"attempt": -1}, "attempt", "use 0 to"),
    "a negative revision": ("start", {"expected_rev": -1}, "expected_rev", "use 0 to"),
    "a negative moment": ("enqueue", ENQUEUE | {"run_at": -1}, "run_at", "use 0 to"),
    "an attempt beyond a column": ("start", {"attempt": 2**63}, "attempt", "use 0 to"),
    "a huge step": ("enqueue", ENQUEUE | {"step_index": 10**400}, "step_index", "use 0 to"),
    "a negative execution time": ("complete", {"execution_ms": -1}, "execution_ms", "use 0 to"),
    "progress beyond the end": ("progress", {"progress": {"fraction": 1.01}}, "progress", "from 0 to 1"),
    "progress before the start": ("renew", {"progress": {"fraction": -0.01}}, "progress", "from 0 to 1"),
    "progress that is no number": ("progress", {"progress": {"fraction": nan}}, "progress", "finite number"),
    "a negative delay": ("schedule", {"verdict": "throttle", "rule": "r", "delay_s": -1}, "delay_s", "at least 0"),
    "a delay that is no number": ("rerun", {"new_job_id": "a", "delay_s": nan}, "delay_s", "finite number"),
    "a negative lease": ("claim", {"worker": "w", "lease_s": -60}, "lease_s", "more than 0"),
    "a lease that is no number": ("claim", {"worker": "w", "lease_s": nan}, "lease_s", "finite number"),
    "an endless lease": ("claim", {"worker": "w", "lease_s": inf}, "lease_s", "finite number"),
    "no attempts": ("enqueue", ENQUEUE | {"policy": {"retry": {"max_attempts": 0}}}, "max_attempts", "at least 1"),
    "a policy's endless lease": ("enqueue", ENQUEUE | {"policy": {"lease_s": inf}}, "lease_s", "finite number"),
    "a policy's negative grace": ("enqueue", ENQUEUE | {"policy": {"grace_s": -1}}, "grace_s", "at least 0"),
}  # fmt: skip


@pytest.mark.requirement("ENG-04")
@pytest.mark.parametrize("case", WRONG)
def test_wrong_argument_is_refused_by_name_with_the_remedy(case: str) -> None:
    verb, arguments, field, remedy = WRONG[case]

    refusal = refusal_of(verb, arguments)

    assert (refusal.code, refusal.category) == ("invalid_argument", "validation")
    assert field in str(refusal)
    assert remedy in str(refusal)


CHOICES: dict[str, tuple[str, dict[str, Any], str, tuple[str, ...]]] = {
    "verdict": ("schedule", {"verdict": "maybe", "rule": "r"}, "verdict", VERDICTS),
    "stage": ("dead_letter", {"stage": "lunch"}, "stage", STAGES),
    "reason code": ("dead_letter", {"reason_code": "bad_luck"}, "reason_code", REASON_CODES),
    "an error's stage": ("fail", {"error": {"type": "E", "stage": "lunch"}}, "stage", STAGES),
    "role": ("cancel", {"role": "king"}, "role", ROLES),
    "mode": ("cancel", {"mode": "gentle"}, "mode", ("soft", "hard")),
    "end of a used-up job": (
        "enqueue", ENQUEUE | {"policy": {"retry": {"used_up": "ignore"}}}, "used_up", ("dead_letter", "fail"),
    ),
}  # fmt: skip


@pytest.mark.requirement("ENG-04", "STD-09")
@pytest.mark.parametrize("case", CHOICES)
def test_word_that_is_none_of_the_choices_is_refused_by_name(case: str) -> None:
    verb, arguments, field, _ = CHOICES[case]

    refusal = refusal_of(verb, arguments)

    assert refusal.code == "invalid_argument"
    assert field in str(refusal)


@pytest.mark.requirement("ENG-04")
@pytest.mark.parametrize("case", CHOICES)
def test_refusal_of_a_word_lists_the_choices(case: str) -> None:
    verb, arguments, _, choices = CHOICES[case]

    message = str(refusal_of(verb, arguments))

    assert [choice for choice in choices if choice not in message] == []


@pytest.mark.requirement("ENG-04")
@pytest.mark.parametrize("verb", ["", "Claim", "claim ", "finish", "réessayer", "\ud800", "\0", "x" * 10_000])
def test_unknown_verb_is_refused_and_the_known_ones_are_listed(verb: str) -> None:
    refusal = refusal_of(verb, {})

    assert refusal.code == "unknown_verb"
    assert [known for known in COMMANDS if known not in str(refusal)] == []


@pytest.mark.requirement("ENG-04")
@pytest.mark.parametrize("arguments", [None, [], "claim", 7, True, {7: "worker"}, {None: None}])
def test_arguments_that_are_no_object_are_refused(arguments: Any) -> None:
    assert refusal_of("claim", arguments).code == "invalid_argument"


# -- leases and heartbeats -------------------------------------------------------------------------------------------


@pytest.mark.requirement("STD-02")
@pytest.mark.parametrize("lease_s", [0.001, 5, 29.999, 120.001, 3_600])
def test_unusual_lease_needs_to_be_meant(lease_s: float) -> None:
    asked = {"worker": "w", "lease_s": lease_s}

    refusal = refusal_of("claim", asked)
    meant = parse("claim", asked | {"allow_unusual_lease": True})

    assert refusal.code == "lease_out_of_range"
    assert "allow_unusual_lease" in str(refusal)
    assert isinstance(meant, Claim)
    assert meant.lease_s == lease_s


@pytest.mark.requirement("STD-02")
@pytest.mark.parametrize("lease_s", [30, 60.5, 120])
def test_lease_in_the_range_needs_no_allowance(lease_s: float) -> None:
    command = parse("claim", {"worker": "w", "lease_s": lease_s})

    assert isinstance(command, Claim)
    assert command.lease_s == lease_s


@pytest.mark.requirement("STD-02")
@pytest.mark.parametrize("lease_s", [0, -1, nan, inf, -inf])
def test_no_allowance_makes_a_lease_of_what_is_no_length_of_time(lease_s: float) -> None:
    refusal = refusal_of("claim", {"worker": "w", "lease_s": lease_s, "allow_unusual_lease": True})

    assert refusal.code == "invalid_argument"
    assert "lease_s" in str(refusal)


SETTINGS: dict[str, tuple[dict[str, Any], str, str]] = {
    "an unusual lease": ({"lease_s": 10}, "lease_out_of_range", "allow_unusual_lease"),
    "two heartbeats longer than a lease": ({"lease_s": 40, "heartbeat_s": 21}, "heartbeat_too_long", "<= 20"),
    "so even where allowed": (
        {"lease_s": 4, "heartbeat_s": 3, "allow_unusual_lease": True}, "heartbeat_too_long", "<= 2",
    ),
    "an unusual heartbeat": ({"lease_s": 60, "heartbeat_s": 5}, "heartbeat_out_of_range", "10 to 30"),
}  # fmt: skip


@pytest.mark.requirement("STD-02", "STD-03")
@pytest.mark.parametrize("case", SETTINGS)
def test_policy_of_an_enqueue_is_checked_like_any_other(case: str) -> None:
    policy, code, remedy = SETTINGS[case]

    refusal = refusal_of("enqueue", ENQUEUE | {"policy": policy})

    assert refusal.code == code
    assert remedy in str(refusal)


# -- what an attacker or an accident may send ------------------------------------------------------------------------


def nested(depth: int) -> dict[str, Any]:
    retry: dict[str, Any] = {}
    for _ in range(depth):
        retry = {"by_error": {"E": retry}}
    return retry


HOSTILE: dict[str, tuple[str, dict[str, Any]]] = {
    "more attempts than a float holds": ("enqueue", ENQUEUE | {"policy": {"retry": {"max_attempts": 10**400}}}),
    "more crashes than a float holds": ("enqueue", ENQUEUE | {"policy": {"retry": {"crashes_max": 10**400}}}),
    "a lease longer than a float holds": ("claim", {"worker": "w", "lease_s": 10**400}),
    "a count too long to print": ("start", {"attempt": 10**5_000}),
    "a priority too long to print": ("enqueue", ENQUEUE | {"priority": -(10**5_000)}),
    "a lone surrogate for an argument's name": ("start", {"\ud800": 1}),
    "a lone surrogate for an error class": ("enqueue", ENQUEUE | {"policy": {"error_classes": {"\ud800": "x"}}}),
    "a lone surrogate for an error type": ("enqueue", ENQUEUE | {"policy": {"retry": {"by_error": {"\ud800": {}}}}}),
    "a lone surrogate for a state": ("enqueue", ENQUEUE | {"policy": {"timeouts": {"\ud800": 5}}}),
    "a policy nested without end": ("enqueue", ENQUEUE | {"policy": {"retry": nested(50_000)}}),
    "a word on progress without end": ("progress", {"progress": {"fraction": 0.5, "message": "x" * 1_000_000}}),
    "an unknown field of progress": ("progress", {"progress": {"fraction": 0.5, "colour": "red"}}),
}


@pytest.mark.requirement("ENG-04")
@pytest.mark.parametrize("case", HOSTILE)
def test_what_no_store_could_keep_is_refused_like_any_wrong_argument(case: str) -> None:
    verb, arguments = HOSTILE[case]

    assert refusal_of(verb, arguments).code == "invalid_argument"


# -- parse is total --------------------------------------------------------------------------------------------------

any_text: Final = st.text(st.characters(exclude_categories=()), max_size=8)
any_number: Final = st.integers() | st.floats() | st.sampled_from([2**63, -(2**64), 10**400, 1e308])
any_json: Final = st.recursive(
    st.none() | st.booleans() | any_number | any_text | st.binary(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=6,
)
FIELDS: Final = sorted({field for command in COMMANDS.values() for field in command.__struct_fields__})
ANY_ARGUMENTS: Final = st.dictionaries(st.sampled_from(FIELDS) | any_text, any_json, max_size=6)


@pytest.mark.requirement("ENG-04")
@settings(max_examples=examples(400), deadline=None)
@given(verb=st.sampled_from(sorted(COMMANDS)) | any_text, arguments=ANY_ARGUMENTS)
def test_parse_answers_anything_with_a_command_or_an_invalid_argument(verb: str, arguments: dict[str, Any]) -> None:
    answer = parsed(verb, arguments)

    if isinstance(answer, InvalidArgument):
        assert answer.code in {"invalid_argument", "unknown_verb", "lease_out_of_range"}
    else:
        assert answer.verb == verb


# -- and so is decide ------------------------------------------------------------------------------------------------

names: Final = st.sampled_from([WORKER, "worker-2", "alice", "operator", "reconciler", "job-1"])
counts: Final = st.integers(0, 6) | st.sampled_from([INT64_MAX])
durations: Final = st.floats(0, 1_000) | st.floats(0, allow_infinity=False) | st.sampled_from([0, 1e-9, 1e12, 1e305])
blobs: Final = st.binary(max_size=4)
messages: Final = st.text(max_size=8) | any_text
errors: Final = st.fixed_dictionaries(
    {"type": st.sampled_from(["TransientError", "PermanentError", "ValidationError", "Odd"])},
    optional={"message": messages, "stage": st.sampled_from(STAGES), "reason_code": st.sampled_from(REASON_CODES)},
)
progress: Final = st.fixed_dictionaries({"fraction": st.floats(0, 1)}, optional={"message": messages})
retries: Final = st.fixed_dictionaries(
    {},
    optional={
        "max_attempts": st.integers(1, 4) | st.just(INT64_MAX),
        "base_s": durations,
        "factor": st.floats(1, 4) | st.floats(1, allow_infinity=False),
        "max_s": durations,
        "crashes_max": st.integers(1, 3),
        "used_up": st.sampled_from(["dead_letter", "fail"]),
    },
)
states: Final = st.sampled_from(sorted({state for _, state in PLACES}))
policies: Final = st.fixed_dictionaries(
    {},
    optional={
        "allow_unusual_lease": st.booleans(),
        "lease_s": st.floats(30, 120) | durations,
        "timeout_s": durations,
        "timeouts": st.dictionaries(states, durations, max_size=2),
        "grace_s": durations,
        "aging_s": durations,
        "retry": retries,
        "error_classes": st.dictionaries(messages, messages, max_size=2),
    },
)
PLAUSIBLE: Final[dict[str, st.SearchStrategy[Any]]] = {
    "role": st.sampled_from(ROLES),
    "attempt": counts,
    "expected_rev": counts,
    "reason": messages,
    "payload": blobs,
    "priority": st.integers(-1_000, 1_000),
    "run_at": counts,
    "policy": policies,
    "step_index": counts,
    "context_ptr": messages,
    "env": st.dictionaries(st.sampled_from(["user_id", "region"]), messages, max_size=2),
    "submit": st.booleans(),
    "checkpoint": blobs,
    "verdict": st.sampled_from(VERDICTS),
    "rule": names,
    "delay_s": durations,
    "result": blobs,
    "lease_s": durations,
    "allow_unusual_lease": st.booleans(),
    "start": st.booleans(),
    "progress": progress,
    "result_ptr": messages,
    "execution_ms": counts,
    "error": errors,
    "mode": st.sampled_from(["soft", "hard"]),
    "reason_code": st.sampled_from(REASON_CODES),
    "stage": st.sampled_from(STAGES),
    "pointer": messages,
    "size": counts,
}
REQUIRED: Final = {
    "enqueue": ("job_id", "kind"),
    "schedule": ("verdict", "rule"),
    "claim": ("worker",),
    "fail": ("error",),
    "progress": ("progress",),
    "artifact": ("name", "pointer"),
    "rerun": ("new_job_id",),
}


COMMON: Final = frozenset(Command.__struct_fields__)


@st.composite
def plausible(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """Arguments that mostly parse: each field of its own kind, though at the edges of it."""
    verb = draw(st.sampled_from(sorted(COMMANDS)))
    own = [field for field in COMMANDS[verb].__struct_fields__ if field not in COMMON]
    chosen = {*REQUIRED.get(verb, ()), *draw(st.sets(st.sampled_from(sorted(COMMON)), max_size=4))}
    chosen.update(field for field in own if draw(st.booleans()))
    return verb, {field: draw(PLAUSIBLE.get(field, names)) for field in sorted(chosen)}


def records() -> list[Job]:
    """A job in every state of every lifecycle, and in every leased state one that was asked to stop."""
    jobs = [bring_to(name, state).job for name, state in PLACES]
    for name, state in LEASED_PLACES:
        life = bring_to(name, state)
        life.ask(RequestCancel(expected_rev=life.job.rev))
        jobs.append(life.job)
    return jobs


RECORDS: Final = records()


@pytest.mark.requirement("ENG-04", "ALL-02")
@settings(max_examples=examples(250), deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(asked=plausible(), later_s=st.sampled_from([0, 6, 21, 61]))
def test_whatever_parses_can_be_decided_in_any_state(asked: tuple[str, dict[str, Any]], later_s: int) -> None:
    command = parsed(*asked)
    assume(isinstance(command, Command))
    assert isinstance(command, Command)

    for job in RECORDS:
        assert_decidable(job, command, START + later_s * 1_000_000)
    if command.verb == "enqueue":
        for name in POLICIES:
            assert_creatable(name, command)


def assert_decidable(job: Job, command: Command, now: int) -> None:
    lifecycle = lifecycle_of(job.spec.lifecycle)
    for receipt in (None, Receipt("r", "another digest", "j", 1)):
        try:
            answer = decide(lifecycle, job, command, now, receipt=receipt)
        except InvalidArgument:
            continue
        assert_storable(answer)
        if isinstance(answer, Refused):
            late_result(job, command, answer, now)


def assert_creatable(name: str, command: Command) -> None:
    try:
        answer = decide(lifecycle_of(name), None, command, START)
    except InvalidArgument:
        return
    assert_storable(answer)


def assert_storable(answer: Change | Refused) -> None:
    """Its numbers fit the columns of any store, and its texts any encoding."""
    if isinstance(answer, Refused):
        assert str(answer)
        return
    for change in (answer, *answer.spawned):
        msgspec.msgpack.encode((change.events, change.notes, change.job))
        for event in change.events:
            numbers = [value for value in event.changes.values() if isinstance(value, int)]
            assert all(abs(number) <= INT64_MAX for number in numbers), event.changes


FAR: dict[str, tuple[str, dict[str, Any]]] = {
    "a lease": ("claim", {"worker": "w", "lease_s": 1e305, "allow_unusual_lease": True}),
    "a lease of ages": ("claim", {"worker": "w", "lease_s": 1e15, "allow_unusual_lease": True}),
    "a throttle": ("schedule", {"verdict": "throttle", "rule": "r", "delay_s": 1e305}),
    "a throttle of ages": ("schedule", {"verdict": "throttle", "rule": "r", "delay_s": 1e15}),
    "a delay of a rerun": ("rerun", {"new_job_id": "job-2", "delay_s": 1e305}),
    "a due time with no time left after it": ("enqueue", ENQUEUE | {"run_at": INT64_MAX}),
    "a policy's lease": ("enqueue", ENQUEUE | {"policy": {"lease_s": 1e15, "allow_unusual_lease": True}}),
    "a limit": ("enqueue", ENQUEUE | {"policy": {"timeouts": {"queued": 1e305}}}),
    "a run limit": ("enqueue", ENQUEUE | {"policy": {"timeout_s": 1e305}}),
    "a grace": ("enqueue", ENQUEUE | {"policy": {"grace_s": 1e305}}),
    "aging": ("enqueue", ENQUEUE | {"policy": {"aging_s": 1e305}}),
    "a backoff": ("enqueue", ENQUEUE | {"policy": {"retry": {"base_s": 1e305, "max_s": 1e305}}}),
}


@pytest.mark.requirement("ENG-04")
@pytest.mark.parametrize("case", FAR)
def test_moment_beyond_what_a_store_holds_is_refused(case: str) -> None:
    verb, arguments = FAR[case]

    assert refusal_of(verb, arguments).code == "invalid_argument"
