"""Recorded calls against each other: one success per revision (I14), no step back (I15), a cancel that counts (I16)."""

from collections import defaultdict
from collections.abc import Iterator

from detent.audit.calls import Call, Key, Ledger
from detent.audit.invariants import Violation


def one_success(ledger: Ledger) -> Iterator[Violation]:
    """I14. A repeat is the same call again; an answer at the very revision it named changed nothing."""
    won: dict[tuple[str, str, int], Call] = {}
    for call in ledger.calls:
        expected = call.expected_rev
        if not call.is_ok or expected is None:
            continue
        for answer in call.answers:
            if answer.rev <= expected:
                continue
            first = won.setdefault((call.tenant, answer.job_id, expected), call)
            if first is not call and not _is_repeat(first, call):
                message = f"'{first.verb}' and '{call.verb}' both succeeded on revision {expected}"
                yield Violation("I14", answer.job_id, expected, message)


def no_step_back(ledger: Ledger) -> Iterator[Violation]:
    """I15, the record itself being the last to be read."""
    for (tenant, job_id), seen in _seen(ledger).items():
        yield from _steps_back(job_id, seen)
        fact = ledger.facts.get((tenant, job_id))
        newest = max(rev for _, _, rev in seen)
        if fact is not None and fact.job.rev < newest:
            yield Violation("I15", job_id, newest, f"revision {newest} was answered; the record is at {fact.job.rev}")


def cancelled(ledger: Ledger) -> Iterator[Violation]:
    """I16: an acknowledged cancel is in the log; a hard one as the end. That a soft one ends in time is seen there."""
    for call in ledger.calls:
        if not call.is_ok or call.verb not in ("cancel", "request_cancel"):
            continue
        for answer in call.answers:
            fact = ledger.fact(call, answer.job_id)
            wanted = ("cancel",) if call.mode == "hard" else ("cancel", "request_cancel")
            if fact is not None and not any(verb in wanted and rev <= answer.rev for verb, rev in fact.stops):
                message = (
                    f"a {call.mode or 'soft'} cancel was acknowledged; the job is in '{fact.job.state}' without one"
                )
                yield Violation("I16", answer.job_id, answer.rev, message)


Seen = list[tuple[int, int, int]]  # began, ended, revision


def _seen(ledger: Ledger) -> dict[Key, Seen]:
    seen: dict[Key, Seen] = defaultdict(list)
    for call in ledger.calls:
        if call.is_ok and call.ended is not None:
            for answer in call.answers:
                seen[call.tenant, answer.job_id].append((call.began, call.ended, answer.rev))
    return seen


def _steps_back(job_id: str, seen: Seen) -> Iterator[Violation]:
    """Walk the calls as they began, and beside them those that had ended by then."""
    over = sorted((ended, rev) for _, ended, rev in seen)
    newest = done = 0
    for began, _, rev in sorted(seen):
        while done < len(over) and over[done][0] < began:
            newest = max(newest, over[done][1])
            done += 1
        if rev < newest:
            yield Violation("I15", job_id, rev, f"a call that began at {began} saw {rev}; {newest} was known before")


def _is_repeat(first: Call, call: Call) -> bool:
    if first.request_id is not None:
        return first.request_id == call.request_id
    return bool(first.digest) and call.request_id is None and first.digest == call.digest
