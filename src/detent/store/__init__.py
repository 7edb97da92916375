"""Where jobs are kept. `protocol.py` says what a store must do, `planning.py` what it writes; `sqlite/` is one."""

from detent.store.keeping import Keeping
from detent.store.planning import Plan, plan, plan_claim, plan_due
from detent.store.protocol import Store
from detent.store.query import (
    Entry,
    EventQuery,
    JobQuery,
    Migration,
    Page,
    Pruned,
    Retention,
    Story,
)
from detent.store.request import ClaimRequest, Kept, Replies, Reply, Request, Scope

__all__ = [
    "ClaimRequest",
    "Entry",
    "EventQuery",
    "JobQuery",
    "Keeping",
    "Kept",
    "Migration",
    "Page",
    "Plan",
    "Pruned",
    "Replies",
    "Reply",
    "Request",
    "Retention",
    "Scope",
    "Store",
    "Story",
    "plan",
    "plan_claim",
    "plan_due",
]
