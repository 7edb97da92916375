"""The check of a store as a whole: what the server says of its pages, and what belongs to no single job."""

from typing import Final

from detent.store.postgres.script import Script, ask
from detent.store.postgres.session import Session
from detent.store.postgres.statements import SQL

_COUNTED: Final = (
    ("count_orphan_events", "events without a record"),
    ("count_orphan_notes", "notes without a record"),
    ("count_missing_events", "revisions without an event"),
    ("count_doubled_records", "jobs that have ended and have not"),
    ("count_missing_records", "jobs without a record"),
    ("count_missing_specs", "records without a job"),
)


def check(session: Session) -> Script[list[str]]:
    """Pages that were found damaged, and what does not add up between jobs, records and log."""
    damaged = yield ask(SQL["integrity"], {})
    found = [f"{count} pages with a wrong checksum; see pg_stat_database" for (count,) in damaged]
    counts: dict[str, int] = {}
    for name, what in _COUNTED:
        ((counts[name],),) = yield ask(SQL[name], {"orphans": counts.get("count_orphan_events")})
        found += [f"{counts[name]} {what}"] if counts[name] else []
    return found
