"""`detent policy`: judge a file of rules, and try it on a job before it decides on any."""

from pathlib import Path
from typing import Any, Final

import click
from msgspec import Struct

from detent.errors import PolicyError
from detent.runtime.gate import Rules, read_rules
from detent.runtime.gate.matching import Judged
from detent.runtime.gate.rules import Rule
from detent.runtime.gate.verdicts import Verdict
from detent.surfaces.cli.command import Command, Group
from detent.surfaces.cli.failure import Failure, Missing, failure_of
from detent.surfaces.cli.job.naming import complete_job, opened_for
from detent.surfaces.cli.numbers import counted
from detent.surfaces.cli.options import JSON, Assignment, Priority, store_options
from detent.surfaces.cli.output import say, write_json, write_table

# What a made-up job is given by, each an option of its own.
FACTS: Final = ("topic", "kind", "queue", "adapter_id", "priority")


class RuleShape(Struct, frozen=True):
    """A rule, in the order in which they are tried. `line` is where it begins; null: it is not under `[[rule]]`."""

    name: str
    verdict: str
    line: int | None


class GivenShape(Struct, frozen=True):
    """The verdict on a job, and the rule that gives it: `default` if none is about it.

    A throttled job waits for `delay_s`, or takes its turn so that `rate_max` become claimable within `per_s`.
    """

    job_id: str | None
    verdict: str
    rule: str
    delay_s: float
    rate_max: int | None
    per_s: float | None


class RulesShape(Struct, frozen=True):
    """Rules that hold together; `default` is the verdict on jobs that none is about. `given` is null unless asked."""

    file: str
    default: str
    rules: list[RuleShape]
    given: GivenShape | None


class Tried(Struct, frozen=True):
    """A job that nobody has made: as much of one as rules look at."""

    tenant: str
    topic: str | None
    kind: str
    queue: str
    adapter_id: str | None
    priority: int
    env: dict[str, str]


@click.group(cls=Group)
def policy() -> None:
    """Look after the rules that decide on jobs of `dispatch`."""


@policy.command(
    cls=Command,
    example="""detent policy check rules.toml
detent policy check rules.toml --topic job.chat.simple --env stage=prod
detent policy check rules.toml --job 42""",
    shape=RulesShape,
)
@click.argument("file", type=click.Path())
@click.option("--job", "job_id", metavar="JOB", shell_complete=complete_job, help="The job that it is tried on.")
@click.option("--topic", help="A job with this topic.")
@click.option("--kind", help="A job of this kind.")
@click.option("--queue", help="A job in this queue.")
@click.option("--adapter", "adapter_id", metavar="ID", help="A job for this adapter.")
@click.option("--priority", type=Priority(), metavar="N", help="A job of this priority: a number, or a name for one.")
@click.option("--env", type=Assignment(), multiple=True, help="A job with NAME=VALUE in its env; may be repeated.")
@store_options
@JSON
def check(file: str, job_id: str | None, url: str | None, tenant: str, as_json: bool, **given: Any) -> None:
    """Judge the rules in a TOML FILE: sound, or every problem they have and what to do about it.

    With --job, or with a job that is described by the other options, also say which verdict it would get and from which
    rule. Nothing is decided by it, and no job is changed.
    """
    is_described = any(given[name] is not None for name in FACTS) or bool(given["env"])
    if job_id is not None and is_described:
        raise click.UsageError("--job names a job, and the other options describe one; give one or the other.")
    rules = _read(file)
    verdict = None
    if job_id is not None:
        with opened_for(job_id, url, tenant) as client:
            verdict = rules.judge(client.get(job_id))
    elif is_described:
        verdict = rules.judge(_described(tenant, given))
    _show(file, rules, job_id, verdict, as_json=as_json)


def _read(file: str) -> Rules:
    if not Path(file).exists():
        raise Missing(f"there is no file '{file}'. Give the path of a TOML file with rules")
    try:
        return read_rules(file)
    except PolicyError as error:
        failure: Failure = failure_of(error)
        failure.details = {"problems": list(error.problems)}
        raise failure from error


def _described(tenant: str, given: dict[str, Any]) -> Judged:
    return Tried(
        tenant=tenant,
        topic=given["topic"],
        kind=given["kind"] or given["topic"] or "",
        queue=given["queue"] or "default",
        adapter_id=given["adapter_id"],
        priority=given["priority"] or 0,
        env=dict(given["env"]),
    )


def _show(file: str, rules: Rules, job_id: str | None, verdict: Verdict | None, *, as_json: bool) -> None:
    if as_json:
        listed = [RuleShape(each.name, each.verdict.verdict, each.line) for each in rules.rules]
        given = None if verdict is None else _given(job_id, verdict)
        write_json(RulesShape(file, rules.default.verdict, listed, given))
        return
    say(f"sound: {counted(len(rules.rules), 'rule')}, and what none is about: {rules.default.verdict}", style="green")
    if verdict is not None:
        say(f"{_told(verdict)}, by rule '{verdict.rule}'{_line(rules, verdict)}")
    elif rules.rules:
        write_table(("rule", "verdict", "line"), [_cells(each) for each in rules.rules])


def _given(job_id: str | None, verdict: Verdict) -> GivenShape:
    per_s = None if verdict.rate_max is None else verdict.per_s
    return GivenShape(job_id, verdict.verdict, verdict.rule or "", verdict.delay_s, verdict.rate_max, per_s)


def _cells(rule: Rule) -> tuple[object, ...]:
    return rule.name, _told(rule.verdict), rule.line


def _told(verdict: Verdict) -> str:
    if verdict.rate_max is not None:
        return f"throttle to {verdict.rate_max:,} in {verdict.per_s:g} s"
    return f"throttle for {verdict.delay_s:g} s" if verdict.verdict == "throttle" else verdict.verdict


def _line(rules: Rules, verdict: Verdict) -> str:
    lines = [rule.line for rule in rules.rules if rule.name == verdict.rule and rule.line is not None]
    return f" at line {lines[0]}" if lines else ""
