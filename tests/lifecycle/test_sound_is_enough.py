"""What the check accepts, the kernel can decide: jobs on accepted lifecycles never crash it, break its bookkeeping or
wait for nothing.

Lifecycles are made by changing known ones at random; most are refused, and each one accepted is walked at random.
"""

from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from detent.errors import LifecycleError, Refused
from detent.kernel import Change, Error, Job, decide
from detent.kernel.command import COMMANDS, Claim, Command, Enqueue
from detent.kernel.due import due_command
from detent.kernel.job import Progress
from detent.lifecycle import Lifecycle, Move, State, from_toml
from detent.lifecycle.words import LEASED, OUTCOMES, PHASES, ROLES, VERBS, WORKING
from detent.lifecycles import BUILT_IN

ARTICLE = Path(__file__).resolve().parents[2] / "docs" / "examples" / "article.toml"
KNOWN = (*BUILT_IN.values(), from_toml(ARTICLE.read_text(encoding="utf-8")))

TRIES = 600
WALKS = 4
STEPS = 30
NOON = 1_700_000_000_000_000


def changed(rng: Random) -> Lifecycle:
    """A known lifecycle with a row or two added, dropped or led elsewhere."""
    base = rng.choice(KNOWN)
    states, moves = list(base.states), list(base.moves)
    for _ in range(rng.randint(1, 2)):
        match rng.randrange(4):
            case 0:
                states.append(random_state(rng, f"x{len(states)}"))
                moves += [
                    random_move(rng, states, to=states[-1].name),
                    random_move(rng, states, source=states[-1].name),
                ]
            case 1:
                moves.append(random_move(rng, states))
            case 2:
                moves.pop(rng.randrange(len(moves)))
            case _:
                led = rng.randrange(len(moves))
                moves[led] = replace(moves[led], target=rng.choice(states).name)
    fields = {name: getattr(base, name) for name in Lifecycle.__struct_fields__}
    return Lifecycle(**fields | {"states": tuple(states), "moves": tuple(moves)})


def random_state(rng: Random, name: str) -> State:
    phase: Any = rng.choice(PHASES)
    outcome: Any = rng.choice(OUTCOMES) if phase == "ended" else None
    return State(
        name, phase, outcome, timeout_s=rng.choice([None, 5.0]), timer=phase == "parked" and rng.random() < 0.3
    )


def random_move(rng: Random, states: list[State], *, source: str = "", to: str = "") -> Move:
    verb: Any = rng.choice(VERBS)
    by: Any = tuple(rng.sample(ROLES, rng.randint(1, 3)))
    names = [state.name for state in states]
    return Move(verb, to or rng.choice([*names, "same"]), by, (source or rng.choice(names),), rng.random() < 0.4)


def random_command(rng: Random, job: Job) -> Command:
    verb = rng.choice([verb for verb in COMMANDS if verb not in ("enqueue", "rerun")])
    who: dict[str, Any] = {"worker": job.owner or "w"}
    if verb != "claim" and rng.random() < 0.4:
        who = {"role": rng.choice([role for role in ROLES if role not in WORKING])}
    told: dict[str, Any] = {
        "schedule": {"verdict": rng.choice(["allow", "deny", "hold", "throttle"]), "rule": "any"},
        "fail": {"error": Error(rng.choice(["TransientError", "PermanentError"]))},
        "progress": {"progress": Progress(0.5)},
        "artifact": {"name": "page", "pointer": "s3://made/page"},
    }
    return COMMANDS[verb](**who, attempt=job.attempt, expected_rev=job.rev, **told.get(verb, {}))


def walk(rng: Random, lifecycle: Lifecycle) -> None:
    """Commands at random, and whenever time demands something, that the demand is met."""
    now = NOON
    retry = replace(lifecycle.defaults.retry, max_attempts=rng.randint(1, 3))
    policy = replace(lifecycle.defaults, retry=retry)
    first: Any = lifecycle.table.start.by[0]
    job = accepted(decide(lifecycle, None, Enqueue(job_id="j", kind="k", policy=policy, role=first), now))
    for _ in range(STEPS):
        if job.wake_at is not None and rng.random() < 0.3:
            now = max(now, job.wake_at)
            command = due_command(lifecycle, job, now)
            assert command is not None
            job = accepted(decide(lifecycle, job, command, now))
        elif job.claim_at is not None and rng.random() < 0.4:
            now = max(now, job.claim_at)
            job = either(decide(lifecycle, job, Claim(worker="w"), now), job)
        else:
            now += rng.choice([0, 1_000, 1_000_000])
            job = either(decide(lifecycle, job, random_command(rng, job), now), job)
        check_record(lifecycle, job)


def accepted(answer: Change | Refused) -> Job:
    assert isinstance(answer, Change), f"time demands it, and it is refused: {answer}"
    assert answer.events
    return answer.job


def either(answer: Change | Refused, job: Job) -> Job:
    return answer.job if isinstance(answer, Change) else job


def check_record(lifecycle: Lifecycle, job: Job) -> None:
    state = lifecycle.by_name[job.state]
    assert job.phase == state.phase
    assert (job.owner is not None) == (job.lease_expires_at is not None) == (state.phase in LEASED)
    assert (job.result is not None) == (state.outcome == "success")
    assert (job.error is not None) == (state.outcome == "failure")
    assert (job.ended_at is not None) == (state.phase == "ended")
    if state.phase == "ready" and job.verdict != "hold":
        assert job.claim_at is not None, "a ready job that nobody can ever claim"


@pytest.mark.requirement("ALL-09", "ALL-12")
@pytest.mark.parametrize("seed", range(4))
def test_jobs_on_accepted_lifecycles_keep_their_books_and_never_wait_for_nothing(seed: int) -> None:
    rng = Random(seed)
    sound = 0
    for _ in range(TRIES):
        try:
            lifecycle = changed(rng)
        except LifecycleError:
            continue
        sound += 1
        for _ in range(WALKS):
            walk(rng, lifecycle)

    assert sound >= TRIES / 30, "too few were accepted to tell anything"
