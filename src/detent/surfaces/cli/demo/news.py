"""What is worth telling of a demo, in words. Each kind of thing is told once; how often it happened is in the tally."""

from typing import Final

from msgspec import Struct

from detent.client import Event
from detent.lifecycle import Lifecycle
from detent.surfaces.cli.demo.child import Told

GOOD: Final = "green"
BAD: Final = "red"
ODD: Final = "yellow"
ORDINARY: Final = ""
Headline = tuple[str, str, str]  # what kind of thing, its style, and the words


class Item(Struct, frozen=True):
    at_s: float
    text: str
    style: str
    is_key: bool = False


class News:
    def __init__(self) -> None:
        self.items: list[Item] = []
        self._kinds: set[str] = set()

    def add(self, at_s: float, text: str, style: str = ORDINARY) -> None:
        """Something that is told whenever it happens, and still at the end."""
        self.items.append(Item(at_s, text, style, is_key=True))

    def add_first(self, at_s: float, headline: Headline | None) -> None:
        """Only the first of its kind."""
        if headline is None or headline[0] in self._kinds:
            return
        kind, style, text = headline
        self._kinds.add(kind)
        self.items.append(Item(at_s, text, style))


def headline_of(event: Event, lifecycle: Lifecycle) -> Headline | None:
    job, cause, verb = f"{event.job_id} ({lifecycle.name})", event.cause or "", event.verb
    match verb:
        case "renew" if "checkpoint_digest" in event.changes:
            return "checkpoint", ORDINARY, f"{event.worker} renewed its lease on {job} and saved a checkpoint"
        case "retry":
            return "retry", ODD, f"{job} failed and goes round again: {cause}"
        case "dead_letter":
            return "dead letter", BAD, f"{job} is a dead letter after {event.attempt} attempts: {cause}"
        case "fail":
            return f"failed by {cause}", BAD, f"{job} failed for good: {cause}"
        case "release":
            return "release", ORDINARY, f"{event.worker} gave {job} back; that counts as no failure"
        case "expire":
            return f"expire {lifecycle.name}", ODD, f"{job} is '{event.to_state}' now: {cause}"
        case "time_out":
            return f"time_out {lifecycle.name}", ODD, f"{job} is '{event.to_state}' now: {cause}"
        case "submit" if cause:  # a step of its own, and not part of the enqueue
            return "submit", ORDINARY, f"{job} was created first and is submitted now"
        case "schedule" | "approve" | "deny":
            return _of_policy(event, job)
        case "stall" | "requeue" | "claim":
            return _of_stalled(event, job)
        case "request_cancel" | "cancel":
            return _of_cancel(event, job, lifecycle)
        case _:
            return None


def _of_policy(event: Event, job: str) -> Headline | None:
    said = event.payload or {}
    verdict, rule = said.get("verdict"), said.get("rule")
    if event.verb == "approve":
        return "approve", GOOD, f"operator {event.actor} approved {job}, which the policy held"
    if event.verb == "deny" and event.role == "operator":
        return "deny by operator", BAD, f"operator {event.actor} denied {job}, which the policy held"
    if event.verb == "deny":
        return "deny by policy", BAD, f"the policy denied {job} by its rule {rule}"
    if verdict in ("hold", "throttle"):
        return f"schedule {verdict}", ODD, f"the policy's verdict on {job} is '{verdict}', by its rule {rule}"
    return None


def _of_stalled(event: Event, job: str) -> Headline | None:
    match event.verb, event.role, event.from_state:
        case "stall", "owner", _:
            return "stall by owner", ODD, f"{event.worker} stalled {job}: {event.cause}"
        case "stall", _, _:
            return "stall", ODD, f"{job} is '{event.to_state}' now: {event.cause}"
        case "requeue", "operator", _:
            return "requeue by operator", GOOD, f"operator {event.actor} put {job} back, whose budget was used up"
        case "claim", _, "stalled":
            return "reclaim", GOOD, f"{event.worker} took {job} as it was, stalled"
        case _:
            return None


def _of_cancel(event: Event, job: str, lifecycle: Lifecycle) -> Headline:
    if event.verb == "request_cancel":
        return "request_cancel", ODD, f"operator {event.actor} asked for {job} to stop: {event.cause}"
    if event.role == "owner":
        return "cancel by owner", GOOD, f"{event.worker} stopped {job} within its grace, as asked"
    if event.role == "reconciler":
        return "cancel by reconciler", BAD, f"{job} did not stop within its grace and was taken away"
    assert event.from_state is not None, "only a job that is there is cancelled"
    phase = lifecycle.by_name[event.from_state].phase
    how = "at once, while it ran" if phase == "active" else "before anybody had it"
    return f"cancel {phase}", ODD, f"operator {event.actor} cancelled {job} {how}"


def headline_of_told(told: Told) -> Headline | None:
    who, job = told.who, told.job_id
    match told.what, told.code:
        case "late", _:
            return "late", GOOD, f"{who} is back with a result for {job}: too late, refused, kept as a note"
        case "again", "repeat":
            return "repeat", GOOD, f"{job} was asked for again, by its request id: answered, not doubled"
        case "again", _:
            return "duplicate", GOOD, f"{job} was asked for again, by its dedupe key: answered, not doubled"
        case "misread", _:
            return "misread", GOOD, f"{who} decided {job} on an old revision: refused ({told.code}), read again"
        case _:
            return None
