"""Kinds that a service knows: what does not fit is refused before it is queued, by whichever door it comes."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from detent.client import connect
from detent.errors import InvalidArgument
from detent.surfaces.http.kinds import Kinds
from tests.surfaces.http.process import Service, Services

pytestmark = pytest.mark.requirement("ENG-04")
FILE = """
others = "refuse"

[kinds."scene.build"]
schema = "scene.json"

[kinds.ping]

[kinds.sum]
schema = { type = "array", items = { type = "integer" } }
"""
SCENE = '{"type": "object", "required": ["level"], "properties": {"level": {"type": "string"}}}'
GOOD = {"level": "forest"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("kinds")
    (folder / "kinds.toml").write_text(FILE, encoding="utf-8")
    (folder / "scene.json").write_text(SCENE, encoding="utf-8")
    with Services(folder).running("--kinds", str(folder / "kinds.toml")) as running:
        yield running


def _made(service: Service, kind: str, payload: Any, **more: Any) -> tuple[int, Any]:
    return service.ask("POST", "/v1/jobs", {"kind": kind, "payload": payload, "lifecycle": "engine"} | more)


@pytest.mark.parametrize(("kind", "payload"), [("scene.build", GOOD), ("ping", "anything"), ("sum", [1, 2])])
def test_what_fits_is_queued(service: Service, kind: str, payload: Any) -> None:
    status, job = _made(service, kind, payload)

    assert (status, job["state"]) == (201, "queued")


@pytest.mark.parametrize(
    ("kind", "payload", "code", "said"),
    [
        ("scene.bild", GOOD, "unknown_kind", "there are ping, scene.build, sum"),
        ("scene.build", {}, "payload_misfit", '"level" is a required property'),
        ("scene.build", None, "payload_misfit", 'not of type "object"'),
        ("scene.build", {"level": 7}, "payload_misfit", 'at /level, it is not of type "string"'),
        ("sum", [1, "2"], "payload_misfit", "at /1"),
    ],
)
def test_what_does_not_fit_is_refused_before_it_is_queued(
    service: Service, kind: str, payload: Any, code: str, said: str
) -> None:
    before = service.ask("GET", "/v1/jobs")[1]["jobs"]
    status, problem = _made(service, kind, payload)

    assert (status, problem["code"]) == (422, code)
    assert said in problem["detail"]
    assert service.ask("GET", "/v1/jobs")[1]["jobs"] == before


def test_no_value_of_a_payload_is_told(service: Service) -> None:
    _, problem = _made(service, "scene.build", {"level": ["swordfish"]})

    assert problem["code"] == "payload_misfit"
    assert "swordfish" not in problem["detail"]


def test_every_door_is_the_same(service: Service) -> None:
    wrong = {"kind": "sum", "payload": "no list"}
    batch = service.ask("POST", "/v1/batch", {"requests": [{"verb": "enqueue"} | wrong]})[1]["answers"]
    request = service.ask("POST", "/v1/job-requests", {"job_id": "r", "topic": "job.unheard-of"})
    sealed = service.ask("POST", "/v1/jobs", {"kind": "sum", "sealed": {"payload": "AGVzZWNyZXQ="}})

    assert batch[0]["problem"]["code"] == "payload_misfit"
    assert (request[0], request[1]["code"]) == (422, "unknown_kind")
    assert (sealed[0], sealed[1]["code"]) == (422, "payload_misfit")


def test_new_payload_of_a_rerun_has_to_fit_as_well(service: Service) -> None:
    job_id = _made(service, "sum", [1])[1]["id"]
    service.ask("POST", f"/v1/jobs/{job_id}/cancel", {})
    refused = service.ask("POST", f"/v1/jobs/{job_id}/rerun", {"payload": "no list"})
    again = service.ask("POST", f"/v1/jobs/{job_id}/rerun", {"payload": [2]})
    same = service.ask("POST", f"/v1/jobs/{job_id}/rerun", {})

    assert (refused[0], refused[1]["code"]) == (422, "payload_misfit")
    assert (again[0], again[1]["payload"]) == (200, [2])
    assert (same[0], same[1]["payload"]) == (200, [1])


def test_client_of_a_store_can_be_given_kinds_too(tmp_path: Path) -> None:
    kinds = Kinds({"sum": {"type": "array"}})

    async def play() -> tuple[str, str, list[str]]:
        async with connect(f"sqlite:///{tmp_path / 'jobs.db'}", admission=kinds) as client:
            with pytest.raises(InvalidArgument) as refused:
                await client.enqueue("sum", payload=1)
            other = await client.enqueue("other", payload=1)
            ended = await client.enqueue("sum", payload=[1])
            await client.cancel(ended.id)
            with pytest.raises(InvalidArgument) as rerun:
                await client.rerun(ended.id, payload=1)
            return refused.value.code, other.state, [rerun.value.code]

    assert asyncio.run(play()) == ("payload_misfit", "queued", ["payload_misfit"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("others = 'refuse'", "kinds"),
        ("[kinds.a]\nschem = 'a.json'", "schem"),
        ("[kinds.a]\nschema = 'none.json'", "none.json"),
        ("[kinds.a]\nschema = { type = 'objekt' }", "objekt"),
        ("[kinds.a]\nschema = { '$ref' = 'http://127.0.0.1:1/a' }", "nothing is fetched"),
        ("kinds", "kinds.toml"),
    ],
)
def test_file_that_declares_none_is_told_before_anything_is_opened(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "kinds.toml"
    path.write_text(text, encoding="utf-8")

    code, told = Services(tmp_path).refused("--kinds", str(path))

    assert code == 2
    assert said in told
    assert not (tmp_path / "jobs.db").exists()


@pytest.mark.parametrize("text", ["nonsense", "[1]", "\udcff"])
def test_schema_in_a_file_has_to_be_one(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    (tmp_path / "kinds.toml").write_text("[kinds.a]\nschema = 'a.json'", encoding="utf-8")

    with pytest.raises(InvalidArgument) as wrong:
        Kinds.read(tmp_path / "kinds.toml")

    assert wrong.value.code == "bad_kinds"


def test_payload_that_is_no_json_by_itself_fits_no_schema() -> None:
    with pytest.raises(InvalidArgument) as wrong:
        Kinds({"a": {"properties": {"at": {"type": "string"}}}}).check("a", {"at": object()})

    assert wrong.value.code == "payload_misfit"
