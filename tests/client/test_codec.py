"""How values are kept: bounded, compressed over a threshold, encrypted by the user's own functions."""

import os
import zlib
from collections.abc import Callable
from typing import Any

import pytest

from detent.client import Codec, Job
from detent.errors import InvalidArgument
from tests.client.arguments import NAN, Odd
from tests.client.places import Place
from tests.client.world import World

SECRET = "the patient's name is Ann"
KEY = 0x5A
NewPlace = Callable[[], Place]


def scramble(data: bytes) -> bytes:
    return bytes(byte ^ KEY for byte in data)


def locked(**settings: Any) -> Codec:
    return Codec(encrypt=scramble, decrypt=scramble, **settings)


def broken(data: bytes) -> bytes:
    raise RuntimeError("the key server is away")


def test_value_longer_than_the_codec_s_bound_is_refused() -> None:
    codec = Codec(bytes_max=10)

    assert codec.decode(codec.encode("12345678")) == "12345678"
    with pytest.raises(InvalidArgument) as refused:
        codec.encode("123456789")
    assert refused.value.code == "value_too_large"


def test_bound_counts_what_the_value_is_before_it_is_compressed() -> None:
    with pytest.raises(InvalidArgument):
        Codec(bytes_max=1_000, compress_over=10).encode("x" * 2_000)


def test_only_values_over_the_threshold_are_compressed() -> None:
    codec = Codec(compress_over=100)

    short, long = codec.encode("x" * 98), codec.encode("x" * 99)

    assert short == b'"' + b"x" * 98 + b'"'
    assert len(long) < 50
    assert codec.decode(long) == "x" * 99


def test_compressed_value_can_be_read_by_a_codec_that_does_not_compress() -> None:
    kept = Codec(compress_over=10).encode(["a"] * 100)

    assert Codec().decode(kept) == ["a"] * 100


def test_compression_bomb_is_refused_on_reading() -> None:
    bomb = b"\x00z" + zlib.compress(b'"' + b"x" * 100_000_000 + b'"', 9)

    with pytest.raises(InvalidArgument) as refused:
        Codec().decode(bomb)

    assert refused.value.code == "value_unreadable"


@pytest.mark.parametrize(
    "kept",
    [
        b"",
        b"{",
        b"\x00z",
        b"\x00znot zlib",
        b"\x00z" + zlib.compress(b'{"a": 1}')[:-6],
        b"\x00z" + zlib.compress(b"not JSON"),
        b"\x00e",
        b"\x00",
        b"\x00zz",
        b"\xff\xfe",
        b"[" * 100_000,
    ],
    ids=repr,
)
def test_damaged_value_is_unreadable_and_says_so(kept: bytes) -> None:
    with pytest.raises(InvalidArgument) as refused:
        Codec().decode(kept[:200_000], "result")

    assert refused.value.code == "value_unreadable"
    assert "result" in str(refused.value)


def test_encrypted_values_are_not_on_disk_in_plain_text(new_place: NewPlace) -> None:
    world = World(new_place(), codec=locked())
    job = world.blocking.enqueue("scan", {"note": SECRET})
    world.blocking.claim(worker="w", start=True)
    world.blocking.renew(job.id, worker="w", attempt=1, checkpoint=[SECRET])
    done = world.blocking.complete(job.id, worker="w", attempt=1, result=SECRET)
    late = world.blocking.enqueue("scan", job_id="late")
    world.blocking.claim(worker="w", start=True)
    world.blocking.cancel(late.id, mode="hard")
    with pytest.raises(Exception, match="illegal_move"):
        world.blocking.complete(late.id, worker="w", attempt=1, result=SECRET)
    seen = world.place.bytes_kept()
    world.close()

    assert (done.payload, done.checkpoint, done.result) == ({"note": SECRET}, [SECRET], SECRET)
    assert SECRET.encode() not in seen
    assert b"late" in seen, "the test looks at the right bytes"


def test_client_without_the_key_can_move_the_job_but_not_read_it(new_place: NewPlace) -> None:
    world = World(new_place(), codec=locked())
    world.blocking.enqueue("scan", SECRET, job_id="a")
    keyless = world.beside()

    (job,) = keyless.claim(worker="w", start=True)
    done = keyless.complete("a", worker="w", attempt=1, result="plain")

    with pytest.raises(InvalidArgument) as refused:
        _ = job.payload
    assert refused.value.code == "value_unreadable"
    assert (done.state, done.result) == ("succeeded", "plain")
    assert world.blocking.get("a").payload == SECRET
    assert world.blocking.get("a").result == "plain"
    world.close()


@pytest.mark.parametrize(
    "decrypt", [broken, lambda data: "text", lambda data: None, lambda data: data, lambda data: b""]
)
def test_key_that_does_not_fit_makes_the_value_unreadable(new_place: NewPlace, decrypt: Any) -> None:
    world = World(new_place(), codec=locked())
    world.blocking.enqueue("scan", SECRET, job_id="a")
    stranger = world.beside(codec=Codec(encrypt=scramble, decrypt=decrypt))

    job: Job = stranger.get("a")

    with pytest.raises(InvalidArgument) as refused:
        _ = job.payload
    assert refused.value.code == "value_unreadable"
    assert (job.id, job.state) == ("a", "queued")
    world.close()


@pytest.mark.parametrize("encrypt", [broken, lambda data: "text", lambda data: None])
def test_encryption_that_fails_leaves_nothing_behind(new_place: NewPlace, encrypt: Any) -> None:
    world = World(new_place(), codec=Codec(encrypt=encrypt, decrypt=scramble))
    before = world.version()

    with pytest.raises((InvalidArgument, RuntimeError)):
        world.blocking.enqueue("scan", SECRET)

    assert world.version() == before
    world.close()


def test_value_is_compressed_before_it_is_encrypted() -> None:
    codec = locked(compress_over=100)
    value = ["the same again"] * 1_000

    kept = codec.encode(value)

    assert len(kept) < 500
    assert codec.decode(kept) == value


def test_incompressible_value_round_trips() -> None:
    codec = locked(compress_over=10)
    value = os.urandom(5_000).hex()

    assert codec.decode(codec.encode(value)) == value


@pytest.mark.parametrize("only", [{"encrypt": scramble}, {"decrypt": scramble}])
def test_half_a_pair_of_functions_is_refused(only: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        Codec(**only)


@pytest.mark.parametrize("bytes_max", [0, -1, 1.5, NAN, "1", True, None, [], Odd()])
def test_bound_that_is_no_size_is_refused(bytes_max: Any) -> None:
    with pytest.raises(InvalidArgument):
        Codec(bytes_max=bytes_max)


@pytest.mark.parametrize("compress_over", [-1, 1.5, NAN, "1", True, [], Odd()])
def test_threshold_that_is_no_size_is_refused(compress_over: Any) -> None:
    with pytest.raises(InvalidArgument):
        Codec(compress_over=compress_over)


@pytest.mark.parametrize("function", [5, "x", [], b"key"])
def test_function_that_cannot_be_called_is_refused(function: Any) -> None:
    with pytest.raises(InvalidArgument):
        Codec(encrypt=function, decrypt=function)
