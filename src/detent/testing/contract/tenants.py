"""Tenants do not touch each other: the same names mean other things, and another's job is not there."""

from typing import Any

from detent.client.moments import to_moment
from detent.errors import NotFound
from detent.testing.contract.bench import Bench, Contract, fence, refused, scenario
from detent.testing.contract.refusals import NEEDED, ON_A_JOB


class Tenants(Contract):
    @scenario("ALL-18")
    async def test_same_id_dedupe_key_and_request_id_are_other_jobs_in_another_tenant(self, bench: Bench) -> None:
        other = await bench.tenant("other")
        asked: dict[str, Any] = {"kind": "scan", "job_id": "job", "dedupe_key": "k", "request_id": "r"}
        ours = await bench.client.enqueue(**asked, payload="ours")
        theirs = await other.enqueue(**asked, payload="theirs")

        assert (ours.answer, theirs.answer) == ("applied", "applied")
        assert (await bench.client.get("job")).payload == "ours"
        assert (await other.get("job")).payload == "theirs"

    @scenario("ALL-18", "ALL-05")
    async def test_same_request_on_the_same_id_has_an_effect_in_each_tenant(self, bench: Bench) -> None:
        other = await bench.tenant("other")
        for client in (bench.client, other):
            await client.enqueue("scan", job_id="job")
            (job,) = await client.claim(worker="w1", request_id="c")
            started = await client.start("job", request_id="r", **fence(job))

            assert (job.answer, started.answer, job.tenant) == ("applied", "applied", client.tenant)
        assert len(await other.history("job")) == 3

    @scenario("ALL-18")
    async def test_another_tenants_job_is_not_found_by_any_verb(self, bench: Bench) -> None:
        job = await bench.running()
        before = await bench.told()
        for verb in ON_A_JOB:
            given = {"worker": "w1", "attempt": 1, "request_id": "r"} | NEEDED.get(verb, {})
            answer = await bench.ask(verb, job.id, tenant="other", **given)

            assert isinstance(answer, NotFound), (verb, answer)
        assert await bench.told() == before

    @scenario("ALL-18")
    async def test_another_tenants_job_is_not_found_by_any_read(self, bench: Bench) -> None:
        other = await bench.tenant("other")
        job = await bench.running(correlation_id="c", workflow_id="w", parent_job_id="p", dedupe_key="k")
        ended = await bench.succeeded()
        for read in (other.get, other.history, other.notes, other.tree):
            await refused(read(job.id), "not_found")
        await refused(other.state_at(job.id, to_moment(bench.clock())), "not_found")
        await refused(other.rerun(ended.id), "not_found")

        assert (await other.find()).items == []
        for filters in ({"correlation_id": "c"}, {"workflow_id": "w"}, {"parent_job_id": "p"}, {"owner": "w1"}):
            assert (await other.find(**filters)).items == []  # type: ignore[arg-type]
        assert (await other.events()).items == []
        assert (await other.events(job_id=job.id)).items == []
        assert (await other.events(correlation_id="c")).items == []
        assert (await other.events(type="job_claimed")).items == []
        assert (await other.verify()).jobs == 0
        assert (await other.replay()).jobs == 0

    @scenario("ALL-18")
    async def test_claims_limits_and_retention_keep_to_their_tenant(self, bench: Bench) -> None:
        other = await bench.tenant("other")
        await other.limit_queue("default", depth_max=0)
        job = await bench.succeeded()
        await bench.ready()
        bench.clock.pass_s(8 * 86_400)
        removed = await other.prune()

        assert await other.claim(worker="w1", limit=10) == []
        assert removed.jobs == 0
        assert (await bench.client.get(job.id)).state == "succeeded"
        await refused(other.enqueue("scan"), "queue_full")

    @scenario("ALL-18")
    async def test_time_spares_no_tenant(self, bench: Bench) -> None:
        other = await bench.tenant("other")
        for client in (bench.client, other):
            await client.enqueue("scan", job_id="job")
            await client.claim(worker="w1")
        bench.clock.pass_s(60)

        assert await other.reconcile() == 2
        assert [(await client.get("job")).state for client in (bench.client, other)] == ["queued", "queued"]

    @scenario("ALL-18")
    async def test_verify_and_stories_can_go_over_all_tenants(self, bench: Bench) -> None:
        other = await bench.tenant("other")
        await bench.ready(job_id="a")
        await other.enqueue("scan", job_id="a")
        await other.enqueue("scan", job_id="b")

        assert (await other.verify(all_tenants=True)).jobs == 3
        assert (await other.verify()).jobs == 2
        assert [(story.job.spec.tenant, story.job.id) for story in await bench.told()] == [
            ("default", "a"),
            ("other", "a"),
            ("other", "b"),
        ]
