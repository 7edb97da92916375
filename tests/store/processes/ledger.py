"""What writers were answered, kept by a process that is not killed, and held against the store afterwards."""

from collections.abc import Iterable, Iterator
from typing import Any, Literal

from msgspec import Struct, field

from detent.audit import Answer, Auditor, Call, Report
from detent.kernel.digest import derived_id
from detent.kernel.job import Job
from detent.lifecycles import BUILT_IN
from detent.store import Story
from detent.store.clock import host_clock
from detent.testing.load import EXPECTED
from tests.store.processes.program import Line

Item = dict[str, Any]


class Asked(Struct):
    """Something that was asked as a whole, and what came back; None: nothing did, so that it is in doubt.

    `lost` is what an outage was told as. Unless it says that the outcome is not known, there must be none.
    """

    at: int
    items: list[Item]
    answered_at: int | None = None
    answers: list[dict[str, Any]] | None = None
    lost: str | None = None


class Ledger(Struct):
    asked: list[Asked] = field(default_factory=list)

    def add(self, lines: Iterable[Line]) -> list[Asked]:
        """What one writer said until it was killed. Returns what it asked."""
        by_number: dict[int, Asked] = {}
        for line in lines:
            if "asked" in line:
                by_number[line["asked"]] = Asked(line["at"], line["items"])
            elif "answered" in line:
                asked = by_number[line["answered"]]
                asked.answered_at, asked.answers = line["at"], line["answers"]
            elif "lost" in line:
                by_number[line["lost"]].lost = line["code"]
        self.asked += by_number.values()
        return list(by_number.values())

    def acknowledged(self) -> Iterator[tuple[Item, str, int, str]]:
        """Each item that was carried out: the job it was answered with, its revision and its state."""
        for asked in self.asked:
            for item, answer in zip(asked.items, asked.answers or (), strict=False):
                for job_id, rev, state in answer.get("jobs", ()):
                    yield item, job_id, rev, state

    def failed(self) -> Iterator[str]:
        """Answers that no rival and no lost lease explains."""
        for asked in self.asked:
            for item, answer in zip(asked.items, asked.answers or (), strict=False):
                if "failed" in answer or answer.get("refused", "stale_rev") not in EXPECTED:
                    yield f"'{item['verb']}' {item['arguments'].get('job_id', '')} was answered with {answer}"

    def lost(self, records: dict[str, Job]) -> Iterator[str]:
        """What was acknowledged and is not so."""
        for item, job_id, rev, state in self.acknowledged():
            verb, job = item["verb"], records.get(job_id)
            if job is None:
                yield f"'{verb}' of job {job_id} was acknowledged; there is no such job"
            elif job.rev < rev:
                yield f"'{verb}' left job {job_id} at revision {rev}; it is at {job.rev}"
            elif verb == "enqueue" and job.payload_digest != item["payload_digest"]:
                yield f"job {job_id} was enqueued with payload {item['payload_digest']}; it has {job.payload_digest}"
            elif verb == "complete" and (job.state, job.rev) != (state, rev):
                yield f"job {job_id} was '{state}' at revision {rev}; it is '{job.state}' at {job.rev}"

    def torn(self, records: dict[str, Job]) -> Iterator[str]:
        """Batches in doubt of which some jobs are there and some are not."""
        for asked in self.asked:
            made = [item["arguments"].get("request_id") for item in asked.items if item["verb"] == "enqueue"]
            requests = [request_id for request_id in made if request_id is not None]
            there = sum(derived_id("default", "enqueue", request_id) in records for request_id in requests)
            if there not in (0, len(requests)):
                yield f"of a batch of {len(requests)} jobs {there} are there"

    def audited(self, stories: Iterable[Story]) -> Report:
        """The history checker's own judgement, with every call, answered or in doubt."""
        auditor = Auditor({(each.name, each.version): each for each in BUILT_IN.values()}, traced=True)
        for story in stories:
            auditor.job(story.job, story.events, story.notes)
        for asked in self.asked:
            for call in _calls(asked):
                auditor.call(call)
        return auditor.finish(drained_at=host_clock())


def _calls(asked: Asked) -> Iterator[Call]:
    answers = asked.answers if asked.answers is not None else [None] * len(asked.items)
    for item, answer in zip(asked.items, answers, strict=True):
        arguments = item["arguments"]
        told = () if answer is None else tuple(Answer(job_id, rev) for job_id, rev, _ in answer.get("jobs", ()))
        yield Call(
            verb=item["verb"],
            outcome=_outcome(asked, answer),
            began=asked.at,
            ended=asked.answered_at,
            job_id=arguments.get("job_id"),
            request_id=arguments.get("request_id"),
            expected_rev=arguments.get("expected_rev"),
            worker=arguments.get("worker"),
            attempt=arguments.get("attempt"),
            answers=told,
            payload_digest=item.get("payload_digest"),
        )


def _outcome(asked: Asked, answer: dict[str, Any] | None) -> Literal["ok", "refused", "unknown"]:
    if answer is None:
        return "unknown" if asked.lost in (None, "outcome_unknown") else "refused"
    return "ok" if "jobs" in answer else "refused"
