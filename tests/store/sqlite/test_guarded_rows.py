"""What is written once stays as it is, and stays as long as its job lives."""

import re
from functools import partial
from pathlib import Path
from typing import Final

import apsw
import pytest

from detent.lifecycle import Lifecycle
from detent.lifecycles import BUILT_IN, STANDARD
from tests.store.sqlite.by_hand import Hand, refusal
from tests.store.sqlite.files import ROOT, opened

EVENT_COLUMNS: Final = (
    "seq",
    "tenant",
    "job",
    "rev",
    "type",
    "verb",
    "from_state",
    "to_state",
    "at",
    "actor",
    "changes",
)
SPEC_COLUMNS: Final = (
    "id",
    "tenant",
    "kind",
    "lifecycle",
    "policy",
    "queue",
    "priority",
    "payload",
    "dedupe_key",
    "env",
)
# The statement, and what the file answers. Of job 1, which lives, and job 2, which has ended.
REFUSED: Final = [
    *((f"update detent_events set {name} = {name} where job = 2", "an event never changes") for name in EVENT_COLUMNS),
    *((f"update detent_jobs set {name} = {name}", "what a job is never changes") for name in SPEC_COLUMNS),
    ("delete from detent_events where job = 1 and rev = 1", "removed after the record of their job"),
    ("delete from detent_events where job = 2", "removed after the record of their job"),
    ("delete from detent_events", "removed after the record of their job"),
    ("delete from detent_records where job = 1", "only an ended job can be removed"),
    ("delete from detent_records", "only an ended job can be removed"),
    ("delete from detent_jobs where job = 1", "a job is removed after its record"),
    ("delete from detent_jobs where job = 2", "a job is removed after its record"),
    ("update detent_lifecycles set definition = '{}'", "a version of a lifecycle never changes"),
    ("update detent_lifecycles set version = version + 1", "a version of a lifecycle never changes"),
]
AGAIN: Final = "insert or replace into {table} select * from {table} where job = {job}"


@pytest.fixture
def two(hand: Hand) -> Hand:
    """Job 1 runs, job 2 has succeeded."""
    hand.bring(STANDARD, "running", 1)
    hand.bring(STANDARD, "succeeded", 2)
    return hand


@pytest.mark.requirement("ALL-03")
@pytest.mark.parametrize(("statement", "answer"), REFUSED)
def test_what_is_kept_cannot_be_rewritten_or_removed(two: Hand, statement: str, answer: str) -> None:
    with pytest.raises(apsw.ConstraintError, match=answer):
        two.db.execute(statement)


@pytest.mark.parametrize("lifecycle", BUILT_IN.values(), ids=lambda each: each.name)
def test_job_can_be_removed_in_its_end_and_in_no_other_state(hand: Hand, lifecycle: Lifecycle) -> None:
    removed = []
    for job, state in enumerate(lifecycle.states, 1):
        hand.bring(lifecycle, state.name, job)
        statement = f"delete from detent_records where job = {job}"
        removed += [state.name] if refusal(partial(hand.db.execute, statement)) is None else []

    assert removed == [state.name for state in lifecycle.states if state.phase == "ended"]


def test_ended_job_goes_record_first_and_then_its_log_and_its_spec(two: Hand) -> None:
    for table in ("detent_records", "detent_events", "detent_jobs"):
        two.db.execute(f"delete from {table} where job = 2")

    assert two.db.execute("select distinct job from detent_events").fetchall() == [(1,)]


@pytest.mark.requirement("ALL-03")
def test_second_event_of_the_same_rev_is_refused(two: Hand) -> None:
    with pytest.raises(apsw.ConstraintError, match=r"detent_events.job, detent_events.rev|detent: "):
        two.event(1, 2, "claim", "queued", "assigned")


@pytest.mark.requirement("ALL-18")
def test_second_job_of_the_same_tenant_and_id_is_refused(two: Hand) -> None:
    with pytest.raises(apsw.ConstraintError, match=r"detent_jobs.tenant, detent_jobs.id|detent: "):
        two.spec(STANDARD, 3, "job-1")
    two.db.execute(
        "insert into detent_jobs (tenant, id, kind, lifecycle, policy, queue, priority, payload) "
        "select 'other', id, kind, lifecycle, policy, queue, priority, payload from detent_jobs where job = 1"
    )

    assert two.db.execute("select tenant from detent_jobs where id = 'job-1' order by 1").fetchall() == [
        ("default",),
        ("other",),
    ]


@pytest.mark.requirement("ALL-18")
def test_dedupe_key_has_one_live_job_in_each_tenant_and_kind(two: Hand) -> None:
    take = "insert into detent_dedupe_keys (tenant, kind, dedupe_key, job) values (?, ?, 'k', ?)"
    two.db.execute(take, ("default", "scan", 1))
    two.db.execute(take, ("other", "scan", 2))
    two.db.execute(take, ("default", "print", 3))

    with pytest.raises(apsw.ConstraintError, match="UNIQUE"):
        two.db.execute(take, ("default", "scan", 4))


def test_same_version_of_a_lifecycle_cannot_be_registered_twice(two: Hand) -> None:
    with pytest.raises(apsw.ConstraintError, match="UNIQUE"):
        two.insert("detent_lifecycles", {"name": "standard", "version": 1, "digest": "d", "definition": "{}"})


@pytest.mark.requirement("ALL-03", "ALL-10")
@pytest.mark.parametrize("job", [1, 2])
@pytest.mark.parametrize("table", ["detent_events", "detent_jobs"])
def test_insert_or_replace_in_a_transaction_does_not_rewrite_what_is_kept(
    two: Hand, path: Path, table: str, job: int
) -> None:
    with opened(path) as client, client.transaction() as tx:
        answer = refusal(lambda: tx.connection.execute(AGAIN.format(table=table, job=job)))

    assert answer is not None
    assert "removed after" in answer


@pytest.mark.requirement("ALL-10")
@pytest.mark.parametrize("job", [1, 2])
def test_insert_or_replace_does_not_send_a_job_back_to_its_beginning(two: Hand, job: int) -> None:
    two.db.execute("create temp table again as select * from detent_records where job = ?", (job,))
    two.db.execute(
        "update again set state = 'queued', phase = 'ready', rev = 1, owner = null, lease_expires_at = null, "
        "outcome = null, ended_at = null, result_digest = null"
    )

    with pytest.raises(apsw.ConstraintError):
        two.db.execute("insert or replace into detent_records select * from again")


@pytest.mark.requirement("ALL-03", "ALL-10")
@pytest.mark.parametrize(
    ("job", "change"),
    [
        (1, "attempt = 9"),
        (1, "owner = 'thief'"),
        (1, "lease_expires_at = lease_expires_at + 1"),
        (1, "lifecycle = lifecycle + 1"),
        (1, "job = 77"),
        (2, "result_digest = 'another'"),
        (2, "ended_at = ended_at + 1"),
    ],
)
def test_column_of_a_record_does_not_change_without_a_move(two: Hand, job: int, change: str) -> None:
    with pytest.raises(apsw.ConstraintError):
        two.db.execute(f"update detent_records set {change} where job = {job}")


def test_every_trigger_of_the_schema_is_put_to_the_test(hand: Hand) -> None:
    elsewhere = {"a job begins with its first event", "an ended job stays"}
    messages = {answer for _, answer in REFUSED} | elsewhere
    schema = (ROOT / "src/detent/store/sqlite/migrations/0001_first.sql").read_text()
    said = re.findall(r"raise\(abort, 'detent: (.*)'\)", schema)

    assert len(said) == schema.count("create trigger")
    assert [text for text in said if not any(message in text for message in messages)] == []
