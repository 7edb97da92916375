"""The check of a store as a whole: its file, and what belongs to no single job."""

from detent.store.sqlite.session import Session
from detent.store.sqlite.statements import SQL


def check(session: Session) -> list[str]:
    """What the file's own check finds, and what does not add up between records and log."""
    connection = session.connection
    found = [line for (line,) in connection.execute(SQL["integrity"]) if line != "ok"]
    for name, what in (
        ("count_orphan_events", "events without a record"),
        ("count_orphan_notes", "notes without a record"),
        ("count_missing_events", "revisions without an event"),
    ):
        count = connection.execute(SQL[name])[0][0]
        found += [f"{count} {what}"] if count else []
    return found
