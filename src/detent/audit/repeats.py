"""Recorded calls under one request id: one content, one answer, one effect (I12); unanswered, at most one (I13)."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from detent.audit.calls import Call, Ledger
from detent.audit.invariants import Violation
from detent.audit.requests import BY_VERB, Doubled, scope_of

Request = tuple[str, str, str]  # tenant, verb or job, request id


def one_effect(ledger: Ledger) -> Iterator[Violation]:
    """I12 and I13: whose fault a second effect is depends on whether the call was repeated at all."""
    calls = _by_request(ledger)
    for doubled in [*ledger.doubled, *_born_twice(ledger)]:
        scope = doubled.scope if doubled.scope in BY_VERB else doubled.job_id
        asked = calls.get((doubled.tenant, scope, doubled.request_id), [])
        is_unanswered = len(asked) == 1 and asked[0].outcome == "unknown"
        yield Violation("I13" if is_unanswered else "I12", doubled.job_id, doubled.rev, str(doubled))


def one_answer(ledger: Ledger) -> Iterator[Violation]:
    """I12."""
    for (_, scope, request_id), calls in _by_request(ledger).items():
        answered = [call for call in calls if call.is_ok and call.answers]
        if not answered:
            continue
        message = _other_content(answered) or _other_job(scope, answered) or _not_its_own(ledger, answered)
        if message is not None:
            yield Violation("I12", answered[0].answers[0].job_id, None, f"request {request_id!r} {message}")


def _by_request(ledger: Ledger) -> dict[Request, list[Call]]:
    grouped: dict[Request, list[Call]] = defaultdict(list)
    for call in ledger.calls:
        scope = call.verb if call.verb in BY_VERB else call.job_id
        if call.request_id is not None and scope is not None:
            grouped[call.tenant, scope, call.request_id].append(call)
    return grouped


def _other_content(answered: list[Call]) -> str | None:
    contents = {(call.verb, call.digest) for call in answered}
    return f"was accepted with {len(contents)} different contents" if len(contents) > 1 else None


def _other_job(scope: str, answered: list[Call]) -> str | None:
    """A claim's repeat may name fewer of its jobs, never others; any other repeat names the same."""
    named = sorted(({answer.job_id for answer in call.answers} for call in answered), key=len)
    is_claim = scope == "claim"
    for fewer, more in pairwise(named):
        if not fewer <= more or (fewer != more and not is_claim):
            return f"was answered with {', '.join(sorted(fewer))} and with {', '.join(sorted(more))}"
    if scope not in BY_VERB and answered[0].verb != "rerun" and named[-1] != {scope}:
        return f"about job {scope} was answered with {', '.join(sorted(named[-1]))}"
    return None


def _not_its_own(ledger: Ledger, answered: list[Call]) -> str | None:
    """A claim's answer names only jobs that were claimed under its id."""
    for call in answered:
        for answer in call.answers if call.verb == "claim" else ():
            fact = ledger.fact(call, answer.job_id)
            if fact is not None and call.request_id not in fact.claimed_by:
                return f"was answered with job {answer.job_id}, which it never claimed"
    return None


def _born_twice(ledger: Ledger) -> Iterator[Doubled]:
    first: dict[tuple[str, str], str] = {}
    for (tenant, job_id), fact in ledger.facts.items():
        # A rerun carries the id of the request that brought it about, which is another's.
        if fact.born_of is None or fact.is_rerun:
            continue
        if first.setdefault((tenant, fact.born_of), job_id) != job_id:
            yield Doubled(tenant, job_id, scope_of("enqueue"), fact.born_of, 1, 1)
