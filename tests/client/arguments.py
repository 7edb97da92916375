"""Every argument of every public verb: what kind of thing it is, a good value, and values no job could accept."""

import inspect
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any, Final

from msgspec.structs import replace

from detent import Policy
from detent.client import Client
from detent.client.dead_letters import LetterFilters
from detent.client.reads import EventFilters, JobFilters
from detent.client.scope import Who
from detent.kernel import Error
from detent.kernel.job import Progress
from detent.store.fleet import Lane

MEGABYTES: Final = "x" * 10_000_000
HUGE: Final = 2**4000
ENDLESS: Final = 10**5000  # too long even to be printed
NAN, INF = float("nan"), float("inf")
UNLIKELY: Final = "'; drop table detent_jobs; --"


def nested(depth: int) -> Any:
    deep: Any = []
    for _ in range(depth):
        deep = [deep]
    return deep


class Odd:
    """Something that is nothing anybody expects."""


DEEP: Final = nested(100_000)
NOT_TEXT: Final = [5, 2**63, HUGE, ENDLESS, 1.5, NAN, INF, True, [], ["a"], {}, {"a": 1}, b"x", Odd(), DEEP]
NOT_COUNT: Final = ["1", "", 1.5, NAN, INF, -INF, -1, True, [], {}, b"1", Odd(), DEEP]
NAIVE: Final = datetime(2025, 1, 1)  # noqa: DTZ001 - that it has no zone is the point
BEFORE_ALL: Final = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))

# Structs check no types when they are made.
untyped_error: Callable[..., Error] = Error
untyped_progress: Callable[..., Progress] = Progress
UNTYPED_ERRORS: Final = [untyped_error(5), untyped_error("x", message=5), untyped_error("x", code=5)]
untyped_lane: Callable[..., Lane] = Lane
LANE: Final = Lane(isolation="async", kinds=("scan",), slots=1)
UNTYPED_PROGRESS: Final = [untyped_progress(5), untyped_progress("x"), untyped_progress(0.5, 5), untyped_progress(NAN)]

# A kind of argument → values that must be refused wherever it stands.
BAD: Final[dict[str, list[Any]]] = {
    "name": [
        *NOT_TEXT, "", "x" * 256, "🙂" * 161, MEGABYTES, "a\0b", "\ud800", "a\udfff", "a\u202eb", "a\nb", "\x1b[31m",
        "a\u2028b", "\t", "a\u200fb",
    ],
    "text": [*NOT_TEXT, MEGABYTES, "a\0b", "\ud800", "a\udfffb"],
    "count": [*NOT_COUNT, 2**63, HUGE, ENDLESS],
    "version": [*NOT_COUNT, 0, 99, 2**63, HUGE, ENDLESS],
    "priority": [*(each for each in NOT_COUNT if each != -1), 1_001, -1_001, 2**63, HUGE, ENDLESS],
    "number": ["1", "", NAN, INF, -INF, -1, -0.5, 1e300, 2**63, HUGE, ENDLESS, True, [], {}, b"1", Odd(), DEEP],
    "fraction": ["1", NAN, INF, -INF, -0.1, 1.1, 2, 1e300, HUGE, ENDLESS, True, [], {}, Odd(), DEEP, None],
    "flag": ["yes", "", 0, 1, 2.5, NAN, [], {}, Odd(), HUGE, ENDLESS],
    "choice": [*NOT_TEXT, "", "nonsense", "a\0b", "\ud800", MEGABYTES, "SOFT"],
    "moment": [5, 0, -1, "2025-01-01T00:00:00Z", NAIVE, date(2025, 1, 1), NAN, [], {}, Odd(), HUGE, ENDLESS, DEEP],
    "run_at": [BEFORE_ALL, datetime(1969, 12, 31, tzinfo=UTC)],
    "names": [
        "default", b"x", 5, True, [], (), [""], [5], [None], [["a"]], {"a"}, {"a": 1}, ["x"] * 101, ["a\0b"],
        ["\ud800"], ["x" * 256], [MEGABYTES], NAN, HUGE, ENDLESS, Odd(), DEEP, iter(["a"]),
    ],
    "env": [
        5, "x", ["a"], True, NAN, Odd(), DEEP, {1: "a"}, {"a": 1}, {"a": None}, {"": "x"}, {"a\0": "b"}, {"a": "\0"},
        {"a": "\ud800"}, {"\ud800": "a"}, {"x" * 256: "a"}, {"a": MEGABYTES}, {f"k{n}": "v" for n in range(65)},
        {"a": {"b": "c"}}, {"a": ["b"]},
    ],
    "policy": [
        5, "x", [], True, NAN, Odd(), DEEP, {"nonsense": 1}, {"lease_s": -1}, {"lease_s": 5}, {"lease_s": NAN},
        {"lease_s": 1e300}, {"lease_s": "60"}, {"heartbeat_s": 90}, {"retry": {"max_attempts": 0}}, {"retry": 5},
        {"timeouts": {"nowhere": 1}}, {"timeouts": {"running": 0}}, {"error_classes": {"A": "B"}}, {"aging_s": HUGE},
        Policy(timeouts={"nowhere": 1.0}), {"compensate": {}}, {"compensate": {"kind": ""}}, {"compensate": "undo"},
        {"compensate": {"kind": "u", "queue": "a\0b"}}, {"compensate": {"kind": "u", "lifecycle": "nowhere"}},
        {"compensate": {"kind": "u", "lifecycle_version": 0}}, {"compensate": {"kind": "u", "policy": {"lease_s": 5}}},
        {"compensate": {"kind": "u", "policy": {"compensate": {"kind": "v"}}}}, {"is_compensation": 1},
        {"compensate": {"kind": "u"}, "is_compensation": True}, {"compensate": {"kind": "\ud800"}},
    ],
    "error": [
        5, "boom", [], True, NAN, Odd(), DEEP, {}, {"type": ""}, {"type": 5}, {"type": "x", "nonsense": 1},
        {"type": "x", "stage": "nowhere"}, {"type": "a\0"}, {"type": "\ud800"}, {"type": "x" * 256},
        {"type": "x", "message": "\0"}, {"type": "x", "message": MEGABYTES}, {"type": "x", "code": ""}, {1: 2},
        {"type": "x", "reason_code": "because"}, *UNTYPED_ERRORS,
    ],
    "progress": [
        2, -0.1, NAN, INF, "half", [], {}, True, HUGE, ENDLESS, Odd(), DEEP, {"fraction": "x"}, {"message": "x"},
        {"fraction": 0.5, "nonsense": 1}, {"fraction": 0.5, "message": 5}, {"fraction": NAN},
        {"fraction": 0.5, "message": "\0"},
        *UNTYPED_PROGRESS,
    ],
    "value": [NAN, INF, -INF, [NAN], {"a": {"b": [INF]}}, "\ud800", {"\ud800": 1}, Odd(), DEEP, MEGABYTES, {Odd(): 1}],
    "slots": [-1, 1_000_001, 2**63, HUGE, ENDLESS, "1", 1.5, NAN, INF, True, None, [], {}, Odd(), DEEP],
    "lanes": [
        5, 1.5, True, None, "async", b"x", {"async": 1}, ["async"], [None], [{}], [LANE] * 101, NAN, HUGE, ENDLESS,
        Odd(), [replace(LANE, slots=0)], [replace(LANE, running=-1)], [replace(LANE, isolation="")],
        [untyped_lane(isolation="async", kinds="scan", slots=1)], [replace(LANE, kinds=("",))],
    ],
    "job": [5, 0, False, "x", [], {}, {"kind": ""}, {"kind": "a", "nonsense": 1}, {"kind": "a", "lifecycle": 5}, Odd()],
    "limit": [0, -1, 10_001, 2**63, HUGE, ENDLESS, "1", 1.5, NAN, INF, True, None, [], {}, Odd(), DEEP],
    "depth": [-1, 1.5, NAN, INF, "1", True, 2**63, HUGE, ENDLESS, [], {}, Odd(), DEEP],
    "jobs_max": [-1, 1.5, NAN, INF, "1", True, [], {}, Odd(), DEEP],
    "cursor": [
        "x", "", " ", "-1", "+1", " 1", "1_0", "1.5", "9" * 40, "9" * 5000, "a:b", "1:", ":1", "1:2:3", "\0", "\ud800",
        "٣", MEGABYTES, 5, 1.5, NAN, INF, True, [], {}, b"1", Odd(), DEEP,
    ],
    "choices": [
        "state", b"state", 5, True, {"state"}, {"state": 1}, iter(["state"]), ["colour"], ["state", "state"], [None],
        [5], ["STATE"], [""], [["state"]], ["state"] * 101, [MEGABYTES], ["a\0b"], ["\ud800"], NAN, HUGE, ENDLESS,
        Odd(), DEEP,
    ],
    "ids": [
        "ended", b"x", 5, True, {"ended": 1}, [""], [5], [None], [["ended"]], [b"x"], ["ended", "a\0b"], ["\ud800"],
        ["x" * 256], [MEGABYTES], ["ended"] * 1_001, NAN, HUGE, ENDLESS, Odd(),
    ],
    "scopes": [
        [], (), None, "work", b"work", 5, True, {"work"}, {"work": 1}, iter(["work"]), ["Work"], ["root"], ["work"] * 2,
        ["work", ""], [None], [["work"]], [MEGABYTES], ["a\0b"], ["\ud800"], ["work"] * 101, NAN, HUGE, ENDLESS, Odd(),
        DEEP,
    ],
    "lifetime": ["1", "", 0, 0.0, NAN, INF, -INF, -1, -0.5, 1e300, 2**63, HUGE, ENDLESS, True, [], {}, Odd(), DEEP],
    "items": [None, 5, 1.5, True, Odd(), [{}] * 10_001],
    "tx": [5, 0, False, "x", [], {}, Odd()],
    "anything": [],
}  # fmt: skip

KINDS: Final[dict[str, str]] = {
    **dict.fromkeys(
        ("kind", "lifecycle", "queue", "job_id", "request_id", "dedupe_key", "limit_key", "correlation_id", "trace_id",
         "workflow_id", "parent_job_id", "topic", "adapter_id", "actor", "worker", "rule", "tenant", "state", "phase",
         "outcome", "owner", "type", "name", "verb", "error_type", "digest", "host", "token_id"), "name",
    ),
    **dict.fromkeys(("context_ptr", "result_ptr", "pointer", "reason", "message"), "text"),
    **dict.fromkeys(("step_index", "attempt", "expected_rev", "execution_ms", "size", "pid"), "count"),
    **dict.fromkeys(("slots", "running"), "slots"),
    "lanes": "lanes",
    **dict.fromkeys(("lifecycle_version", "version"), "version"),
    **dict.fromkeys(("delay_s", "lease_s", "successes_s", "others_s", "within_s"), "number"),
    **dict.fromkeys(("submit", "allow_unusual_lease", "start", "is_draining", "any_tenant", "all_tenants"), "flag"),
    **dict.fromkeys(("role", "mode", "verdict", "reason_code", "stage"), "choice"),
    **dict.fromkeys(("payload", "result", "checkpoint"), "value"),
    **dict.fromkeys(
        ("since", "until", "at", "now", "created_from", "created_until", "ended_from", "ended_until", "at_from",
         "at_until", "started_at", "expected", "next_at"), "moment",
    ),
    **dict.fromkeys(("queues", "kinds", "adapters"), "names"),
    **dict.fromkeys(("cursor", "after"), "cursor"),
    "depth_max": "depth",
    "by": "choices",
    "job": "job",
    "job_ids": "ids",
    "scopes": "scopes",
    "expires_s": "lifetime",
    **{name: name for name in ("priority", "run_at", "fraction", "env", "policy", "error", "progress", "limit")},
    **{name: name for name in ("items", "tx", "jobs_max")},
    # A listener's own function; how long to listen, which has a test of its own.
    **dict.fromkeys(("on_progress", "timeout_s"), "anything"),
}  # fmt: skip

OWNER: Final = {"job_id": "running", "worker": "w", "attempt": 1}
MOMENT: Final = datetime(2025, 3, 1, 12, tzinfo=UTC)
# A call of each verb that would be accepted, or found wanting only by the job: what bad values are put into.
GOOD: Final[dict[str, dict[str, Any]]] = {
    "lifecycle": {"name": "standard"},
    "enqueue": {"kind": "scan"},
    "enqueue_many": {"items": [{"kind": "scan"}]},
    "apply": {"items": [{"verb": "enqueue", "kind": "scan"}, {"verb": "rerun", "job_id": "ended"}]},
    "claim": {"worker": "w", "queues": ["nothing"]},
    "start": {"job_id": "held", "worker": "w", "attempt": 1},
    "renew": OWNER,
    "complete": OWNER,
    "fail": OWNER | {"error": {"type": "TransientError"}},
    "release": OWNER,
    "progress": OWNER | {"fraction": 0.5},
    "artifact": OWNER | {"name": "page", "pointer": "s3://made/page"},
    "submit": {"job_id": "draft"},
    "schedule": {"job_id": "pending", "verdict": "allow", "rule": "r"},
    "approve": {"job_id": "onhold"},
    "deny": {"job_id": "onhold"},
    "cancel": {"job_id": "waiting"},
    "request_cancel": {"job_id": "running"},
    "retry": {"job_id": "running", "role": "scheduler"},
    "stall": {"job_id": "stalled", "expected_rev": 2},
    "requeue": {"job_id": "stalled", "expected_rev": 3},
    "expire": {"job_id": "running"},
    "time_out": {"job_id": "running"},
    "dead_letter": {"job_id": "running", "role": "operator"},
    "rerun": {"job_id": "ended"},
    **{f"{verb}_many": {"items": [OWNER]} for verb in ("start", "renew", "complete")},
    "fail_many": {"items": [OWNER | {"error": {"type": "TransientError"}}]},
    **{verb: {"job_id": "running"} for verb in ("get", "history", "notes", "artifacts", "tree", "reruns")},
    "find": {},
    "count": {},
    "events": {},
    "recent": {},
    "tail": {"timeout_s": 0},
    "end": {},
    "lifecycles": {},
    "wait": {"job_id": "ended"},
    "explain": {"job_id": "running"},
    "dead_letters": {},
    "dead_letter_for": {"job_id": "setaside"},
    "reconcile": {},
    "prune": {},
    "purge": {"job_ids": ["ended"]},
    "limit_queue": {"queue": "other", "depth_max": 1_000},
    "pause_queue": {"queue": "other"},
    "resume_queue": {"queue": "other"},
    "queue": {"queue": "other"},
    "queues": {},
    "report_worker": {"worker": "w", "host": "h", "pid": 1, "started_at": MOMENT, "queues": ["default"]},
    "forget_worker": {"worker": "w"},
    "workers": {},
    "keep_schedules": {"items": [{"name": "s", "cron": "* * * * *", "kind": "scan", "next_at": MOMENT}]},
    "schedules": {},
    "advance_schedule": {"name": "nightly", "expected": MOMENT, "next_at": MOMENT + timedelta(hours=1)},
    "pause_schedule": {"name": "nightly"},
    "resume_schedule": {"name": "nightly"},
    "forget_schedule": {"name": "nightly"},
    "create_token": {"name": "ci", "scopes": ["work", "admin"]},
    "tokens": {},
    "revoke_token": {"token_id": "ci"},
    "verify": {},
    "replay": {},
    "state_at": {"job_id": "running", "at": MOMENT},
}


def arguments_of(verb: str) -> list[str]:
    """By the signature, with what `**who` and `**filters` stand for."""
    names: list[str] = []
    for name, parameter in inspect.signature(getattr(Client, verb)).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            names += gathered(verb, name).__annotations__
        elif name != "self":
            names.append(name)
    return names


def gathered(verb: str, name: str) -> type:
    if name == "who":
        return Who
    if verb == "dead_letters":
        return LetterFilters
    return EventFilters if verb in ("events", "recent", "tail") else JobFilters


def bad_values(verb: str, name: str) -> list[Any]:
    kind = "name" if (verb, name) == ("report_worker", "version") else KINDS[name]  # of a program, in words
    values = list(BAD[kind])
    if kind == "run_at":
        values += BAD["moment"]
    if kind == "limit" and verb in ("find", "events", "recent", "claim", "dead_letters"):
        values.append(1_001)
    if is_required(verb, name):
        values.append(None)
    return values


def is_required(verb: str, name: str) -> bool:
    parameter = inspect.signature(getattr(Client, verb)).parameters.get(name)
    is_given = parameter is not None and parameter.default is parameter.empty
    return is_given and name != "depth_max"  # which has to be said, but may be None: any number
