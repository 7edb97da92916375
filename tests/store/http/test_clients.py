"""The ordinary clients at a service: what an address may say, whose tenant it is, and values that are sealed."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

import detent
from detent import App, Codec, Forbidden, InvalidArgument, Job, SyncClient, Unauthorized
from detent.client.addresses import store_of, without_secrets
from detent.client.sync import run
from detent.store.http import writing
from detent.store.tokens import Token
from detent.surfaces.http import ask
from tests.store.http.serving import Serving, served

SECRET: Final = "dt_0123456789abcdef_" + "x" * 43
KEY: Final = 0x5A


def flipped(data: bytes) -> bytes:
    return bytes(byte ^ KEY for byte in data)


SEALING: Final = Codec(encrypt=flipped, decrypt=flipped)


@pytest.fixture
def admin(server: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SyncClient]:
    monkeypatch.delenv("DETENT_TOKEN", raising=False)
    with served(server, tmp_path, reconcile_s=60) as token, detent.connect(server.url, token=token) as client:
        yield client


@pytest.mark.parametrize(
    "url",
    [
        f"http://user:{SECRET}@host", f"http://{SECRET}@host", f"http://host?token={SECRET}", "http://", "https:///path",
        "http://host:0", "http://host:99999", "http://host?colour=red", "http://host?connections=0", "http://host#x",
        "http://host?busy_s=1",
    ],
)  # fmt: skip
def test_wrong_address_of_a_service_is_refused_and_shows_no_secret(url: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        store_of(url, {})

    assert caught.value.code == "bad_url"
    assert SECRET not in str(caught.value)
    assert SECRET not in without_secrets(f"http://host?token={SECRET}")


def test_token_is_for_services_only(tmp_path: Path) -> None:
    for url in (f"sqlite:///{tmp_path}/jobs.db", "postgresql://host/jobs"):
        with pytest.raises(InvalidArgument) as caught:
            detent.connect(url, token=SECRET)
        assert SECRET not in str(caught.value)


def test_token_may_also_be_in_the_environment(
    server: Serving, admin: SyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DETENT_TOKEN", admin.create_token("ci", scopes=["submit"]).text)
    with detent.connect(f"{server.url}/?retry_s=1&timeout_s=5&connections=2") as client:
        assert client.enqueue("scan").state == "queued"


def test_without_a_token_or_with_a_wrong_one_nobody_comes_in(server: Serving, admin: SyncClient) -> None:
    for token, code in ((None, "token_missing"), (SECRET, "token_unknown"), ("nonsense", "token_malformed")):
        with pytest.raises(Unauthorized) as caught, detent.connect(server.url, token=token):
            pass
        assert caught.value.code == code
        assert SECRET not in str(caught.value)


def test_whoever_names_no_tenant_is_in_that_of_the_token(server: Serving, admin: SyncClient) -> None:
    acme = SyncClient(admin.client.of_tenant("acme"))
    token = acme.create_token("ci", scopes=["submit", "read"]).text
    with detent.connect(server.url, token=token) as client:
        made = client.enqueue("scan")
        assert client.get(made.id).tenant == "acme"
    with pytest.raises(Forbidden), detent.connect(server.url, token=token, tenant="other") as other:
        other.enqueue("scan")
    app = App(server.url, token=token)

    @app.job
    def scan() -> None: ...

    with app:
        assert scan.enqueue().tenant == "acme"
        assert app.handle(made.id).state == "queued"


def test_sealed_values_come_back_to_their_owner_and_stay_closed_to_others(server: Serving, admin: SyncClient) -> None:
    token = admin.create_token("ci", scopes=["submit", "read", "operate", "work"], worker="w").text
    with detent.connect(server.url, token=token, codec=SEALING) as client:
        first = client.enqueue("scan", {"pages": 3}, request_id="r")
        again = client.enqueue("scan", {"pages": 3}, request_id="r")
        client.claim(worker="w", start=True)
        ended = client.complete(first.id, worker="w", attempt=1, result=[1])
        item = {"name": "n", "cron": "* * * * *", "kind": "scan", "next_at": datetime(2030, 1, 1, tzinfo=UTC)}
        (kept,) = client.keep_schedules([item | {"payload": {"a": 1}}])
        assert client.schedules() == [kept] == client.keep_schedules([item | {"payload": {"a": 1}}])
        assert (again.id, again.answer) == (first.id, "repeat")
        assert (ended.payload, ended.result, kept.payload) == ({"pages": 3}, [1], {"a": 1})
    with pytest.raises(InvalidArgument, match="encrypted"):
        _ = admin.get(first.id).payload
    assert admin.verify(all_tenants=True).is_clean


def test_compressed_values_are_opened_by_the_service_and_still_add_up(server: Serving, admin: SyncClient) -> None:
    token = admin.create_token("ci", scopes=["submit"]).text
    with detent.connect(server.url, token=token, codec=Codec(compress_over=10)) as client:
        made = client.enqueue("scan", {"text": "x" * 1_000})

    assert admin.get(made.id).payload == {"text": "x" * 1_000}
    assert admin.get(made.id).record.spec.payload.startswith(b"{")
    assert admin.verify(all_tenants=True).is_clean


def test_batch_that_is_too_large_for_one_message_goes_in_several(
    admin: SyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "BODY_BYTES_MAX", 1_000)
    answers = admin.enqueue_many([{"kind": "scan", "job_id": str(number), "payload": "x" * 99} for number in range(30)])

    assert [each.id for each in answers if not isinstance(each, detent.DetentError)] == [
        str(each) for each in range(30)
    ]


def test_admin_of_a_tenant_makes_tokens_for_its_own_tenant_alone(server: Serving, admin: SyncClient) -> None:
    acme = SyncClient(admin.client.of_tenant("acme"))
    mine = acme.create_token("boss", scopes=["admin"])
    with detent.connect(server.url, token=mine.text) as boss:
        made = boss.create_token("ci", scopes=["submit", "admin"])
        for attempt in ({"tenant": None}, {"tenant": "other"}):
            kept: Any = Token(
                id="t1", name="x", scopes=("admin",), digest="0" * 64, created_by="me", **attempt
            )  # fmt: skip
            with pytest.raises(Forbidden):
                run(boss.client.store.keep_token(kept))
        assert {each.name for each in boss.tokens()} == {"boss", "ci"}
        with pytest.raises(Forbidden):
            run(boss.client.store.tokens(None))
    with detent.connect(server.url, token=made.text) as client:
        assert client.enqueue("scan").tenant == "acme"
    assert admin.client.tenant == "default"


def test_digest_of_a_secret_has_to_be_one(admin: SyncClient) -> None:
    token = Token(
        id="t1", name="x", tenant="default", scopes=("read",), digest=SECRET, created_by="me"
    )  # fmt: skip
    with pytest.raises(InvalidArgument) as caught:
        run(admin.client.store.keep_token(token))

    assert SECRET not in str(caught.value)


def test_lifecycle_of_ones_own_takes_an_admin(server: Serving, admin: SyncClient) -> None:
    (standard,) = [each for each in admin.lifecycles() if each.name == "standard"]
    own = detent.Lifecycle(name="own", version=1, states=standard.states, moves=standard.moves)
    token = admin.create_token("ci", scopes=["submit"]).text
    with pytest.raises(Forbidden) as caught, detent.connect(server.url, token=token, lifecycles=[own]):
        pass
    assert caught.value.code == "scope_missing"
    run(admin.client.store.register(own))
    with detent.connect(server.url, token=token, lifecycles=[own]) as client:
        assert client.enqueue("scan", lifecycle="own").lifecycle == "own"


def test_values_that_an_answer_has_no_room_for_are_asked_for_by_themselves(
    admin: SyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ask, "SHOWN_BYTES_MAX", 50_000)
    payload = "x" * 30_000
    admin.enqueue_many([{"kind": "big", "payload": payload} for _ in range(4)])
    taken = admin.claim(worker="w1", limit=4, start=True)
    done = admin.complete_many([{"job_id": job.id, "worker": "w1", "attempt": 1, "result": payload} for job in taken])

    assert [job.payload for job in taken] == [payload] * 4
    assert [job.payload for job in admin.find(kind="big")] == [payload] * 4
    assert [job.result for job in done if isinstance(job, Job)] == [payload] * 4
