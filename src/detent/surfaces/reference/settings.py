"""A lifecycle's own rules and the settings its jobs start from."""

from detent.lifecycle import Lifecycle, Retry
from detent.lifecycle.soundness.answers import has_way_back
from detent.surfaces.reference.markdown import code, table


def settings(lifecycle: Lifecycle) -> str:
    return "\n\n".join([*_rules(lifecycle), "Defaults, which a job type may override:", _defaults(lifecycle)])


def _rules(lifecycle: Lifecycle) -> list[str]:
    rules = {
        "Every verb on a known job, claim apart, names the revision it was decided on.": lifecycle.requires_rev,
        "A request for what already is, alike in content, is granted without a trace.": (lifecycle.settles_repeats),
        "A result, progress or an artifact of a held job implies its start.": lifecycle.implies_start,
        "A parked job is claimable only where its policy sets `reclaim`.": _has_reclaim(lifecycle),
    }
    kept = [f"- {rule}" for rule, holds in rules.items() if holds]
    return ["\n".join(kept)] if kept else []


def _has_reclaim(lifecycle: Lifecycle) -> bool:
    return any(state.phase == "parked" and "claim" in lifecycle.table.allowed[state.name] for state in lifecycle.states)


def _defaults(lifecycle: Lifecycle) -> str:
    policy = lifecycle.defaults
    rows = [
        (code("lease_s"), f"{policy.lease_s:g}"),
        (code("heartbeat_s"), f"{policy.heartbeat_s:g}"),
        (code("timeout_s"), "none" if policy.timeout_s is None else f"{policy.timeout_s:g}"),
        (code("grace_s"), f"{policy.grace_s:g}"),
        (code("retry"), _retry(policy.retry, has_way_back=has_way_back(lifecycle))),
        (code("rerun_failed"), code("true" if policy.rerun_failed else "false")),
    ]
    return table(("setting", "value"), rows)


def _retry(retry: Retry, *, has_way_back: bool) -> str:
    if retry.max_attempts == 1:
        return "never"
    if not has_way_back:
        return f"one attempt; with `rerun_failed` {retry.max_attempts} jobs in a row, {_backoff(retry)}"
    return f"{retry.max_attempts} attempts, {_backoff(retry)}"


def _backoff(retry: Retry) -> str:
    if retry.factor == 1 or retry.base_s == retry.max_s:
        return f"{retry.base_s:g} s apart"
    jitter = ", with jitter" if retry.jitter else ""
    return f"{retry.base_s:g} s apart at first, × {retry.factor:g} each time up to {retry.max_s:g} s{jitter}"
