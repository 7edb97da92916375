"""Random lifecycles that hold together, and random things to ask of their jobs.

Drawn with a generator that Hypothesis seeds: its own choices favour the simplest case, in which a job never gets far.
"""

from random import Random
from typing import Any, Final, Literal

from detent.kernel import Error, Job
from detent.kernel.command import (
    COMMANDS,
    Cancel,
    Command,
    DeadLetter,
    Fail,
    RegisterArtifact,
    Renew,
    ReportProgress,
    Retry,
    Schedule,
)
from detent.kernel.job import Progress
from detent.lifecycle import SAME, Lifecycle, Move, Policy, State, move
from detent.lifecycle import Retry as RetryPolicy
from detent.lifecycle.words import NOTING, ROLES, VERBS

WORKERS: Final = ("w1", "w2", "w3")
LIMITS: Final = [None, 20.0, 45.0]
VERDICTS: Final[list[Literal["allow", "deny", "hold", "throttle"]]] = ["allow", "deny", "hold", "throttle"]
ENDS: Final = (State("done", "ended", "success"), State("lost", "ended", "failure"), State("off", "ended", "cancelled"))


def random_lifecycle(rng: Random) -> Lifecycle:
    """Built from choices that are sound in every combination; the constructor checks that they are."""
    has_draft, has_hold, has_second_step = coin(rng), coin(rng), coin(rng)
    goes_back = rng.choice(["no", "to ready", "to a timer", "to a stall"])
    has_cancel = coin(rng)
    states = [State("ready", "ready", timeout_s=rng.choice(LIMITS)), State("busy", "active"), ENDS[0], ENDS[1]]
    moves = [move("ready", "claim", "held" if has_hold else "busy", by="worker")]
    leased = ["busy"]
    if has_hold:
        states.append(State("held", "held"))
        moves += [move("held", "start", "busy", by="owner")]
        leased.append("held")
    if has_second_step:
        states += [State("review", "parked"), State("again", "ready"), State("finishing", "active")]
        moves += _second_step(rng)
        leased.append("finishing")
    else:
        moves.append(move("busy", "complete", "done", by="owner"))
    moves += _beginning(states, has_draft=has_draft)
    moves += _losses(states, leased, goes_back)
    waiting = [state.name for state in states if state.phase in ("ready", "parked")]
    if has_cancel:
        states.append(ENDS[2])
        moves.append(move(", ".join(leased + waiting), "cancel", "off", by="client, operator"))
    moves.append(move("ready", "time_out", "lost", by="reconciler"))
    return Lifecycle(
        name="random",
        version=1,
        states=tuple(states),
        moves=tuple(moves),
        on_expiry="stall" if goes_back == "to a stall" else "expire",
        on_timeout="time_out",
        requires_rev=coin(rng),
        settles_repeats=coin(rng),
        implies_start=coin(rng),
    )


def _beginning(states: list[State], *, has_draft: bool) -> list[Move]:
    if not has_draft:
        return [move("-", "enqueue", "ready", by="client")]
    states.append(State("draft", "parked"))
    return [move("-", "enqueue", "draft", by="client"), move("draft", "submit", "ready", by="client")]


def _second_step(rng: Random) -> list[Move]:
    """Work, a person's word, work again."""
    rows = [
        move("busy", "submit", "review", by="owner"),
        move("review", "approve", "again", by="operator"),
        move("review", "deny", "lost", by="operator"),
        move("again", "claim", "finishing", by="worker"),
        move("finishing", "complete", "done", by="owner"),
    ]
    if coin(rng):
        rows.append(move("review", "requeue", "ready", by="operator", recovery=True))
    return rows


def _losses(states: list[State], leased: list[str], goes_back: str) -> list[Move]:
    everywhere = ", ".join(leased)
    rows = [
        move(everywhere, "renew", SAME, by="owner"),
        move(everywhere, "fail", "lost", by="owner, reconciler"),
        move(everywhere, "time_out", "lost", by="reconciler"),
    ]
    if goes_back == "no":
        return [*rows, move(everywhere, "expire", "lost", by="reconciler")]
    if goes_back == "to a stall":
        states.append(State("stalled", "parked"))
        back = [
            move(everywhere, "stall", "stalled", by="system, owner", recovery=True),
            move("stalled", "requeue", "ready", by="system, operator", recovery=True),
            move("stalled", "claim", leased[-1] if leased[-1] == "held" else "busy", by="worker"),
        ]
        return rows + back
    target = "ready" if goes_back == "to ready" else "backoff"
    if target == "backoff":
        states.append(State("backoff", "parked", timer=True))
        rows.append(move("backoff", "requeue", "ready", by="reconciler", recovery=True))
    return [
        *rows,
        move(everywhere, "retry", target, by="system", recovery=True),
        move(everywhere, "release", target, by="owner", recovery=True),
        move(everywhere, "expire", target, by="reconciler", recovery=True),
        move(everywhere, "expire", "lost", by="reconciler"),
        move(everywhere, "time_out", target, by="reconciler", recovery=True),
    ]


def random_policy(rng: Random) -> Policy:
    retry = RetryPolicy(
        max_attempts=rng.randint(1, 4),
        base_s=rng.choice([0.0, 1.0, 10.0]),
        crashes_max=rng.choice([None, 1, 2]),
        used_up=rng.choice(["dead_letter", "fail"]),
        by_error=rng.choice([{}, {"Odd": RetryPolicy(max_attempts=2)}]),
    )
    return Policy(
        lease_s=30,
        heartbeat_s=10,
        timeout_s=rng.choice(LIMITS),
        grace_s=rng.choice([0.0, 10.0]),
        retry=retry,
        reclaim=coin(rng),
        rerun_failed=coin(rng),
        accept_amendments=coin(rng),
    )


ERRORS: Final = [Error("TransientError"), Error("PermanentError", "no"), Error("Odd"), Error("ValidationError")]


def random_command(rng: Random, lifecycle: Lifecycle, job: Job) -> Command:
    """Anything anybody may say about a job: mostly with the right fence, often by the right one, at times absurd."""
    routes = lifecycle.table.routes[job.state]
    sensible = [verb for verb in routes if verb not in ("cancel", "request_cancel", "time_out", "fail")]
    anything = [*(verb for verb in VERBS if verb != "enqueue"), *NOTING]
    verb = rng.choice(sensible if sensible and rng.random() < 0.7 else anything)
    who: dict[str, Any] = {
        "attempt": rng.choice([job.attempt] * 5 + [None, job.attempt - 1]),
        "expected_rev": rng.choice([job.rev] * 5 + [None, job.rev - 1]),
    }
    route = routes.get(verb)
    if verb == "claim" or (route is not None and "owner" in route.by and rng.random() < 0.8):
        who["worker"] = rng.choice([job.owner or rng.choice(WORKERS)] * 4 + [*WORKERS])
    elif rng.random() < 0.2:
        who["role"] = rng.choice(ROLES)
    return _said(rng, verb, who)


def random_owner_command(rng: Random, lifecycle: Lifecycle, job: Job, *, only: str | None = None) -> Command:
    """What the owner of a job may say of it, with the right fence."""
    verbs = [verb for verb, route in lifecycle.table.routes[job.state].items() if "owner" in route.by]
    rev = job.rev if lifecycle.requires_rev or coin(rng) else None
    return _said(rng, only or rng.choice(verbs), {"worker": job.owner, "attempt": job.attempt, "expected_rev": rev})


def coin(rng: Random) -> bool:
    return rng.random() < 0.5


def _said(rng: Random, verb: str, who: dict[str, Any]) -> Command:
    match verb:
        case "schedule":
            return Schedule(**who, verdict=rng.choice(VERDICTS), rule="r")
        case "fail":
            return Fail(**who, error=rng.choice(ERRORS))
        case "retry":
            return Retry(**who, error=rng.choice(ERRORS))
        case "dead_letter":
            return DeadLetter(**who, reason_code="parse_error")
        case "cancel":
            return Cancel(**who, mode=rng.choice(["soft", "hard"]))
        case "renew":
            return Renew(**who, checkpoint=rng.choice([None, b"1"]))
        case "progress":
            return ReportProgress(**who, progress=Progress(0.5))
        case "artifact":
            return RegisterArtifact(**who, name=rng.choice(["page", "text"]), pointer=rng.choice(["s3://1", "s3://2"]))
        case _:
            return COMMANDS[verb](**who)
