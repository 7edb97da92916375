"""`client.explain`: what the limit of its key has to do with a job that waits."""

from datetime import timedelta
from typing import Final

from detent import Limit, Policy
from detent.client.ways import Way
from tests.client.explained import first, now, reasons
from tests.client.world import World

TWO: Final = Policy(limit=Limit(concurrency_max=2))
RATE: Final = Policy(limit=Limit(rate_max=2, per_s=60))
BOTH: Final = Policy(limit=Limit(concurrency_max=2, rate_max=2, per_s=60))


def crowd(world: World, policy: Policy, *ids: str) -> None:
    for job_id in ids:
        world.blocking.enqueue("scan", job_id=job_id, policy=policy, limit_key="acme")


def test_job_whose_key_is_used_up_says_who_holds_it(fresh: World) -> None:
    crowd(fresh, TWO, "40", "41", "42")
    fresh.blocking.claim(worker="w1")
    fresh.clock.pass_s(1)
    fresh.blocking.claim(worker="w2", start=True)

    reason = first(fresh)

    assert reason.code == "limit_reached"
    assert reason.text == (
        "limit key 'acme' is used up: 2 of its jobs are leased, and at most 2 may be; held by 40 ('w1') and 41 ('w2')"
    )


def test_of_many_holders_some_are_named_and_all_are_counted(fresh: World) -> None:
    many = Policy(limit=Limit(concurrency_max=25))
    crowd(fresh, many, *[f"j{n}" for n in range(25)], "42")
    fresh.blocking.claim(worker="w1", limit=25)

    text = first(fresh).text

    assert "25 of its jobs are leased" in text
    assert text.endswith("j19 ('w1') and 5 more")


def test_job_whose_key_has_reached_its_rate_says_when_the_next_is_taken(fresh: World) -> None:
    crowd(fresh, RATE, "40", "41", "42")
    fresh.blocking.claim(worker="w1", limit=2)
    until = now(fresh) + timedelta(seconds=60)

    reason = first(fresh, after_s=10)

    assert (reason.code, reason.until) == ("rate_reached", until)
    assert reason.text.startswith("limit key 'acme' has reached its rate, 2 in 60 s; the next is taken at ")
    assert first(fresh, after_s=60).code != "rate_reached"


def test_both_limits_are_named_where_both_hold_a_job_back(fresh: World) -> None:
    crowd(fresh, BOTH, "40", "41", "42")
    fresh.blocking.claim(worker="w1", limit=2)

    assert list(reasons(fresh))[:2] == ["limit_reached", "rate_reached"]
    fresh.blocking.pause_queue("default")
    assert list(reasons(fresh))[:3] == ["queue_paused", "limit_reached", "rate_reached"]


def claim_of(world: World) -> Way:
    (way,) = [way for way in world.blocking.explain("42", now=now(world)).ways if way.verb == "claim"]
    return way


def test_claim_of_a_job_whose_key_is_used_up_waits_for_an_end(fresh: World) -> None:
    one = Policy(limit=Limit(concurrency_max=1))
    crowd(fresh, one, "41", "42")
    fresh.blocking.claim(worker="w1")

    assert (claim_of(fresh).at, claim_of(fresh).when) == (None, "when job 41 ends")


def test_claim_waits_for_any_of_several_that_hold_its_key(fresh: World) -> None:
    crowd(fresh, TWO, "40", "41", "42")
    fresh.blocking.claim(worker="w1", limit=2)

    assert claim_of(fresh).when == "when one of 2 jobs of limit key 'acme' ends"


def test_claim_of_a_job_whose_rate_is_reached_comes_when_the_rate_allows(fresh: World) -> None:
    crowd(fresh, RATE, "40", "41", "42")
    fresh.blocking.claim(worker="w1", limit=2)

    assert (claim_of(fresh).at, claim_of(fresh).when) == (now(fresh) + timedelta(seconds=60), None)


def test_claim_that_waits_for_the_clock_and_for_people_says_both(fresh: World) -> None:
    crowd(fresh, BOTH, "40", "41", "42")
    fresh.blocking.claim(worker="w1", limit=2)
    fresh.blocking.pause_queue("default")

    way = claim_of(fresh)
    assert way.at == now(fresh) + timedelta(seconds=60)
    assert way.when == "when queue 'default' is resumed and one of 2 jobs of limit key 'acme' ends"


def test_limit_that_is_not_reached_is_no_reason(fresh: World) -> None:
    crowd(fresh, BOTH, "41", "42")
    fresh.blocking.claim(worker="w1")

    assert {"limit_reached", "rate_reached"}.isdisjoint(reasons(fresh))
