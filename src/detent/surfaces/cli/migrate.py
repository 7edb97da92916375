"""`detent migrate`: make a store, or bring an older one to this program's schema."""

from collections.abc import Sequence
from datetime import datetime
from importlib.resources import files

import click
from msgspec import Struct

from detent.client import connect
from detent.client.addresses import without_secrets
from detent.client.connecting import DEFAULT_URL
from detent.client.moments import to_moment
from detent.client.sync import run
from detent.store import Migration
from detent.surfaces.cli.chatter import remark
from detent.surfaces.cli.command import Command
from detent.surfaces.cli.options import JSON, URL
from detent.surfaces.cli.output import say, write, write_json
from detent.surfaces.cli.times import full


class MigrationShape(Struct, frozen=True, kw_only=True):
    """One step of the schema. `applied_at`: when the store got it."""

    number: int
    name: str
    applied_at: datetime


class MigrateShape(Struct, frozen=True, kw_only=True):
    """`applied` are the steps that were missing, `migrations` all that the store has now."""

    applied: list[MigrationShape]
    migrations: list[MigrationShape]


@click.command(cls=Command, example="detent migrate --url sqlite:///jobs.db\ndetent migrate --sql", shape=MigrateShape)
@URL
@click.option("--sql", is_flag=True, help="Only print the SQL of what is still to be applied.")
@click.option(
    "--roles", is_flag=True, help="Only print the SQL that gives roles of a PostgreSQL database their rights."
)
@JSON
def migrate(url: str | None, sql: bool, roles: bool, as_json: bool) -> None:
    """Make a store, or bring an older one up to date.

    Programs that connect do the same by themselves; this does it beforehand, and says what was done. It is done in one
    transaction, and applied again it does nothing.

    In a PostgreSQL database its owner runs it, and lets other roles in with what --roles prints.
    """
    if sql + roles + as_json > 1:
        raise click.UsageError("--sql and --roles print SQL, and --json prints JSON; choose one.")
    if roles:
        write(files("detent.store").joinpath("postgres", "roles.sql").read_text(encoding="utf-8"))
        return
    connecting = connect(url)
    before = run(connecting.store.migrations())
    missing = [each for each in before if each.applied_at is None]
    if sql:
        _write_sql(missing, url)
        return
    with connecting as client:
        now = run(client.client.store.migrations())
    applied = [each for each in now if each.number in {lacked.number for lacked in missing}]
    if as_json:
        write_json(MigrateShape(applied=_shapes(applied), migrations=_shapes(now)))
    else:
        _show(applied, now, url, is_new=len(missing) == len(before))


def _shapes(migrations: Sequence[Migration]) -> list[MigrationShape]:
    return [
        MigrationShape(number=each.number, name=each.name, applied_at=to_moment(each.applied_at))
        for each in migrations
        if each.applied_at is not None
    ]


def _write_sql(missing: Sequence[Migration], url: str | None) -> None:
    if not missing:
        remark(f"{without_secrets(url or DEFAULT_URL)} is current: nothing is to be applied.")
        return
    write("-- To be read: `detent migrate` applies it, and records that it did.\n")
    for each in missing:
        write(f"\n-- migration {each.number}: {each.name}\n{each.sql.strip()}\n")


def _show(applied: Sequence[Migration], now: Sequence[Migration], url: str | None, *, is_new: bool) -> None:
    where = without_secrets(url or DEFAULT_URL)
    for each in applied:
        say(f"applied migration {each.number}: {each.name}")
    if is_new:
        say(f"{where} is a new store, and ready.", style="green")
    elif applied:
        say(f"{where} is up to date.", style="green")
    else:
        latest = now[-1]
        since = f" since {full(to_moment(latest.applied_at))}" if latest.applied_at is not None else ""
        say(f"{where} is current: it has migration {latest.number} ({latest.name}){since}.", style="green")
