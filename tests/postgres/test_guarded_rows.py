"""What is written once stays as it is, and stays as long as its job lives."""

import re
from typing import Final

import psycopg
import pytest

from detent.lifecycles import STANDARD
from tests.postgres.by_hand import Hand
from tests.store.sqlite.files import ROOT
from tests.store.sqlite.test_guarded_rows import EVENT_COLUMNS, SPEC_COLUMNS

MIGRATION: Final = ROOT / "src/detent/store/postgres/migrations/0001_first.sql"
EVENT: Final = "an event never changes"
SPEC: Final = "what a job is never changes"
REMOVED: Final = "a job, and its events, are removed after its record"
LIFECYCLE: Final = "a version of a lifecycle never changes"
# The statement, and what the database answers. Of job 1, which lives, and job 2, which has ended.
REFUSED: Final = [
    *((f"update detent_events set {name} = {name} where job = 2", EVENT) for name in EVENT_COLUMNS),
    *((f"update detent_jobs set {name} = {name}", SPEC) for name in SPEC_COLUMNS),
    ("delete from detent_events where job = 1 and rev = 1", REMOVED),
    ("delete from detent_events where job = 2", REMOVED),
    ("delete from detent_events", REMOVED),
    ("delete from detent_jobs where job = 1", REMOVED),
    ("delete from detent_jobs where job = 2", REMOVED),
    ("delete from detent_records where job = 1", "only its end takes a job from the living"),
    ("update detent_ended set ended_at = ended_at", "an ended job stays as it is"),
    ("update detent_lifecycles set definition = '{}'", LIFECYCLE),
    ("update detent_lifecycles set version = version + 1", LIFECYCLE),
    ("delete from detent_lifecycles", LIFECYCLE),
    ("update detent_moves set target = source", LIFECYCLE),
    ("delete from detent_moves", LIFECYCLE),
    ("truncate detent_events", "the log is not emptied"),
    ("truncate detent_records", "only ended jobs can be removed"),
    ("truncate detent_ended", "only old jobs can be removed"),
    ("truncate detent_jobs", "only ended jobs can be removed, with prune or purge"),
    ("truncate detent_moves", LIFECYCLE),
    ("truncate detent_lifecycles cascade", LIFECYCLE),
]
SEEN_ELSEWHERE: Final = {
    "a move is declared, and has its event",
    "a move is a step up in rev, of the same job",
    "a job begins once, at its first revision",
    "a job ends in a declared way, with its last event, and once",
}


@pytest.fixture
def two(hand: Hand) -> Hand:
    """Job 1 runs, job 2 has succeeded."""
    hand.bring(STANDARD, "running", 1)
    hand.bring(STANDARD, "succeeded", 2)
    return hand


@pytest.mark.requirement("ALL-03")
@pytest.mark.parametrize(("statement", "answer"), REFUSED)
def test_what_is_kept_cannot_be_rewritten_or_removed(two: Hand, statement: str, answer: str) -> None:
    with pytest.raises(psycopg.DatabaseError, match=answer):
        two.ask(statement)


def test_ended_job_goes_record_first_and_then_its_log_and_its_spec(two: Hand) -> None:
    for table in ("detent_ended", "detent_events", "detent_jobs"):
        two.ask(f"delete from {table} where job = 2")

    assert two.ask("select distinct job from detent_events") == [(1,)]


@pytest.mark.requirement("ALL-03")
def test_second_event_of_the_same_rev_is_refused(two: Hand) -> None:
    with pytest.raises(psycopg.errors.UniqueViolation, match="detent_events_job"):
        two.event(1, 2, "claim", "queued", "assigned")


@pytest.mark.requirement("ALL-18")
def test_second_job_of_the_same_tenant_and_id_is_refused(two: Hand) -> None:
    with pytest.raises(psycopg.errors.UniqueViolation, match="tenant"):
        two.spec(STANDARD, 3, "job-1")


@pytest.mark.requirement("ALL-18")
def test_dedupe_key_has_one_live_job_in_each_tenant_and_kind(hand: Hand) -> None:
    for job, (tenant, kind) in enumerate([("default", "scan"), ("other", "scan"), ("default", "print")], 1):
        hand.event(job, 1, "enqueue", None, "queued")
        hand.record(STANDARD, job, "queued", tenant=tenant, kind=kind, dedupe_key="k")
    hand.event(4, 1, "enqueue", None, "queued")

    with pytest.raises(psycopg.errors.UniqueViolation, match="detent_records_dedupe"):
        hand.record(STANDARD, 4, "queued", dedupe_key="k")


def test_same_version_of_a_lifecycle_cannot_be_registered_twice(hand: Hand) -> None:
    with pytest.raises(psycopg.errors.UniqueViolation):
        hand.insert("detent_lifecycles", {"name": "standard", "version": 1, "digest": "d", "definition": "{}"})


@pytest.mark.requirement("ALL-03", "ALL-10")
@pytest.mark.parametrize(
    "change",
    [
        "attempt = 9",
        "owner = 'thief'",
        "lease_expires_at = lease_expires_at + 1",
        "lifecycle = lifecycle + 1",
        "tenant = 'other'",
        "job = 77",
        "state = 'queued', phase = 'ready', owner = null, lease_expires_at = null",
        "rev = rev + 1",
    ],
)
def test_column_of_a_record_does_not_change_without_a_move(two: Hand, change: str) -> None:
    with pytest.raises(psycopg.DatabaseError, match="detent: a move is"):
        two.ask(f"update detent_records set {change} where job = 1")


def test_what_is_said_along_the_way_is_no_move(two: Hand) -> None:
    """And no harm: progress, a checkpoint, the last error, and when the reconciler looks."""
    two.ask("update detent_records set progress = '{}', checkpoint = 'x', last_error = '{}' where job = 1")

    assert two.ask("select progress, rev from detent_records") == [("{}", 3)]


def test_every_answer_of_the_schema_is_put_to_the_test() -> None:
    schema = MIGRATION.read_text()
    said = {*re.findall(r"detent_refuse\('(.*)'\)", schema), *re.findall(r"raise exception 'detent: ([^%]*)'", schema)}
    expected = {answer for _, answer in REFUSED} | SEEN_ELSEWHERE

    assert len(said) >= 10
    assert [text for text in sorted(said) if not any(text.startswith(answer) for answer in expected)] == []


def test_every_trigger_of_the_schema_is_at_work(hand: Hand) -> None:
    schema = "".join(path.read_text() for path in MIGRATION.parent.glob("*.sql"))
    named = re.findall(r"create trigger (\w+)", schema)
    there = hand.ask("select tgname from pg_trigger where tgname like 'detent%%' and tgenabled = 'O'")

    assert sorted(named) == sorted(name for (name,) in there)
