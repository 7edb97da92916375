"""Who is let in at the socket, and as whom: by the same tokens and the same rules as over HTTP."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from detent.client import connect
from tests.engines.playing import KIND, Puppet, puppet, scene
from tests.surfaces.http.process import Service, Services, until

Engines = Callable[[], Puppet]


def made(service: Service, name: str, *scopes: str, **more: Any) -> str:
    status, answer = service.ask("POST", "/v1/tokens", {"name": name, "scopes": scopes, **more})
    assert status == 201, answer
    text: str = answer["text"]
    return text


def bad_tokens(service: Service) -> dict[str, str | None]:
    revoked = made(service, "revoked", "work")
    for each in service.ask("GET", "/v1/tokens")[1]["tokens"]:
        if each["name"] == "revoked" and each["revoked_at"] is None:
            assert service.ask("DELETE", f"/v1/tokens/{each['id']}")[0] in (200, 204)
    live = made(service, "live", "work")
    forged = live[:-1] + ("A" if live[-1] != "A" else "B")
    return {
        "token_missing": None, "token_malformed": "nonsense", "token_unknown": forged, "token_revoked": revoked,
        "scope_missing": made(service, "submitter", "submit"),
    }  # fmt: skip


@pytest.mark.requirement("ENG-07")
@pytest.mark.parametrize("transport", ["websocket", "polling"])
def test_nobody_is_let_in_without_a_token_that_is_good_for_it(
    service: Service, engine: Engines, transport: str
) -> None:
    for code, token in bad_tokens(service).items():
        one = engine()
        one.connect(token, transports=[transport])
        _, said = one.heard("connect_error")

        assert said["code"] == code


def test_expired_token_is_refused(service: Service, engine: Engines) -> None:
    short = made(service, "short", "work", expires_s=1)
    first = engine().connected(short)

    until(lambda: engine().code_at_the_door(short) == "token_expired")
    first.disconnect()


def test_token_of_another_tenant_is_refused(service: Service, engine: Engines) -> None:
    one = engine()
    one.connect(made(service, "ours", "work"), auth={"tenant": "theirs"})

    assert one.heard("connect_error")[1]["code"] == "tenant_denied"


@pytest.mark.requirement("ENG-07")
def test_tenants_engines_are_offered_their_own_jobs_only(service: Service, engine: Engines) -> None:
    ours, theirs = engine(), engine()
    ours.connected(service.token)
    theirs.connected(service.token, auth={"tenant": "theirs"})
    ours.registered("e", capacity=5)
    theirs.registered("e", capacity=5)
    theirs.ask("watch", {})
    job_id = scene(service)
    ours.took(job_id)
    there = theirs.ask("job_started", {"jobId": job_id, "attempt": 1})
    acked = theirs.ask("job_ack", {"jobId": job_id})
    ours.ask("job_started", {"jobId": job_id})
    ours.ask("job_complete", {"jobId": job_id})

    assert (there["code"], acked["code"]) == ("not_found", "not_offered")
    assert not theirs.has_heard("job_offer")
    assert not theirs.has_heard("JOB_QUEUED")


def test_workers_token_registers_its_own_engine_only(service: Service, engine: Engines) -> None:
    one = engine().connected(made(service, "forge", "work", worker="forge"))
    other = one.ask("register", {"engineId": "mill", "jobTypes": [KIND]})
    below = one.ask("register", {"engineId": "forge/7", "jobTypes": [KIND]})
    watch = one.ask("watch", {})

    assert (other["accepted"], other["code"]) == (False, "worker_denied")
    assert below["accepted"]
    assert (watch["accepted"], watch["code"]) == (False, "scope_missing")


def test_who_may_only_read_watches_and_is_no_engine(service: Service, engine: Engines) -> None:
    one = engine().connected(made(service, "viewer", "read"))

    assert one.ask("watch", {})["accepted"]
    assert one.ask("register", {"engineId": "viewer", "jobTypes": [KIND]})["code"] == "scope_missing"
    assert one.ask("heartbeat")["code"] == "not_registered"


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[tuple[Services, Service]]:
    services = Services(tmp_path)
    with services.running() as running:
        yield services, running


def test_token_that_is_revoked_ends_the_connection(guarded: tuple[Services, Service]) -> None:
    services, service = guarded
    with puppet(service.url) as one:
        one.connected(made(service, "brief", "work", "read"))
        one.registered("brief")
        with connect(services.site.url) as client:
            (token,) = [each for each in client.tokens() if each.name == "brief"]
            client.revoke_token(token.id)

        def is_out() -> bool:
            one.send("heartbeat")
            return one.has_heard("unauthorized")

        until(is_out)
        one.heard("disconnect")


def test_service_that_only_lets_look_has_no_engines(tmp_path: Path) -> None:
    services = Services(tmp_path)
    with services.running():
        pass
    with services.running("--read-only") as service, puppet(service.url) as one:
        one.connect(service.token)

        assert one.heard("connect_error")


def test_page_of_another_site_is_refused_where_nobody_says_who_they_are(tmp_path: Path) -> None:
    with Services(tmp_path).running("--no-auth") as service, puppet(service.url) as one, puppet(service.url) as page:
        one.connected(None)
        page.connect(None, headers={"origin": "https://evil.example"})

        assert page.heard("connect_error")
        assert one.ask("register", {"engineId": "e", "jobTypes": [KIND]})["accepted"]
