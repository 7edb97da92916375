"""The page of the protocol has every message with all its fields, and none that is not there."""

import re
from collections.abc import Iterable
from typing import Final, get_args

import pytest
from msgspec import Struct
from msgspec.structs import fields

from detent.kernel.failure import Category
from detent.surfaces.engine_socket.settings import EngineSettings
from detent.wire import engine_messages as messages
from detent.wire.engine import EngineJob
from detent.wire.telemetry import Data
from tests.surfaces.running import ROOT

PAGE: Final = (ROOT / "docs" / "reference" / "engine-protocol.md").read_text(encoding="utf-8")
ANSWERS: Final[dict[str, type[Struct]]] = {
    "register": messages.Registered,
    "job_ack": messages.Acknowledged,
    "job_reject": messages.Accepted,
    "job_started": messages.Moved,
    "job_progress": messages.Moved,
    "job_complete": messages.Moved,
    "job_failed": messages.Moved,
    "job_cancelled": messages.Moved,
    "heartbeat": messages.Alive,
    "watch": messages.Watching,
    "unwatch": messages.Accepted,
}
TOLD: Final[dict[str, type[Struct]]] = {
    "job_offer": messages.JobOffer,
    "job_cancel": messages.Stop,
    "job_lost": messages.Lost,
    "watch_ended": messages.WatchEnded,
}
TELEMETRY: Final = {re.sub(r"(?<!^)(?=[A-Z])", "_", shape.__name__).upper(): shape for shape in get_args(Data)}


def section(title: str) -> str:
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def rows(title: str) -> dict[str, list[str]]:
    """Of the tables there: the cells after the first, by the name in that."""
    found = re.findall(r"^\| `(\w+)` \|(.*)\|$", section(title), re.MULTILINE)
    return {name: [cell.strip() for cell in rest.split("|")] for name, rest in found}


def named(text: str) -> set[str]:
    return set(re.findall(r"`(\w+)", text))


def names_of(shape: type[Struct]) -> set[str]:
    return {each.encode_name for each in fields(shape)} - {"accepted"}


@pytest.mark.parametrize("name", messages.SAID)
def test_what_an_engine_says_is_there_with_its_fields_and_those_of_the_answer(name: str) -> None:
    said, answer = rows("What an engine says")[name]

    assert named(said) == names_of(messages.SAID[name])
    assert named(answer) == names_of(ANSWERS[name])


@pytest.mark.parametrize("name", TOLD)
def test_what_the_service_says_is_there_with_its_fields(name: str) -> None:
    assert named(rows("What the service says")[name][0]) == names_of(TOLD[name])


@pytest.mark.requirement("ENG-05")
@pytest.mark.parametrize("name", TELEMETRY)
def test_telemetry_is_there_with_its_fields(name: str) -> None:
    assert named(rows("Telemetry")[name][0]) == names_of(TELEMETRY[name])


def untold(names: Iterable[str], title: str) -> set[str]:
    return set(rows(title)) ^ set(names)


@pytest.mark.requirement("ENG-04", "ENG-05")
def test_page_has_all_messages_and_categories_and_no_others() -> None:
    categories = set(get_args(Category)) - {"denied"}  # for which `engine` has no move

    assert untold(messages.SAID, "What an engine says") == set()
    assert untold([*TOLD, "superseded", "closing", "unauthorized"], "What the service says") == set()
    assert untold([*TELEMETRY, *categories], "Telemetry") == set()


@pytest.mark.requirement("ENG-06")
def test_job_object_is_there_with_its_fields() -> None:
    assert named(section("The job object").replace("`env.user_id`", "")) == names_of(EngineJob)


def test_page_says_how_long_offers_last() -> None:
    settings = EngineSettings()

    assert f"An offer stands for {settings.offer_s:g} s" in section("What the service says")
    assert f"offered again after {settings.passed_s:g} s" in section("What the service says")
