"""Lifecycles as the store keeps them: by version, never changed, and each job decided by its own."""

from typing import Final

from msgspec.structs import replace

from detent.lifecycles import BUILT_IN, STANDARD
from detent.testing.contract.bench import PERMANENT, Bench, Contract, fence, refused, scenario

FIRST: Final = replace(STANDARD, name="own", version=1)
# The second version has no dead letters to be sent to by hand.
SECOND: Final = replace(
    FIRST, version=2, moves=tuple(move for move in FIRST.moves if move.verb != "dead_letter"), summary="fewer moves"
)


class Versions(Contract):
    @scenario("ALL-14")
    async def test_definitions_come_back_as_they_were_registered(self, bench: Bench) -> None:
        await bench.store.register(FIRST, SECOND)

        kept = {(each.name, each.version): each.digest for each in await bench.store.register()}
        given = [*BUILT_IN.values(), FIRST, SECOND]
        assert kept == {(each.name, each.version): each.digest for each in given}

    @scenario("ALL-14")
    async def test_same_version_with_other_content_is_refused(self, bench: Bench) -> None:
        await bench.store.register(FIRST)
        other = replace(SECOND, version=1)

        await refused(bench.store.register(SECOND, other), "lifecycle_conflict")
        kept = {(each.name, each.version): each.digest for each in await bench.store.register()}
        assert kept["own", 1] == FIRST.digest
        assert ("own", 2) not in kept  # all of a call, or nothing

    @scenario("ALL-14")
    async def test_registering_again_changes_nothing(self, bench: Bench) -> None:
        await bench.store.register(FIRST)

        assert len(await bench.store.register(FIRST)) == len(BUILT_IN) + 1

    @scenario("ALL-14", "STD-21")
    async def test_job_goes_on_by_the_version_it_began_under(self, bench: Bench) -> None:
        client = bench.client
        await bench.store.register(FIRST)
        old = await client.enqueue("scan", lifecycle="own")
        await bench.store.register(SECOND)
        newer = await bench.tenant("default")  # a client that knows both
        new = await newer.enqueue("scan", lifecycle="own")
        dead = await newer.dead_letter(old.id, role="operator")

        assert (old.lifecycle_version, new.lifecycle_version) == (1, 2)
        assert dead.state == "dead_lettered"
        refusal = await refused(client.dead_letter(new.id, role="operator"), "illegal_move")
        assert getattr(refusal, "allowed", None) == SECOND.table.allowed["queued"]

    @scenario("ALL-14")
    async def test_rerun_follows_the_version_of_the_job_it_runs_again(self, bench: Bench) -> None:
        await bench.store.register(FIRST)
        job = await bench.running("own")
        await bench.store.register(SECOND)
        failed = await bench.client.fail(job.id, error=PERMANENT, **fence(job))

        assert (await bench.client.rerun(failed.id)).lifecycle_version == 1
