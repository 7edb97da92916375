"""Broken lifecycles, each the smallest that shows one rule: its code, the name it must mention, part of its remedy."""

from typing import Any, NamedTuple

from detent.lifecycle import SAME, Move, Policy, State, move
from tests.lifecycle.declarations import STATES, with_rows


class Case(NamedTuple):
    code: str
    names: str
    remedy: str
    declaration: dict[str, Any]


def case(code: str, names: str, remedy: str, *rows: State | Move, without: str = "", **changes: Any) -> Case:
    return Case(code, names, remedy, with_rows(*rows, without=without, **changes))


def enqueue_to(state: str) -> Move:
    return move("-", "enqueue", state, by="client")


def back(verb: Any, to: str = "waiting", by: str = "reconciler") -> Move:
    return move("working", verb, to, by=by, recovery=True)


def requeue(by: str) -> Move:
    return move("aside", "requeue", "waiting", by=by, recovery=True)


ASIDE = State("aside", "parked")
TIMER = State("aside", "parked", timer=True)
HOLDING = State("holding", "held")
OFF = State("off", "ended", "cancelled")
TO_ASIDE = move("working", "release", "aside", by="owner", recovery=True)
TO_OPEN = move("working", "submit", "open", by="owner")

WORDS = (
    case("bad_name", "9 lives", "use letters", name="9 lives"),
    case("bad_name", "same", "not 'same'", State("same", "parked")),
    case("bad_name", "done", "use letters", State("done", "ended", "success", event="all done")),
    case("bad_name", "claim", "use letters", events={"claim": ""}),
    case("bad_version", "0", "start at 1", version=0),
    case("duplicate_state", "done", "keep one", states=(*STATES, STATES[2])),
    case("unknown_verb", "taken", "use one of", events={"taken": "job_taken"}),
    case("bad_answer", "on_expiry", "use one of expire, stall", on_expiry="release"),
    case("bad_answer", "on_timeout", "use one of time_out, stall", on_timeout="expire"),
    case("unknown_state", "nowhere", "add State('nowhere'", move("working", "fail", "nowhere", by="owner")),
    case("unknown_state", "nobody", "add State('nobody'", move("nobody", "fail", "broken", by="client")),
    case("unknown_state", "gone", "a declared one", aliases={"old": "gone"}),
    case("unknown_state", "gone", "mend the name", defaults=Policy(timeouts={"gone": 5})),
    case("alias_clash", "waiting", "rename one", aliases={"waiting": "working"}),
)

SHAPES_OF_STATES = (
    case("end_without_outcome", "done", "add outcome=", State("done", "ended")),
    case("outcome_without_end", "waiting", "drop the outcome", State("waiting", "ready", "success")),
    case("move_out_of_end", "done", "drop 'done'", move("done", "cancel", "broken", by="client")),
    case("move_out_of_end", "done", "with rerun", move("done", "claim", "working", by="worker")),
    case("timer_not_parked", "waiting", "make it parked", State("waiting", "ready", timer=True)),
    case("timer_without_wait", "aside", "by recovery", TIMER, move("working", "submit", "aside", by="owner")),
    case("timer_without_wait", "aside", "drop timer", TIMER, enqueue_to("aside"), without="enqueue"),
    case("bad_timeout", "waiting", "more than 0", State("waiting", "ready", timeout_s=0)),
    case("bad_timeout", "waiting", "more than 0", State("waiting", "ready", timeout_s=-1.5)),
    case("bad_timeout", "waiting", "finite", State("waiting", "ready", timeout_s=float("inf"))),
    case("bad_timeout", "waiting", "finite", State("waiting", "ready", timeout_s=float("nan"))),
)

SHAPES_OF_MOVES = (
    case("verb_without_role", "working", "at least one of", Move("fail", "broken", (), ("working",))),
    case("no_single_start", "waiting", "exactly one", enqueue_to("waiting")),
    case("no_single_start", "no move", "exactly one", without="enqueue"),
    case("no_single_start", "aside", "from nowhere", ASIDE, move("aside", "enqueue", "waiting", by="client")),
    case("bad_start", "working", "parked or ready", enqueue_to("working"), without="enqueue"),
    case("bad_start", "done", "parked or ready", enqueue_to("done"), without="enqueue"),
    case("no_source", "broken", "name the states", move("-", "fail", "broken", by="client")),
    case("duplicate_move", "working", "all its roles", move("working", "expire", "broken", by="operator")),
    case("duplicate_move", "working", "all its roles", back("release"), back("release", by="owner")),
    case("ambiguous_move", "working", "keep one target", move("working", "complete", "broken", by="owner")),
    case("ambiguous_move", "working", "one way back", ASIDE, back("expire"), back("expire", to="aside")),
    case("lease_without_claim", "waiting", "as claim", move("waiting", "approve", "working", by="client")),
    case("owner_without_lease", "waiting", "another role", move("waiting", "fail", "broken", by="owner")),
    case("no_lease_to_lose", "waiting", "drop 'waiting'", move("waiting", "expire", "broken", by="reconciler")),
    case("no_lease_to_lose", "waiting", "drop 'waiting'", move("waiting", "retry", "aside", by="system"), ASIDE),
    case("no_lease_to_lose", "waiting", "drop 'waiting'", move("waiting", "stall", "aside", by="system"), ASIDE),
    case("no_lease_to_lose", "aside", "drop 'aside'", move("aside", "release", "waiting", by="worker"), ASIDE),
)

SHAPES_OF_VERBS = (
    case("claim_without_lease", "working", "from ready or parked", move("working", "claim", SAME, by="worker")),
    case("claim_without_lease", "aside", "to held or active", move("aside", "claim", "waiting", by="worker"), ASIDE),
    case("bad_start_move", "working", "from held to active", move("working", "start", SAME, by="owner")),
    case("bad_renew", "working", "self-move", move("working", "renew", "done", by="owner")),
    case("bad_renew", "waiting", "held or active", move("waiting", "renew", SAME, by="client")),
    case("bad_request_cancel", "waiting", "or leave it out", move("waiting", "request_cancel", SAME, by="client")),
    case("bad_request_cancel", "working", "also has cancel", move("working", "request_cancel", SAME, by="client")),
    case("wrong_outcome", "broken", "success", move("working", "complete", "broken", by="owner"), without="complete"),
    case("wrong_outcome", "done", "failure", move("working", "fail", "done", by="owner")),
    case("wrong_outcome", "done", "failure", move("working", "dead_letter", "done", by="owner")),
    case("wrong_outcome", "done", "failure", move("waiting", "deny", "done", by="policy")),
    case("wrong_outcome", "waiting", "failure", move("waiting", "deny", SAME, by="policy")),
    case("wrong_outcome", "done", "cancelled or failure", move("waiting", "cancel", "done", by="client")),
    case("wrong_outcome", "done", "failure", move("working", "expire", "done", by="reconciler"), without="expire"),
    case("wrong_outcome", "aside", "failure", ASIDE, move("waiting", "time_out", "aside", by="reconciler")),
    case("wrong_target", "broken", "outcome success", move("working", "submit", "broken", by="owner")),
    case("wrong_target", "broken", "outcome success", move("waiting", "approve", "broken", by="operator")),
    case("wrong_target", "working", "parked or ready", move("working", "approve", SAME, by="operator")),
    case("bad_schedule", "aside", "a ready state", ASIDE, move("aside", "schedule", SAME, by="scheduler")),
    case("bad_schedule", "waiting", "declare deny", ASIDE, move("aside", "schedule", "waiting", by="scheduler")),
    case("bad_requeue", "working", "from parked to ready", back("requeue")),
    case("bad_requeue", "aside", "recovery=True", ASIDE, move("aside", "requeue", "waiting", by="operator")),
    case("recovery_not_declared", "working", "recovery=True", move("working", "retry", "waiting", by="system")),
    case("recovery_not_declared", "working", "recovery=True", move("working", "release", "waiting", by="owner")),
    case("recovery_not_declared", "working", "recovery=True", move("working", "stall", "waiting", by="system")),
    case("not_a_recovery", "working", "drop recovery", back("fail", to="broken")),
    case("not_a_recovery", "broken", "back to ready or parked", back("retry", to="broken")),
    case("not_a_recovery", "broken", "back to ready or parked", back("expire", to="broken"), without="expire"),
)

ANSWERS = (
    case("no_expiry_answer", "working", "add move('working', 'expire'", without="expire"),
    case("no_expiry_answer", "working", "by='reconciler'", back("expire", by="operator"), without="expire"),
    case("no_expiry_answer", "working", "add move('working', 'stall'", on_expiry="stall"),
    case("no_timeout_answer", "waiting", "or drop the limit", State("waiting", "ready", timeout_s=5)),
    case("no_timeout_answer", "waiting", "'time_out'", defaults=Policy(timeouts={"waiting": 5})),
    case("no_timeout_answer", "working", "'time_out'", defaults=Policy(timeout_s=5)),
    case("no_timer_answer", "aside", "add move('aside', 'requeue'", ASIDE, TO_ASIDE),
    case("no_timer_answer", "aside", "by='reconciler'", TIMER, TO_ASIDE, requeue("operator")),
    case("no_used_up_answer", "working", "a forward expire, dead_letter", back("expire"), without="expire"),
    case("no_used_up_answer", "working", "a forward time_out, dead_letter", back("time_out")),
    case("no_used_up_answer", "working", "a forward dead_letter or fail", back("retry", by="system")),
    case("no_used_up_answer", "working", "an operator", ASIDE, back("stall", to="aside"), requeue("system")),
    case("no_used_up_answer", "working", "an operator", TIMER, back("stall", to="aside"), requeue("system, operator")),
    case(
        "cancel_gap",
        "working",
        "add cancel from 'working'",
        HOLDING,
        OFF,
        without="claim",
        moves=(
            move("-", "enqueue", "waiting", by="client"),
            move("waiting", "claim", "holding", by="worker"),
            move("holding", "start", "working", by="owner"),
            move("working", "complete", "done", by="owner"),
            move("holding, working", "expire", "broken", by="reconciler"),
            move("holding", "cancel", "off", by="client"),
        ),
    ),
    case("ready_without_claim", "open", "make it parked", State("open", "ready"), TO_OPEN),
)

PATHS = (
    case("unreachable_state", "aside", "remove the state", ASIDE, move("aside", "fail", "broken", by="client")),
    case("unreachable_state", "off", "add a move to it", OFF),
    case("no_path_to_end", "aside", "towards an ended", ASIDE, move("waiting", "submit", "aside", by="client")),
    case(
        "no_end", "waiting", "add at least one",
        states=(State("waiting", "ready"), State("working", "active"), ASIDE),
        moves=(
            enqueue_to("waiting"), move("waiting", "claim", "working", by="worker"), back("expire", to="aside"),
            requeue("reconciler, operator"),
        ),
    ),
    case("forward_cycle", "working", "recovery=True", move("working", "submit", "waiting", by="owner")),
)  # fmt: skip

# What TOML cannot even spell is refused while reading, at its position; in Python the check itself finds it.
VOCABULARY = (
    case("unknown_phase", "waiting", "parked, ready, held, active, ended", State("waiting", "raedy")),  # type: ignore[arg-type]
    case("unknown_outcome", "done", "success, failure, cancelled", State("done", "ended", "won")),  # type: ignore[arg-type]
    case("unknown_verb", "working", "enqueue, submit", move("working", "fial", "broken", by="owner")),  # type: ignore[arg-type]
    case("unknown_role", "working", "client, gateway", move("working", "fail", "broken", by="wroker")),
)

SOUNDNESS = (*WORDS, *SHAPES_OF_STATES, *SHAPES_OF_MOVES, *SHAPES_OF_VERBS, *ANSWERS, *PATHS)
