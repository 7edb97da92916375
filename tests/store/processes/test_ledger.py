"""The ledger that the kills are judged by: it must notice what a store could do wrong."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import detent
from detent.client import Codec
from detent.kernel.digest import derived_id, digest
from detent.kernel.job import Job
from tests.store.processes.ledger import Ledger
from tests.store.processes.program import Line
from tests.store.processes.stores import all_stories, url_of

REQUESTS = ("r1", "r2")
PAYLOAD = {"number": 1}
PAYLOAD_DIGEST = digest(Codec().encode(PAYLOAD))
JOB_ID = derived_id("default", "enqueue", "r1")


@pytest.fixture
def records(tmp_path: Path) -> dict[str, Job]:
    """One job, done: enqueued, claimed and started, completed."""
    with detent.connect(url_of(tmp_path)) as client:
        client.enqueue("k", request_id="r1")
        client.claim(worker="w", start=True)
        client.complete(JOB_ID, worker="w", attempt=1, request_id="r2")
        return {story.job.id: story.job for story in all_stories(client)}


def told(verb: str, answer: dict[str, Any] | None, request_ids: Iterable[str] = ("r1",), **more: Any) -> list[Line]:
    items = [{"verb": verb, "arguments": {"request_id": request_id}, **more} for request_id in request_ids]
    asked = {"asked": 1, "at": 1, "items": items}
    return [asked] if answer is None else [asked, {"answered": 1, "at": 2, "answers": [answer]}]


def lost(code: str) -> list[Line]:
    item = {"verb": "enqueue", "arguments": {"kind": "k"}, "payload_digest": PAYLOAD_DIGEST}
    return [{"asked": 1, "at": 1, "items": [item]}, {"lost": 1, "at": 2, "code": code}]


def complaints(lines: list[Line], records: dict[str, Job]) -> list[str]:
    ledger = Ledger()
    ledger.add(lines)
    return [*ledger.failed(), *ledger.lost(records), *ledger.torn(records)]


def test_what_is_so_is_not_complained_of(records: dict[str, Job]) -> None:
    lines = told("complete", {"jobs": [(JOB_ID, 4, "succeeded")]}, ["r2"])

    assert complaints(lines, records) == []


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        (told("enqueue", {"jobs": [("gone", 1, "queued")]}, payload_digest=""), "there is no such job"),
        (told("enqueue", {"jobs": [(JOB_ID, 1, "queued")]}, payload_digest="other"), "was enqueued with payload other"),
        (told("renew", {"jobs": [(JOB_ID, 5, "running")]}), "at revision 5; it is at 4"),
        (told("complete", {"jobs": [(JOB_ID, 3, "succeeded")]}), "was 'succeeded' at revision 3"),
        (told("complete", {"refused": "request_conflict"}), "request_conflict"),
        (told("complete", {"failed": "there is no job"}), "there is no job"),
        (told("enqueue", None, ["r1", "never"]), "of a batch of 2 jobs 1 are there"),
    ],
)
def test_what_is_not_so_is_complained_of(lines: list[Line], complaint: str, records: dict[str, Job]) -> None:
    (found,) = complaints(lines, records)

    assert complaint in found


def test_calls_go_to_the_history_checker_too(tmp_path: Path) -> None:
    ledger = Ledger()
    ledger.add(told("enqueue", {"jobs": [("gone", 1, "queued")]}))
    with detent.connect(url_of(tmp_path)) as client:
        client.enqueue("k")  # asked for by nobody that the ledger knows
        report = ledger.audited(all_stories(client))

    assert {"I10", "I11"} <= set(report.counts)


@pytest.mark.parametrize(
    ("code", "jobs", "found"),
    [
        ("store_unavailable", 0, set()),
        ("store_unavailable", 1, {"I11"}),
        ("outcome_unknown", 0, set()),
        ("outcome_unknown", 1, set()),
        ("outcome_unknown", 2, {"I13"}),
    ],
)
def test_an_error_says_how_much_may_be_there(url: str, code: str, jobs: int, found: set[str]) -> None:
    ledger = Ledger()
    ledger.add(lost(code))
    with detent.connect(url) as client:
        for _ in range(jobs):
            client.enqueue("k", PAYLOAD)
        report = ledger.audited(all_stories(client))

    assert set(report.counts) == found
