"""`detent dlq show`: one dead letter, with all that is needed to judge it."""

from collections.abc import Iterator
from datetime import UTC, datetime

import click
from msgspec import Struct
from rich.text import Text

from detent.client.dead_letters import DeadLetter
from detent.surfaces.cli.command import Command
from detent.surfaces.cli.dlq.letters import DeadLetterShape, letter_shape, redriven_as
from detent.surfaces.cli.job.naming import JOB, opened_for
from detent.surfaces.cli.job.showing import Line, facts_of, write_facts
from detent.surfaces.cli.options import JSON, store_options
from detent.surfaces.cli.output import clean, say, say_command, write_json
from detent.surfaces.cli.suggesting import suggested
from detent.surfaces.cli.times import full
from detent.surfaces.shapes import JobShape, job_shape


class ShownLetterShape(Struct, frozen=True):
    """A dead letter, and the job itself."""

    letter: DeadLetterShape
    job: JobShape


@click.command(cls=Command, example="detent dlq show 42", shape=ShownLetterShape)
@JOB
@store_options
@JSON
def show(url: str | None, tenant: str, as_json: bool, job_id: str) -> None:
    """Show a dead letter: why and where it was set aside, its last error, who had it last, and its input."""
    with opened_for(job_id, url, tenant) as client:
        letter = client.dead_letter_for(job_id)
        again = redriven_as(client, job_id)
    if as_json:
        write_json(ShownLetterShape(letter_shape(letter, again), job_shape(letter.job)))
        return
    write_facts(_facts(letter, again))
    say()
    if not again:
        say_command("Run it again:", suggested("dlq redrive", job_id))
    say_command("Its story:", suggested("job history", job_id))


def _facts(letter: DeadLetter, again: list[str]) -> Iterator[Line]:
    now = datetime.now(UTC)
    yield "reason", Text(letter.reason_code, style="red")
    yield "stage", letter.stage
    yield "attempts", str(letter.attempts)
    if letter.last_owner is not None:
        until = letter.last_lease_expires_at
        yield "last lease", f"{letter.last_owner}, until {full(until)}" if until is not None else letter.last_owner
    yield "run again", ", ".join(map(clean, again)) or "not yet"
    yield from facts_of(letter.job, now)
