"""Bad input gets the same verdict on both stores: the same error, with the same code and the same words."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from detent.errors import DetentError
from tests.client.arguments import GOOD, bad_values
from tests.client.places import OnPostgres, OnSqlite
from tests.client.test_bad_input import CASES, shown
from tests.client.verdicts import Verdict, answered, refused
from tests.client.world import POSITIONS, BlockingCaller, World
from tests.postgres.server import Server

Worlds = tuple[World, World]
VERBS = (
    "start", "renew", "complete", "fail", "release", "submit", "schedule", "approve", "deny", "cancel",
    "request_cancel", "retry", "stall", "requeue", "expire", "time_out", "dead_letter", "rerun",
)  # fmt: skip
WITH: dict[str, dict[str, Any]] = {
    "fail": {"error": {"type": "TransientError", "message": "busy"}},
    "schedule": {"verdict": "hold", "rule": "r"},
    "complete": {"result": {"pages": 3}},
}
# Whoever has it, whoever has not, and whoever runs the place.
ASKED_BY: list[dict[str, Any]] = [{"worker": "w", "attempt": 1}, {"worker": "w2", "attempt": 0}, {"role": "operator"}]


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory, pg_server: Server) -> Iterator[Worlds]:
    """Shared: what is refused leaves no trace, which test_bad_input shows."""
    database = pg_server.new_database()
    worlds = World(OnSqlite(tmp_path_factory.mktemp("store"))), World(OnPostgres(database))
    for world in worlds:
        world.prepare()
    yield worlds
    for world in worlds:
        world.close()
    pg_server.drop_database(database)


def verdict(world: World, verb: str, arguments: dict[str, Any]) -> Verdict:
    try:
        return answered(verb, BlockingCaller(world).call(verb, arguments))
    except DetentError as error:
        return refused(error)


@pytest.mark.parametrize(("verb", "name"), CASES)
def test_bad_value_gets_the_same_verdict_on_both_stores(worlds: Worlds, verb: str, name: str) -> None:
    one, other = worlds
    differing = [
        shown(value)
        for value in bad_values(verb, name)
        if verdict(one, verb, GOOD[verb] | {name: value}) != verdict(other, verb, GOOD[verb] | {name: value})
    ]

    assert differing == []


@pytest.mark.parametrize("position", POSITIONS)
def test_every_verb_gets_the_same_verdict_on_a_job_wherever_it_is(
    tmp_path: Path, pg_emptied: str, position: str
) -> None:
    """Also what a verb is refused for, and what it leaves behind, by whomever it is asked."""
    told = [history(World(place), position) for place in (OnSqlite(tmp_path), OnPostgres(pg_emptied))]

    assert told[0] == told[1]
    assert len(told[0]) > len(VERBS)


def history(world: World, position: str) -> list[Verdict]:
    verdicts = []
    for number, (verb, who) in enumerate(product(VERBS, ASKED_BY)):
        world.prepare(position, suffix=f"-{number}")
        asked = {"job_id": f"{position}-{number}", "request_id": "r"} | WITH.get(verb, {}) | who
        verdicts += [verdict(world, verb, asked), verdict(world, verb, asked)]
    verdicts.append(answered("verify", world.blocking.verify()))
    verdicts += [answered("events", world.blocking.events(limit=1_000))]
    world.close()
    return verdicts
