"""Where several reasons to refuse apply at once, the first in the published order is the answer."""

from itertools import combinations
from typing import Any

import pytest

from detent.errors import REFUSALS, Refused
from detent.kernel import Receipt, decide
from detent.kernel.command import COMMANDS, Complete, Requeue
from detent.lifecycle.words import NOTING, Role
from tests.driving import WORKER
from tests.kernel.tables import CONTENT, OTHER_WORKER, bring_to

# Two share a place: one lifecycle demands the fence, the other the revision.
ORDER = (
    "request_conflict",
    "illegal_move",
    "wrong_actor",
    "fence_required",
    "rev_required",
    "not_owner",
    "lease_expired",
    "stale_rev",
)
# What is not sent cannot be stale.
NEVER_TOGETHER = ({"fence_required", "stale_rev"}, {"rev_required", "stale_rev"})
POSSIBLE = {
    "standard": [code for code in ORDER if code != "rev_required"],
    "contract": [code for code in ORDER if code != "fence_required"],
}


def constructible(name: str, size: int) -> list[tuple[str, ...]]:
    groups = combinations(POSSIBLE[name], size)
    return [group for group in groups if not any(never <= set(group) for never in NEVER_TOGETHER)]


CASES = [(name, group) for name in POSSIBLE for size in range(1, 7) for group in constructible(name, size)]
PAIRS = [(name, group) for name, group in CASES if len(group) == 2]


def asked(name: str, reasons: tuple[str, ...]) -> Refused:
    """A complete by the owner, spoiled so that every one of the reasons applies to it."""
    life = bring_to(name, "running" if "illegal_move" not in reasons else {"standard": "assigned"}.get(name, "claimed"))
    job = life.job
    fields: dict[str, Any] = {"worker": WORKER, "attempt": job.attempt, "expected_rev": job.rev, "request_id": "r-1"}
    if "wrong_actor" in reasons:
        fields["role"] = "client"
    if "fence_required" in reasons or "rev_required" in reasons:
        fields["expected_rev"] = None
    if "fence_required" in reasons:
        fields["attempt"] = None
    if "not_owner" in reasons:
        fields["worker"] = OTHER_WORKER
    if "stale_rev" in reasons:
        fields["expected_rev"] = job.rev - 1
    if "lease_expired" in reasons:
        life.now = job.lease_expires_at or 0
    receipt = Receipt("r-1", "the digest of something else", job.id, job.rev) if "request_conflict" in reasons else None
    answer = decide(life.lifecycle, job, Complete(**fields), life.now, receipt=receipt)
    assert isinstance(answer, Refused), f"accepted in spite of {reasons}"
    return answer


@pytest.mark.requirement("ALL-06")
@pytest.mark.parametrize(("name", "reasons"), PAIRS)
def test_of_two_reasons_the_earlier_is_given(name: str, reasons: tuple[str, str]) -> None:
    refused = asked(name, reasons)

    assert refused.code == reasons[0]


@pytest.mark.requirement("ALL-06")
@pytest.mark.parametrize(("name", "reasons"), [case for case in CASES if len(case[1]) != 2])
def test_of_any_number_of_reasons_the_earliest_is_given(name: str, reasons: tuple[str, ...]) -> None:
    refused = asked(name, reasons)

    assert refused.code == reasons[0]


SPOILED: dict[str, dict[str, Any]] = {
    "fence_required": {"worker": WORKER},
    "not_owner": {"worker": OTHER_WORKER, "attempt": 1},
    "lease_expired": {"worker": WORKER, "attempt": 1},
    "stale_rev": {"worker": WORKER, "expected_rev": 1},
}


@pytest.mark.requirement("ALL-06")
@pytest.mark.parametrize("reason", SPOILED)
@pytest.mark.parametrize("verb", ["start", "renew", "complete", "fail", "release", "cancel", "dead_letter", *NOTING])
def test_undeclared_verb_is_illegal_whatever_else_is_wrong_with_it(verb: str, reason: str) -> None:
    life = bring_to("standard", "succeeded")

    refused = life.ask(COMMANDS[verb](**SPOILED[reason] | CONTENT.get(verb, {})))

    assert isinstance(refused, Refused)
    assert refused.code == "illegal_move"


@pytest.mark.requirement("ALL-06")
@pytest.mark.parametrize("role", ["reconciler", "operator", "scheduler"])
def test_contract_wants_the_revision_before_it_looks_at_the_attempt(role: Role) -> None:
    life = bring_to("contract", "stalled")

    refused = life.ask(Requeue(role=role, attempt=0))

    assert isinstance(refused, Refused)
    assert refused.code == "rev_required"


@pytest.mark.requirement("ALL-06")
@pytest.mark.parametrize("verb", ["expire", "requeue"])
def test_stale_revision_is_given_before_a_time_that_has_not_come(verb: str) -> None:
    name, state = {"expire": ("standard", "running"), "requeue": ("document", "RETRYING")}[verb]
    life = bring_to(name, state)
    life.now = life.job.updated_at

    early = life.ask(COMMANDS[verb](role="reconciler"))
    early_and_stale = life.ask(COMMANDS[verb](role="reconciler", expected_rev=1))

    assert isinstance(early, Refused)
    assert isinstance(early_and_stale, Refused)
    assert (early.code, early_and_stale.code) == ("not_due", "stale_rev")


@pytest.mark.requirement("ALL-06")
def test_published_reasons_are_listed_in_the_order_in_which_they_are_given() -> None:
    assert tuple(REFUSALS)[: len(ORDER)] == ORDER
