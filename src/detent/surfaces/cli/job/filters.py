"""The filters that listings of jobs share, as options; and what a mistyped one gets to hear."""

from collections.abc import Callable
from typing import Any, Final, TypeVar

import click
from click.core import ParameterSource

from detent.client import SyncClient
from detent.client.scope import DEFAULT_TENANT
from detent.lifecycle.words import OUTCOMES, PHASES
from detent.surfaces.cli.chatter import remark
from detent.surfaces.cli.definitions import complete_name
from detent.surfaces.cli.failure import Missing, guess
from detent.surfaces.cli.job.naming import complete_job
from detent.surfaces.cli.options import Moment
from detent.surfaces.cli.suggesting import suggested
from detent.surfaces.cli.times import full

Function = TypeVar("Function", bound=Callable[..., Any])
Filters = dict[str, Any]

OPTIONS: Final = (
    click.option("--state", help="In this state, such as running."),
    click.option("--phase", type=click.Choice(PHASES), help="In a state of this phase."),
    click.option("--outcome", type=click.Choice(OUTCOMES), help="Ended like this."),
    click.option("--queue", help="In this queue."),
    click.option("--kind", help="Of this kind."),
    click.option("--lifecycle", shell_complete=complete_name, help="On this lifecycle."),
    click.option("--owner", metavar="WORKER", help="Held by this worker."),
    click.option("--correlation", "correlation_id", metavar="ID", help="With this correlation id."),
    click.option("--parent", "parent_job_id", metavar="JOB", shell_complete=complete_job, help="Children of this job."),
    click.option("--workflow", "workflow_id", metavar="ID", help="Steps of this workflow."),
    click.option("--dedupe-key", metavar="KEY", help="With this dedupe key."),
    click.option("--limit-key", metavar="KEY", help="That share the limit of this key."),
    click.option("--topic", help="With this topic."),
    click.option("--created-since", "created_from", type=Moment(), help="Created since 15m ago, or since a time."),
    click.option("--created-until", type=Moment(), help="Created until then."),
    click.option("--ended-since", "ended_from", type=Moment(), help="Ended since then."),
    click.option("--ended-until", type=Moment(), help="Ended until then."),
)

LIMIT: Final = click.option(
    "--limit", default=50, show_default=True, type=click.IntRange(1), metavar="N", help="At most so many."
)
ALL: Final = click.option("--all", "is_all", is_flag=True, help="All of them, however many.")


def limit_of(limit: int, *, is_all: bool) -> int | None:
    """None: there is no limit."""
    if is_all and click.get_current_context().get_parameter_source("limit") is ParameterSource.COMMANDLINE:
        raise click.UsageError(f"--all is all of them, and --limit {limit} is not; leave one of the two out.")
    return None if is_all else limit


def job_filters(function: Function) -> Function:
    for option in reversed(OPTIONS):
        function = option(function)
    return function


def given(filters: Filters) -> Filters:
    return {name: value for name, value in filters.items() if value is not None}


def check(client: SyncClient, filters: Filters) -> None:
    """A state or lifecycle that no lifecycle here has is a slip, and not an empty answer; so is a period of nothing."""
    for name in ("created", "ended"):
        check_period(filters, name)
    lifecycles = client.lifecycles()
    known = {
        "state": {state.name for each in lifecycles for state in each.states},
        "lifecycle": {each.name for each in lifecycles},
    }
    for name, names in known.items():
        wanted = filters.get(name)
        if wanted is not None and wanted not in names:
            see = suggested("lifecycle list", tenant=False)
            raise Missing(f"there is no {name} '{wanted}' in this store.{guess(wanted, names)} See: {see}")


def check_period(filters: Filters, name: str) -> None:
    since, until = filters.get(f"{name}_from"), filters.get(f"{name}_until")
    if since is not None and until is not None and since > until:
        raise click.UsageError(f"--{name}-since ({full(since)}) is after --{name}-until ({full(until)}); swap them.")


def say_nothing_found(client: SyncClient, filters: Filters) -> None:
    """An empty listing says why, if a name that nobody uses is the reason."""
    if say_unknown(client, filters):
        return
    tenant = client.client.tenant
    if filters and len(client.find(limit=1)):
        remark("No job is like that.")
    else:
        none = "There are no jobs yet" if tenant == DEFAULT_TENANT else f"Tenant '{tenant}' has no jobs"
        remark(f"{none}. Make one: {suggested('enqueue KIND')}")


def say_unknown(client: SyncClient, filters: Filters) -> bool:
    """Whether a queue or a kind was asked for that no job has; then it is said."""
    for name in ("queue", "kind"):
        wanted = filters.get(name)
        if not wanted:  # an empty one is no name at all, and the store will say so
            continue
        names = [known for (known,) in client.count(by=(name,)) if known is not None]
        if wanted not in names:
            remark(f"No job has the {name} '{wanted}'.{guess(wanted, names)}")
            return True
    return False
