"""`detent schedule`: the schedules that programs have brought, and how to let one pass by or go."""

from datetime import UTC, datetime, timedelta

import pytest

from detent import Codec
from tests.surfaces.running import LOGIN, Site, refused, refused_in_json

TICK = datetime.now(UTC) + timedelta(days=3)


@pytest.fixture
def kept(site: Site) -> Site:
    with site.client() as client:
        shared = {"cron": "0 3 * * *", "zone": "Europe/Berlin", "next_at": TICK}
        client.keep_schedules(
            [{**shared, "name": "nightly", "kind": "report", "payload": {"month": 11}},
             {**shared, "name": "hourly", "kind": "sync", "cron": "0 * * * *"}]
        )  # fmt: skip
    return site


def test_list_shows_when_each_comes_next(kept: Site) -> None:
    lines = kept.shown("schedule", "list", columns=120).splitlines()

    assert " ".join(lines[2].split()) == "hourly open 0 * * * * Europe/Berlin sync in 3 days"
    assert " ".join(lines[3].split()) == "nightly open 0 3 * * * Europe/Berlin report in 3 days"


def test_json_has_all_of_a_schedule(kept: Site) -> None:
    hourly, nightly = kept.json("schedule", "list")

    assert (nightly.name, nightly.cron, nightly.zone, nightly.kind) == (
        "nightly", "0 3 * * *", "Europe/Berlin", "report",
    )  # fmt: skip
    assert (nightly.payload, nightly.is_readable, nightly.next_at) == ({"month": 11}, True, TICK)
    assert (hourly.payload, hourly.last_at, hourly.paused_at) == (None, None, None)


def test_paused_schedule_lets_its_ticks_pass_by_until_it_is_resumed(kept: Site) -> None:
    paused = kept.told("schedule", "pause", "nightly", "--reason", "month's end")
    with kept.client() as client:
        had = client.advance_schedule(
            "nightly", expected=TICK, next_at=TICK + timedelta(days=1), job={"kind": "report"}
        )
    listed = kept.told("schedule", "list", columns=160)
    resumed = kept.told("schedule", "resume", "nightly")

    assert paused.startswith("nightly paused ")
    assert paused.endswith(f"ago by {LOGIN}: month's end")
    assert not had
    assert "nightly paused 0 3 * * *" in listed
    assert resumed == "nightly open next in 4 days"


def test_schedule_that_no_program_has_any_more_is_removed(kept: Site) -> None:
    assert kept.told("schedule", "remove", "nightly") == "nightly removed"
    assert [each.name for each in kept.json("schedule", "list")] == ["hourly"]


@pytest.mark.parametrize("verb", ["pause", "resume", "remove"])
def test_mistyped_name_is_not_found_and_hears_what_is_spelled_like_it(kept: Site, verb: str) -> None:
    message = refused(kept.detent("schedule", verb, "nihgtly"), 3)

    assert "there is no schedule 'nihgtly' in tenant 'default'" in message
    assert "Did you mean 'nightly'?" in message
    assert refused_in_json(kept.detent("schedule", verb, "nihgtly", "--json"), 3)["code"] == "not_found"


def test_payload_that_is_sealed_is_null_and_said_to_be(site: Site) -> None:
    codec = Codec(encrypt=lambda data: data[::-1], decrypt=lambda data: data[::-1])
    with site.client(codec=codec) as client:
        client.keep_schedules([{"name": "s", "cron": "* * * * *", "kind": "k", "payload": "secret", "next_at": TICK}])

    (schedule,) = site.json("schedule", "list")

    assert (schedule.payload, schedule.is_readable) == (None, False)


def test_store_without_schedules_says_so(site: Site) -> None:
    with site.client():
        pass
    result = site.detent("schedule", "list")

    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "There are no schedules.\n")
