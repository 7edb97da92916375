"""What can be wrong with a declaration: every code of a `LifecycleError`, with its meaning. The codes are stable."""

from typing import Final

Problem = tuple[str, str]

PROBLEMS: Final = {
    # how it is written
    "bad_toml": "the text is not TOML",
    "unknown_key": "a key that no lifecycle has, most often a slip of spelling",
    "missing_key": "a required key is missing",
    "bad_type": "a value of the wrong type",
    # words
    "bad_name": "a name that stores, logs and commands could not carry",
    "bad_version": "a version below 1",
    "lifecycle_conflict": "this name and version is known with other content",
    "duplicate_state": "a state is declared twice",
    "unknown_phase": "a phase that does not exist",
    "unknown_outcome": "an outcome that does not exist",
    "unknown_verb": "a verb that does not exist",
    "unknown_role": "a role that does not exist",
    "unknown_state": "a move, an alias or a timeout names a state that is not declared",
    "alias_clash": "an old name is also a present state",
    "bad_answer": "on_expiry or on_timeout is a verb that does not answer to time",
    # states
    "end_without_outcome": "an ended state does not say how the job ended",
    "outcome_without_end": "a state that is not ended has an outcome",
    "move_out_of_end": "a move leaves an ended state",
    "timer_not_parked": "a state that is not parked waits on a timer",
    "timer_without_wait": "a timer is entered by a move that sets no time, so it would never be due",
    "bad_timeout": "a timeout that is no positive, finite number of seconds",
    # moves
    "verb_without_role": "nobody may make this move",
    "no_single_start": "there is not exactly one enqueue, or it has a source",
    "bad_start": "enqueue leads to a state in which a new job cannot be",
    "no_source": "a move other than enqueue leaves no state",
    "duplicate_move": "the same move is declared twice",
    "ambiguous_move": "one verb leads from one state to several targets",
    "lease_without_claim": "a verb other than claim leads into a leased state",
    "claim_without_lease": "a claim that takes no lease",
    "no_lease_to_lose": "a verb that ends an attempt leaves a state without a lease",
    "owner_without_lease": "a move is the owner's in a state that has none",
    "bad_start_move": "start does not lead from held to active",
    "bad_renew": "renew is not a self-move of a leased state",
    "bad_request_cancel": "request_cancel is not a self-move of a leased state that can be cancelled",
    "wrong_outcome": "a verb that ends jobs leads to a state with another outcome, or to none that is ended",
    "wrong_target": "submit or approve leads where it cannot",
    "bad_schedule": "schedule leads to a state that is not ready, or that cannot be denied",
    "bad_requeue": "requeue does not lead from parked back to ready",
    "recovery_not_declared": "a move that only goes back is not declared as recovery",
    "not_a_recovery": "a move that does not go back is declared as recovery",
    # answers
    "no_expiry_answer": "a leased state has no answer to the end of its lease",
    "no_timeout_answer": "a state has a time limit and no answer to its end",
    "no_timer_answer": "nothing leaves a parked state by itself when its wait is over",
    "no_used_up_answer": "a job that used up its attempts would have nowhere to go",
    "cancel_gap": "a cancel requested in one leased state could not be carried out in the next",
    "ready_without_claim": "nobody can claim from a ready state",
    # paths
    "unreachable_state": "no sequence of moves leads to a state",
    "no_end": "no state is ended",
    "no_path_to_end": "a job in this state could never end",
    "forward_cycle": "forward moves lead in a circle",
}


def problem(code: str, message: str) -> Problem:
    assert code in PROBLEMS, f"give {code} a meaning in PROBLEMS"
    return code, message
