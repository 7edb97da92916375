"""A job that is enqueued inside a program's own transaction is there when that commits, and not before."""

from detent import Client
from tests.postgres.mine import Mine
from tests.postgres.staging import Stage, ids, is_sound, orders
from tests.postgres.transactors import every_transactor
from tests.store.sqlite.files import raises


@every_transactor
def test_jobs_are_seen_when_the_transaction_commits_and_not_before(stage: Stage, transactor: str) -> None:
    async def scene(client: Client, mine: Mine) -> list[list[str]]:
        await client.enqueue("bill", job_id="one", tx=mine.tx)
        await client.enqueue_many([{"kind": "bill", "job_id": name} for name in ("three", "two")], tx=mine.tx)
        before = await ids(client)
        await mine.commit()
        assert await is_sound(client)
        return [before, await ids(client)]

    seen = stage.play(transactor, scene)

    assert seen == [[], ["one", "three", "two"]]


@every_transactor
def test_job_is_gone_with_a_rollback_and_its_id_is_free_again(stage: Stage, transactor: str) -> None:
    async def scene(client: Client, mine: Mine) -> tuple[list[str], str]:
        await mine.say("insert into orders values (1)")
        await client.enqueue("bill", job_id="one", payload=1, tx=mine.tx)
        await client.enqueue_many([{"kind": "bill", "job_id": "two"}], tx=mine.tx)
        await mine.rollback()
        return await ids(client), (await client.enqueue("bill", job_id="one", payload=2)).answer

    seen, answer = stage.play(transactor, scene)

    assert (seen, answer) == ([], "applied")


@every_transactor
def test_rollback_to_the_programs_own_savepoint_takes_the_job_with_it(stage: Stage, transactor: str) -> None:
    async def scene(client: Client, mine: Mine) -> tuple[list[str], object]:
        await client.enqueue("bill", job_id="kept", tx=mine.tx)
        await mine.say("savepoint attempt")
        await client.enqueue("bill", job_id="again", payload=1, tx=mine.tx)
        await mine.say("rollback to savepoint attempt")
        await client.enqueue("bill", job_id="again", payload=2, tx=mine.tx)
        await mine.commit()
        assert await is_sound(client)
        return await ids(client), (await client.get("again")).payload

    seen, payload = stage.play(transactor, scene)

    assert (seen, payload) == (["again", "kept"], 2)


@every_transactor
def test_refusal_inside_leaves_the_transaction_usable(stage: Stage, transactor: str) -> None:
    async def scene(client: Client, mine: Mine) -> tuple[list[int], list[str]]:
        await client.enqueue("bill", job_id="taken", payload=1)
        await mine.say("insert into orders values (1)")
        with raises("job_exists"):
            await client.enqueue("bill", job_id="taken", payload=2, tx=mine.tx)
        with raises("not_found"):
            await client.start("nowhere", worker="w", attempt=1, tx=mine.tx)
        await mine.say("insert into orders values (2)")
        await client.enqueue("bill", job_id="one", tx=mine.tx)
        seen = await orders(mine)
        await mine.commit()
        return seen, await ids(client)

    numbers, seen = stage.play(transactor, scene)

    assert (numbers, seen) == ([1, 2], ["one", "taken"])
