"""The commands that move a job: cancel, rerun, and what an operator is asked for."""

import getpass
import os
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar

import click
from click.core import ParameterSource
from rich.text import Text

from detent.client import Job, SyncClient
from detent.client.dead_letters import redrive_id
from detent.surfaces.cli.command import Command
from detent.surfaces.cli.job.naming import JOB, opened_for
from detent.surfaces.cli.job.refusing import refuse_second_rerun, reworded
from detent.surfaces.cli.options import JSON, JsonValue, Seconds, store_options
from detent.surfaces.cli.output import clean, write_json
from detent.surfaces.cli.output import show as print_
from detent.surfaces.cli.palette import state_of
from detent.surfaces.cli.times import clock
from detent.surfaces.shapes import AnsweredShape, answered_shape

Function = TypeVar("Function", bound=Callable[..., Any])
ACTOR: Final = click.option("--actor", envvar="DETENT_ACTOR", help="Who you are, for the record; else your login name.")
REASON: Final = click.option("--reason", help="Why, for the record.")
REV: Final = click.option("--rev", "expected_rev", type=int, metavar="N", help="Only if it is still at this revision.")
# What was done to a job by a verb; of a rerun it is told which job it runs again.
DEEDS: Final = {
    "cancel": "cancelled",
    "requeue": "put back into its queue",
    "submit": "submitted",
    "approve": "approved",
    "deny": "denied",
}
# What is worth a remark about how a request was answered.
ANSWERS: Final = {"repeat": "asked before", "duplicate": "it exists already", "unchanged": "it was so already"}


def login_name() -> str:
    """A container may have a number for a user and no name to it."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid-{os.getuid()}"


def steering(function: Function) -> Function:
    """What every command takes that moves a job."""
    return JOB(ACTOR(REASON(REV(store_options(JSON(function))))))


@click.command(cls=Command, example='detent job cancel 42 --reason "wrong customer"', shape=AnsweredShape)
@click.option("--hard", is_flag=True, help="Revoke the lease at once, and do not wait for the worker to stop.")
@steering
def cancel(job_id: str, hard: bool, **given: Any) -> None:
    """Stop a job: one that waits at once, one that runs by asking its worker to stop within its grace."""
    _move("cancel", job_id, given, mode="hard" if hard else "soft")


@click.command(cls=Command, example="detent job rerun 42 --payload '{\"pages\": 2}'", shape=AnsweredShape)
@click.option("--payload", type=JsonValue(), help="Other input than before: JSON, @FILE, or - for stdin.")
@click.option("--delay", "delay_s", type=Seconds(), default=0.0, help="Not before this has passed: 30s, 10m.")
@click.option("--again", is_flag=True, help="Also if it was run again before.")
@steering
def rerun(job_id: str, payload: Any, delay_s: float, again: bool, **given: Any) -> None:
    """Run a job that has ended again, as a new job that names the old one. Prints the new one.

    What was run again before is refused, so that there are not two of it.
    """
    if payload is None and click.get_current_context().get_parameter_source("payload") is ParameterSource.COMMANDLINE:
        raise click.UsageError("--payload null would be the old input; give other input, such as '{}'.")
    request_id = None if again else redrive_id(job_id)
    _move("rerun", job_id, given, payload=payload, delay_s=delay_s, request_id=request_id)


@click.command(cls=Command, example="detent job requeue 42", shape=AnsweredShape)
@steering
def requeue(job_id: str, **given: Any) -> None:
    """Put a job that waits, such as a stalled one, back into its queue."""
    _move("requeue", job_id, given)


@click.command(cls=Command, example="detent job submit 42", shape=AnsweredShape)
@steering
def submit(job_id: str, **given: Any) -> None:
    """Hand a job on that was created but not yet submitted."""
    _move("submit", job_id, given)


@click.command(cls=Command, example='detent job approve 42 --reason "checked with finance"', shape=AnsweredShape)
@steering
def approve(job_id: str, **given: Any) -> None:
    """Say yes to a job that waits for an answer, such as one that the policy holds."""
    _move("approve", job_id, given)


@click.command(cls=Command, example="detent job deny 42 --rule no-weekend-deploys", shape=AnsweredShape)
@click.option("--rule", help="The rule that forbids it, for the record.")
@steering
def deny(job_id: str, rule: str | None, **given: Any) -> None:
    """Say no to a job that waits for an answer. It ends."""
    _move("deny", job_id, given, rule=rule)


def _move(verb: str, job_id: str, given: dict[str, Any], **more: Any) -> None:
    url, tenant, as_json = given.pop("url"), given.pop("tenant"), given.pop("as_json")
    with opened_for(job_id, url, tenant) as client:
        before = client.get(job_id)
        if verb == "rerun" and more["request_id"] is not None:
            refuse_second_rerun(client, before)
        asked = given | more | _standing(client, verb, before, given)
        with reworded(verb, before):
            job = getattr(client, verb)(job_id, **asked)
    show_job(job, as_json=as_json, done=_done(verb, job))


def _done(verb: str, job: Job) -> str:
    """What was done to it, where the state it is in now does not say so already."""
    deed = DEEDS.get(verb, "")
    is_asked_to_stop = verb == "cancel" and not job.is_ended  # which is a remark of its own
    if job.answer != "applied" or is_asked_to_stop or deed == job.state.lower():
        return ""
    return f"{deed}, can be claimed" if verb == "approve" and job.claim_at is not None else deed


def _standing(client: SyncClient, verb: str, job: Job, given: dict[str, Any]) -> dict[str, Any]:
    """In what capacity, and on what ground: as an operator where the lifecycle has a place for one, and on the
    revision just read where it demands one. The role is always named: a login such as `worker` must not decide it."""
    lifecycle = client.lifecycle(job.lifecycle, job.lifecycle_version)
    route = lifecycle.table.routes[job.state].get(verb)
    role = None if route is None else "operator" if "operator" in route.roles else route.default_role
    rev = job.rev if given["expected_rev"] is None and lifecycle.requires_rev else given["expected_rev"]
    return {"role": role, "expected_rev": rev, "actor": given["actor"] or login_name()}


def show_job(job: Job, *, as_json: bool, done: str = "") -> None:
    if as_json:
        write_json(answered_shape(job))
        return
    more = "".join(f"  {each}" for each in (done, *_remarks(job)) if each)
    print_(Text.assemble(Text(clean(job.id), style="bold"), "  ", state_of(job), Text(more, style="yellow")))


def _remarks(job: Job) -> Iterator[str]:
    if job.rerun_of is not None:
        yield f"runs {clean(job.rerun_of)} again"
    if job.cancel_by is not None:
        yield f"asked to stop, and has until {clock(job.cancel_by)} UTC"
    if job.answer in ANSWERS:
        yield f"({ANSWERS[job.answer]})"
