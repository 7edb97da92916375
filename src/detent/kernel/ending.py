"""How a job ends: with a result, an error, or neither, as its end state's outcome demands (ALL-09)."""

from typing import Any

from msgspec.structs import replace

from detent.kernel import bookkeeping
from detent.kernel.command import CancelMode
from detent.kernel.digest import digest, digest_of
from detent.kernel.draft import Draft
from detent.kernel.failure import DEFAULT_STAGE, Category, Error, ReasonCode
from detent.kernel.job import Blob
from detent.lifecycle.table import Leg, Route


def end_success(
    draft: Draft, route: Route, result: Blob, result_ptr: str | None = None, execution_ms: int | None = None
) -> None:
    leg = route.leg
    columns = bookkeeping.end(draft.job, leg.state, draft.now)
    columns["result_digest"] = digest(result)
    if result_ptr is not None:
        columns["result_ptr"] = result_ptr
    said = None if execution_ms is None else {"execution_ms": execution_ms}
    draft.move(route.verb, leg, columns, payload=said, values={"result": result})


def end_denied(draft: Draft, route: Route, *, rule: str | None) -> None:
    error = Error("Denied", draft.command.reason or f"denied by rule {rule}")
    role = draft.role if draft.role in route.roles else route.default_role
    verdict = {"verdict": "deny", "rule": rule}
    end_failure(
        draft, route.verb, route.leg, error, category="denied", reason="policy_violation", role=role,
        cause=error.message, columns=verdict, said=verdict,
    )  # fmt: skip


def end_failure(
    draft: Draft,
    verb: str,
    leg: Leg,
    error: Error,
    *,
    category: Category,
    reason: ReasonCode | None = None,
    role: str | None = None,
    cause: str | None = None,
    columns: dict[str, Any] | None = None,
    said: dict[str, Any] | None = None,
    values: dict[str, Any] | None = None,
) -> None:
    """`error` as reported; category, reason and stage are filled in where nothing was said.

    `columns` and `values` are what the move changes besides the end itself; `said` goes into the event's payload.
    """
    job = draft.job
    final = replace(
        error,
        category=error.category or category,
        reason_code=error.reason_code or reason,
        stage=error.stage or DEFAULT_STAGE[job.phase],
    )
    ended = bookkeeping.end(job, leg.state, draft.now) | (columns or {})
    ended["error_digest"] = digest_of(final)
    draft.move(
        verb, leg, ended, role=role, cause=cause or describe(final), payload={"error": _told(final)} | (said or {}),
        values={"error": final, "last_error": final} | (values or {}),
    )  # fmt: skip


def end_cancelled(
    draft: Draft,
    route: Route,
    *,
    mode: CancelMode = "soft",
    cause: str | None = None,
    columns: dict[str, Any] | None = None,
    values: dict[str, Any] | None = None,
) -> None:
    """A lifecycle without a cancelled state ends a cancelled job as a failure of that category.

    Whether it was hard is on the record: what the job had made by then is discarded if it was.
    """
    leg, said = route.leg, {"mode": mode}
    # A scheduler's verb may have become this cancel; after a request the system's part is the reconciler's.
    role = draft.role if draft.role in route.roles or draft.role in route.roles_after_cancel else "reconciler"
    if leg.state.outcome == "failure":
        error = Error("Cancelled", cause or draft.command.reason or "cancelled")
        end_failure(
            draft, "cancel", leg, error, category="cancelled", role=role, cause=cause, columns=columns, said=said,
            values=values,
        )  # fmt: skip
        return
    ended = bookkeeping.end(draft.job, leg.state, draft.now) | (columns or {})
    draft.move("cancel", leg, ended, role=role, cause=cause, payload=said, values=values)


def is_cancelled_instead(draft: Draft, verb: str, columns: dict[str, Any], values: dict[str, Any]) -> bool:
    """ALL-17: after a cancel request, what would give the job back to the queue cancels it instead.

    What the worker saved on the way goes on the record all the same.
    """
    cancelling = draft.route_of("cancel") if draft.job.is_cancel_requested else None
    if cancelling is None:
        return False
    end_cancelled(draft, cancelling, cause=f"cancel requested, then {verb}", columns=columns, values=values)
    return True


def describe(error: Error | None) -> str | None:
    if error is None:
        return None
    return f"{error.type}: {error.message}" if error.message else error.type


def _told(error: Error) -> dict[str, Any]:
    told = {name: getattr(error, name) for name in error.__struct_fields__}
    return {name: value for name, value in told.items() if value is not None}
