"""Every statement that must stay quick goes by an index: SQLite says so itself."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import apsw
import pytest

from detent.store.sqlite.claiming import LANES, PASSING
from detent.store.sqlite.statements import SQL, counting, with_filters
from tests.store.sqlite.files import opened, run_to_success

BIG: Final = ("records", "events", "jobs", "contents", "event_details")


def found_by(*filters: str, linked: bool = False) -> str:
    return with_filters("find_linked" if linked else "find", tuple(f"find_{each}" for each in filters))


def counted(tables: str, *filters: str) -> str:
    return counting(tables, tuple(f"find_{each}" for each in filters), ("lifecycle", "queue"))


# The statement, and the indexes that its plan must name.
PLANS: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "lane of a claim": (LANES[0], ("detent_records_claimable",)),
    "lane of the patient": (LANES[1], ("detent_records_patient",)),
    "lane past used-up keys": (PASSING[0], ("SEARCH detent_records USING COVERING INDEX detent_records_claimable",)),
    "lane of the patient past used-up keys": (
        PASSING[1],
        ("SEARCH detent_records USING COVERING INDEX detent_records_patient",),
    ),
    "keys that are used up": (SQL["used_up"], ("detent_records_limited", "detent_rates_full")),
    "use of a key": (SQL["key_use"], ("detent_records_limited",)),
    "holders of a key": (SQL["key_holders"], ("detent_records_limited",)),
    "rate of a key": (SQL["key_rate"], ("SEARCH detent_rates USING PRIMARY KEY",)),
    "kinds of a queue": (SQL["kinds"], ("detent_records_claimable",)),
    "adapters of a kind": (SQL["adapters"], ("detent_records_claimable",)),
    "depth of a queue": (SQL["depth"], ("detent_records_claimable",)),
    "oldest of each queue": (
        SQL["oldest_ready"],
        ("SEARCH detent_records USING COVERING INDEX detent_records_claimable (tenant=?)",),
    ),
    "what is due": (SQL["due"], ("detent_records_waking",)),
    "job by id": (SQL["by_id"], ("sqlite_autoindex_detent_jobs_1",)),
    "jobs by id": (SQL["by_ids"], ("sqlite_autoindex_detent_jobs_1",)),
    "jobs by number": (SQL["by_numbers"], ("SEARCH r USING INTEGER PRIMARY KEY (rowid=?)",)),
    "job by dedupe key": (SQL["by_dedupe_key"], ("SEARCH k USING PRIMARY KEY",)),
    "receipt": (SQL["receipt"], ("SEARCH detent_receipts USING PRIMARY KEY",)),
    "log of a number": (SQL["events_of"], ("detent_events_job",)),
    "logs of a span": (SQL["events_between"], ("SEARCH e USING INDEX detent_events_job (job>? AND job<?)",)),
    "notes of a span": (SQL["notes_between"], ("SEARCH detent_notes USING INDEX detent_notes_job (job>? AND job<?)",)),
    "notes of a job": (SQL["notes_of"], ("detent_notes_job",)),
    "log in the order of commit": (with_filters("events", ()), ("SEARCH e USING INTEGER PRIMARY KEY (rowid>?)",)),
    "events of a job": (with_filters("events_of_job", ()), ("detent_jobs_1", "detent_events_job")),
    "events of a job by time": (
        with_filters("events_of_job", ("at_from", "at_until")),
        ("detent_jobs_1", "detent_events_job"),
    ),
    "events of a type by time": (
        with_filters("events_by_type", ()),
        ("detent_events_type (tenant=? AND type=? AND at>? AND at<?)",),
    ),
    "events by correlation id": (
        with_filters("events_by_correlation", ()),
        ("detent_jobs_correlation", "sqlite_autoindex_detent_jobs_1", "detent_events_job"),
    ),
    "whether a queue is paused": (SQL["is_paused"], ("SEARCH detent_pauses USING PRIMARY KEY",)),
    "workers that are gone": (SQL["forget_workers"], ("detent_workers_seen",)),
    "token": (SQL["token"], ("SEARCH detent_tokens USING PRIMARY KEY",)),
    "live tokens of a tenant": (SQL["count_tokens"], ("detent_tokens_tenant",)),
    "tokens that are over": (SQL["expired_tokens"], ("detent_tokens_expiry", "detent_tokens_revoked")),
    "tick of a schedule": (SQL["advance_schedule"], ("SEARCH detent_schedules USING PRIMARY KEY",)),
    "old jobs": (SQL["old_jobs"], ("detent_records_ended",)),
    "listing": (found_by(), ("SEARCH r USING INTEGER PRIMARY KEY (rowid<?)",)),
    "listing of what lives in a state": (found_by("state", "live"), ("detent_records_live",)),
    "listing of failures": (found_by("rare_outcome"), ("detent_records_ended",)),
    "listing of a workflow": (found_by("workflow_id", linked=True), ("detent_jobs_workflow",)),
    "jobs without a verdict": (SQL["unjudged"], ("detent_records_unjudged",)),
    "pace of a rule": (SQL["pace"], ("detent_paces",)),
    "listing of children": (found_by("parent_job_id", linked=True), ("detent_jobs_parent",)),
    "listing of a correlation id": (found_by("correlation_id", linked=True), ("detent_jobs_correlation",)),
    "listing of an own correlation id": (found_by("own_correlation_id", linked=True), ("detent_jobs_1",)),
    "count of a workflow": (counted("links", "workflow_id"), ("detent_jobs_workflow",)),
    "count of children": (counted("links", "parent_job_id"), ("detent_jobs_parent",)),
    "count of a correlation id": (counted("links", "correlation_id"), ("detent_jobs_correlation",)),
    "count of an own correlation id": (counted("links", "own_correlation_id"), ("detent_jobs_1",)),
    "count of failures": (counted("records", "rare_outcome"), ("detent_records_ended",)),
    "newest events": (
        with_filters("events", ("verb", "queue"), "desc"),
        ("SEARCH e USING INTEGER PRIMARY KEY (rowid>?)",),
    ),
    "newest events of a job": (
        with_filters("events_of_job", ("verb",), "desc"),
        ("detent_jobs_1", "detent_events_job"),
    ),
    "newest events by correlation id": (
        with_filters("events_by_correlation", (), "desc"),
        ("detent_jobs_correlation", "sqlite_autoindex_detent_jobs_1", "detent_events_job"),
    ),
    "ended jobs of some ids": (SQL["ended_jobs"], ("sqlite_autoindex_detent_jobs_1",)),
    "walk over the store": (SQL["stories"], ("SEARCH r USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)",)),
    "expired receipts": (SQL["expired_receipts"], ("detent_receipts_expiry",)),
    "expired details": (SQL["expired_details"], ("detent_event_details_expiry",)),
    "expired notes": (SQL["expired_notes"], ("detent_notes_expiry",)),
}
IN_ORDER: Final = (
    "lane of a claim", "lane of the patient", "jobs without a verdict",
    "what is due", "old jobs", "listing", "listing of what lives in a state", "walk over the store",
    "log of a number", "logs of a span", "log in the order of commit", "newest events",
)  # fmt: skip


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Iterator[apsw.Connection]:
    """A file with some history, planned for as the store does it."""
    path: Path = tmp_path_factory.mktemp("plans") / "jobs.db"
    with opened(path, synchronous="normal") as client:
        run_to_success(client, 500)
    connection = apsw.Connection(str(path))
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    yield connection
    connection.close()


@pytest.mark.requirement("STD-13")
@pytest.mark.parametrize("what", PLANS)
def test_statement_goes_by_an_index(db: apsw.Connection, what: str) -> None:
    sql, indexes = PLANS[what]
    plan = planned(db, sql)

    assert [index for index in indexes if not any(index in step for step in plan)] == []
    assert [step for step in plan if is_walk(step)] == []


@pytest.mark.parametrize("what", IN_ORDER)
def test_statement_that_is_read_in_the_order_of_its_index_sorts_nothing(db: apsw.Connection, what: str) -> None:
    assert [step for step in planned(db, PLANS[what][0]) if "TEMP B-TREE" in step] == []


@pytest.mark.requirement("STD-13")
@pytest.mark.parametrize(
    "what", ["events of a job", "events of a type by time", "events by correlation id", "listing of a workflow"]
)
def test_what_is_sorted_is_never_more_than_one_link_leads_to(db: apsw.Connection, what: str) -> None:
    """A sort is fine where an index has narrowed it down first: nothing above it walks."""
    plan = planned(db, PLANS[what][0])

    assert any(re.match(r"SEARCH \w+ USING (COVERING )?INDEX", step) for step in plan)
    assert [step for step in plan if is_walk(step)] == []


@pytest.mark.parametrize("tables", ["records", "both"])
def test_count_of_what_lives_goes_by_the_index_of_what_lives(db: apsw.Connection, tables: str) -> None:
    """All of that index, and none of the jobs that are not in it."""
    plan = planned(db, counted(tables, "phase", "live"))

    assert [step for step in plan if is_walk(step)] == ["SCAN r USING INDEX detent_records_live"]


def planned(db: apsw.Connection, sql: str) -> list[str]:
    bindings: dict[str, Any] = dict.fromkeys(re.findall(r":(\w+)", sql))
    count = len(re.findall(r"\?(?!\d)", sql)) or max(map(int, re.findall(r"\?(\d)", sql)), default=0)
    rows = db.execute(f"explain query plan {sql}", bindings or (None,) * count)
    return [row[3] for row in rows]


def is_walk(step: str) -> bool:
    """Going through a whole table or index. By number, from a place on, SQLite calls it a search."""
    return bool(re.match(rf"SCAN (detent_({'|'.join(BIG)})|[rejcd])\b", step))
