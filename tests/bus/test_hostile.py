"""What is wrong on the bus is ignored, with an alert, and nothing else comes of it."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cap.pb.cordum.agent.v1 import buspacket_pb2, job_pb2
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from tests.bus.playing import SENDER, WAIT_S, WORKER, connection, job, listening, submit, succeed, until, worker
from tests.bus.site import BusSite

pytestmark = pytest.mark.requirement("DSP-09")
Key = ec.EllipticCurvePrivateKey


def _packet(**fields: Any) -> bytes:
    packet = buspacket_pb2.BusPacket(trace_id="t", sender_id=SENDER, protocol_version=1, **fields)
    packet.created_at.GetCurrentTime()
    return bytes(packet.SerializeToString())


WRONG = {
    "no packet": ("sys.job.submit", b"\xff\x00nonsense", "bad_packet"),
    "oversized": ("sys.job.submit", _packet(job_request=job("big", env={"x": "y" * 1_047_000})), "invalid_argument"),
    "of no known kind": ("sys.job.submit", _packet(), "bad_packet"),
    "misplaced": ("sys.job.progress", _packet(job_request=job("misplaced")), "bad_packet"),
    "of another tenant": ("sys.job.submit", _packet(job_request=job("theirs", tenant_id="acme")), "wrong_tenant"),
    "of no pool": ("sys.job.submit", _packet(job_request=job("nowhere", topic="sys.job.submit")), "bad_topic"),
    "of an unknown job": ("sys.job.result", _packet(job_result=job_pb2.JobResult(
        job_id="unknown", status=5, worker_id=SENDER)), "not_found"),
    "of another worker": ("sys.job.result", _packet(job_result=job_pb2.JobResult(
        job_id="unknown", status=5, worker_id="somebody-else")), "bad_packet"),
}  # fmt: skip


def test_what_is_wrong_is_ignored_with_an_alert(site: BusSite) -> None:
    async def play() -> list[str]:
        async with connection(site.nats_url) as bus, worker(site.nats_url, succeed):
            alerts = await listening(bus, "sys.alert")
            for subject, data, _ in WRONG.values():
                await bus.publish(subject, data)
            await submit(bus, job("good"))
            await until(lambda: site.in_state("good", "SUCCEEDED"))
            await until(lambda: len(alerts.packets) >= len(WRONG))
            return [each.alert.code for each in alerts.packets]

    codes = asyncio.run(play())

    assert sorted(codes) == sorted(code for _, _, code in WRONG.values())
    with site.services.site.client() as client:
        assert [each.id for each in client.find()] == ["good"]


@pytest.mark.requirement("ENG-04")
def test_job_of_a_kind_that_is_not_known_is_refused_with_an_alert(
    start: Callable[..., BusSite], tmp_path: Path
) -> None:
    (tmp_path / "kinds.toml").write_text('others = "refuse"\n[kinds."job.chat.simple"]\n', encoding="utf-8")
    site = start("", "--kinds", str(tmp_path / "kinds.toml"))

    async def play() -> list[str]:
        async with connection(site.nats_url) as bus, worker(site.nats_url, succeed):
            alerts = await listening(bus, "sys.alert")
            await submit(bus, job("odd", topic="job.chat.odd"), job("good"))
            await until(lambda: site.in_state("good", "SUCCEEDED"))
            await until(lambda: alerts.packets)
            return [each.alert.code for each in alerts.packets]

    assert asyncio.run(play()) == ["unknown_kind"]
    assert site.job("odd") is None


def test_flood_of_nonsense_fills_neither_the_log_nor_the_bus(site: BusSite) -> None:
    async def play() -> list[Any]:
        async with connection(site.nats_url) as bus, worker(site.nats_url, succeed):
            alerts = await listening(bus, "sys.alert")
            for _ in range(3_000):
                await bus.publish("sys.job.submit", b"nonsense")
            await submit(bus, job("good"))
            await until(lambda: site.in_state("good", "SUCCEEDED"))
            told = len(alerts.packets)
            async with asyncio.timeout(WAIT_S):
                while len(alerts.packets) == told:  # until it says how many it has left out
                    await bus.publish("sys.job.submit", b"nonsense")
                    await asyncio.sleep(0.05)
            return alerts.packets

    packets = asyncio.run(play())

    left_out = sum(int(each.alert.details.get("left_out", "0")) for each in packets)
    assert len(packets) < 1_000
    assert len(packets) + left_out >= 3_000
    assert site.log().count("bad_packet") == len(packets)


@pytest.fixture
def keys(tmp_path: Path) -> dict[str, Key]:
    made = {name: ec.generate_private_key(ec.SECP256R1()) for name in ("detent", SENDER, WORKER)}
    for name, key in made.items():
        (tmp_path / f"{name}.pub").write_bytes(
            key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        )
    own = made["detent"].private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (tmp_path / "detent.pem").write_bytes(own)
    return made


def test_only_what_known_senders_have_signed_is_believed(start: Callable[..., BusSite], keys: dict[str, Key]) -> None:
    site = start(f'key = "detent.pem"\n[keys]\n{SENDER} = "{SENDER}.pub"\n{WORKER} = "{WORKER}.pub"\n')
    public = {name: key.public_key() for name, key in keys.items()}
    signs: list[Key | None] = [None, keys[SENDER]]  # nobody, and somebody else

    async def play() -> list[str]:
        async with connection(site.nats_url) as bus:
            alerts = await listening(bus, "sys.alert")
            await submit(bus, job("unsigned"))
            await submit(bus, job("forged"), key=keys[WORKER])
            await submit(bus, job("stranger"), key=keys[WORKER], sender="stranger")
            for number, key in enumerate(signs):
                async with worker(site.nats_url, succeed, public_keys=public, private_key=key):
                    await submit(bus, job(f"j{number}"), key=keys[SENDER])
                    await until(lambda number=number: len(alerts.packets) >= 4 + number)  # type: ignore[misc]
            async with worker(site.nats_url, succeed, public_keys=public, private_key=keys[WORKER]):
                await submit(bus, job("good"), key=keys[SENDER])
                await until(lambda: site.in_state("good", "SUCCEEDED"))
            return [each.alert.code for each in alerts.packets]

    codes = asyncio.run(play())

    assert codes == ["bad_signature"] * 5
    assert [site.job(each) for each in ("unsigned", "forged", "stranger")] == [None] * 3
    assert site.in_state("j0", "DISPATCHED")
    assert site.in_state("j1", "DISPATCHED")
