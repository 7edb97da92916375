"""Of work that is to be undone: a job that ran in vain names the job that undoes it, and no other job does (I27)."""

from detent.audit.step import Step


def compensated(step: Step) -> str | None:
    """I27. A job that is run again by itself leaves it to the last of its reruns."""
    if step.policy.compensate is None or step.state is None or step.state.phase != "ended":
        return None
    said = step.event.payload or {}
    undone_by, is_rerun = said.get("compensation_job_id"), "rerun_job_id" in said
    if undone_by is None:
        is_owed = step.state.outcome != "success" and step.after["started_at"] is not None
        return "it ran and did not succeed, and no job undoes its work" if is_owed and not is_rerun else None
    if step.state.outcome == "success":
        return f"it succeeded, and yet job {undone_by} undoes its work"
    if step.after["started_at"] is None and step.after["rerun_of"] is None:
        return f"it never ran, and yet job {undone_by} undoes its work"
    return f"it is run again, and yet job {undone_by} undoes its work" if is_rerun else None
