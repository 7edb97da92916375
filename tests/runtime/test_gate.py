"""The gate in a worker: nothing of `dispatch` runs before the policy has said so, and what it said is on the record."""

from pathlib import Path

import pytest

from detent import Job
from tests.runtime.working import Working, handler, on_loop, until, working

RULES = """
[[rule]]
name = "no-deletes"
topic = "job.admin.*"
env = { stage = "prod" }
verdict = "deny"

[[rule]]
name = "costly"
kind = "scan"
priority = ["batch", 5]
queue = "default"
topic = "job.gpu.>"
verdict = "hold"

[[rule]]
name = "calm-down"
topic = "job.crawl"
verdict = "throttle"
delay_s = 3600
"""


async def scan() -> str:
    return "scanned"


async def mail() -> str:
    return "sent"


def verdict_of(job: Job) -> tuple[str, str | None, str | None]:
    return job.state, job.verdict, job.rule


async def judged(at: Working, job: Job) -> Job:
    async def is_judged() -> bool:
        return (await at.client.get(job.id)).verdict is not None

    await until(is_judged)
    return await at.client.get(job.id)


def rules_in(folder: Path, text: str = RULES) -> Path:
    path = folder / "rules.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.requirement("DSP-08")
def test_without_a_policy_the_rule_default_allows_and_is_recorded(url: str) -> None:
    async def scene() -> None:
        async with working(url, handler("scan", scan)) as at:
            job = await at.done("scan", lifecycle="dispatch")
            _, scheduled, *_ = await at.client.history(job.id)

            assert verdict_of(job) == ("SUCCEEDED", "allow", "default")
            assert scheduled.payload == {"verdict": "allow", "rule": "default"}
            assert (scheduled.actor, scheduled.role) == ("w", "scheduler")
            assert at.worker.tally.verdicts == {"allow": 1}

    on_loop(scene)


@pytest.mark.requirement("DSP-08")
def test_verdicts_of_a_rules_file_are_carried_out_and_recorded(url: str, tmp_path: Path) -> None:
    async def scene() -> None:
        async with working(url, handler("scan", scan), policy=rules_in(tmp_path)) as at:
            enqueue = at.client.enqueue
            denied = await enqueue("scan", lifecycle="dispatch", topic="job.admin.drop", env={"stage": "prod"})
            held = await enqueue("scan", lifecycle="dispatch", topic="job.gpu.big.one", priority=5)
            late = await enqueue("scan", lifecycle="dispatch", topic="job.crawl")
            free = await enqueue("scan", lifecycle="dispatch", topic="job.admin.drop", env={"stage": "test"})

            assert verdict_of(await at.ended(denied)) == ("DENIED", "deny", "no-deletes")
            assert verdict_of(await judged(at, held)) == ("SCHEDULED", "hold", "costly")
            assert verdict_of(await judged(at, late)) == ("SCHEDULED", "throttle", "calm-down")
            assert verdict_of(await at.ended(free)) == ("SUCCEEDED", "allow", "default")
            waits = (await at.client.get(late.id)).claim_at
            assert waits is not None
            assert 3500 < (waits - late.created_at).total_seconds() < 3700

    on_loop(scene)


@pytest.mark.requirement("DSP-08")
def test_held_job_runs_once_it_is_approved_and_never_if_it_is_denied(url: str, tmp_path: Path) -> None:
    async def scene() -> None:
        async with working(url, handler("scan", scan), policy=rules_in(tmp_path)) as at:
            first, second = [
                await judged(at, await at.client.enqueue("scan", lifecycle="dispatch", topic="job.gpu.a"))
                for _ in range(2)
            ]
            (reason, *_) = (await at.client.explain(first.id)).reasons
            await at.client.approve(first.id, actor="ada", role="operator")
            await at.client.deny(second.id, actor="ada", role="operator", reason="too dear")

            assert reason.code == "held_by_policy"
            assert "'costly'" in reason.text
            assert verdict_of(await at.ended(first)) == ("SUCCEEDED", "allow", "costly")
            assert verdict_of(await at.ended(second)) == ("DENIED", "deny", "costly")

    on_loop(scene)
