"""From an address to a client: what names a store opens it, and everything else is refused before a file is made."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

import detent
from detent import Codec
from detent.client.sync import run
from detent.errors import DetentError, InvalidArgument, StoreError
from detent.lifecycles import BUILT_IN
from tests.client.arguments import DEEP, ENDLESS, HUGE, INF, NAN, Odd
from tests.client.world import CODES, World


def opened(url: Any, **settings: Any) -> None:
    with detent.connect(url, **settings):
        pass


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in: a bad address must leave it empty."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DETENT_URL", raising=False)
    return tmp_path


BAD_URLS = [
    "x", "jobs.db", "/tmp/jobs.db", ":memory:", "sqlite", "sqlite:", "sqlite://", "sqlite:///", "sqlite://host/jobs.db",
    "sqlite://jobs.db", "http:///jobs.db", "file:///jobs.db", "mysql://x/y", "SQL:///jobs.db", "sqlite:///a\0b",
    "sqlite:///%00", "sqlite:///a%00b", "sqlite:///a?nonsense=1", "sqlite:///a?synchronous=off", "sqlite:///a?busy_s=-1",
    "sqlite:///a?busy_s=nan", "sqlite:///a?busy_s=inf", "sqlite:///a?busy_s=1e5", "sqlite:///a?busy_s=",
    "sqlite:///a?synchronous=", "sqlite:///a?busy_s", "sqlite:///a?busy_s=" + "9" * 400, "sqlite:///a#b", "http://[",
    "sqlite:///\ud800.db", " ", "\0", 5, 1.5, NAN, True, b"sqlite:///jobs.db", ["sqlite:///jobs.db"], {"a": 1}, Odd(),
    HUGE, ENDLESS, DEEP,
]  # fmt: skip


@pytest.mark.parametrize(
    "url", BAD_URLS, ids=lambda url: ascii(url)[:40] if isinstance(url, str) else type(url).__name__
)
def test_bad_address_is_refused_and_no_file_is_made(here: Path, url: Any) -> None:
    with pytest.raises(InvalidArgument) as refused:
        opened(url)

    assert refused.value.code == "bad_url"
    assert list(here.iterdir()) == []


@pytest.mark.parametrize(
    "settings",
    [
        {"synchronous": "off"}, {"synchronous": None}, {"synchronous": 1}, {"synchronous": []}, {"busy_s": -1},
        {"busy_s": NAN}, {"busy_s": INF}, {"busy_s": "x"}, {"busy_s": None}, {"busy_s": True}, {"busy_s": []},
        {"busy_s": 10**11}, {"busy_s": HUGE}, {"busy_s": ENDLESS}, {"busy_s": Odd()}, {"nonsense": 1}, {"path": "x"},
        {"is_memory": True},
    ],
    ids=lambda settings: "-".join(settings),
)  # fmt: skip
def test_bad_setting_is_refused_and_no_file_is_made(here: Path, settings: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument) as refused:
        opened("sqlite:///jobs.db", **settings)

    assert refused.value.code in CODES
    assert list(here.iterdir()) == []


@pytest.mark.parametrize(
    "tenant", ["", "x" * 256, "a\0b", "\ud800", "a\u202eb", 5, b"x", [], ["a"], NAN, None, Odd(), True]
)
def test_bad_tenant_is_refused(here: Path, tenant: Any) -> None:
    with pytest.raises(InvalidArgument):
        opened("sqlite:///jobs.db", tenant=tenant)

    assert list(here.iterdir()) == []


@pytest.mark.parametrize("lifecycles", [5, "standard", ["standard"], [None], [Odd()], [BUILT_IN]])
def test_bad_lifecycles_are_refused(here: Path, lifecycles: Any) -> None:
    with pytest.raises(DetentError):
        opened("sqlite:///jobs.db", lifecycles=lifecycles)


@pytest.mark.parametrize("codec", [5, "json", Codec, Odd()])
def test_bad_codec_is_refused(here: Path, codec: Any) -> None:
    with pytest.raises(InvalidArgument):
        opened("sqlite:///jobs.db", codec=codec)


@pytest.mark.parametrize("create", [None, 0, 1, "no", [], Odd()])
def test_create_that_is_no_yes_or_no_is_refused(here: Path, create: Any) -> None:
    with pytest.raises(InvalidArgument, match="create"):
        opened("sqlite:///jobs.db", create=create)

    assert list(here.iterdir()) == []


def test_store_that_is_not_to_be_made_is_said_to_be_missing_with_its_whole_path(here: Path) -> None:
    with pytest.raises(StoreError) as refused:
        opened("sqlite:///folder/jobs.db", create=False)

    assert refused.value.code == "store_missing"
    assert str(refused.value).startswith(f"there is no store at {here.resolve()}/folder/jobs.db; `detent enqueue`")
    assert list(here.iterdir()) == []


def test_address_cannot_say_whether_a_store_is_made(here: Path) -> None:
    with pytest.raises(InvalidArgument) as refused:
        opened("sqlite:///jobs.db?create=0")

    assert refused.value.code == "bad_url"


def test_store_of_an_address_can_be_asked_for_its_migrations_unopened(here: Path) -> None:
    first, *others = run(detent.connect("sqlite:///jobs.db").store.migrations())

    assert (first.number, first.applied_at) == (1, None)
    assert [each.applied_at for each in others] == [None] * len(others)
    assert list(here.iterdir()) == []


def test_misspelled_setting_names_those_there_are(here: Path) -> None:
    with pytest.raises(InvalidArgument, match="busy_s"):
        opened("sqlite:///jobs.db", bussy_s=5)


def test_relative_address_is_a_file_beside_you(here: Path) -> None:
    opened("sqlite:///jobs.db")

    assert (here / "jobs.db").exists()


def test_absolute_address_with_spaces_and_marks_is_the_file_it_names(here: Path) -> None:
    opened(f"sqlite:///{here}/a b%3Fc%23d%25.db?synchronous=normal&busy_s=2.5")

    assert (here / "a b?c#d%.db").exists()


def test_folder_is_made_where_it_is_missing(here: Path) -> None:
    opened("sqlite:///a/b/jobs.db")

    assert (here / "a" / "b" / "jobs.db").exists()


def test_address_may_come_from_the_environment(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DETENT_URL", "sqlite:///elsewhere.db")

    opened(None)

    assert (here / "elsewhere.db").exists()


def test_without_an_address_it_is_detent_db(here: Path) -> None:
    opened(None)

    assert (here / "detent.db").exists()


@pytest.mark.parametrize("path", ["a" * 300, "/".join("a" * 200 for _ in range(30))])
def test_path_that_the_system_cannot_have_is_a_store_error(here: Path, path: str) -> None:
    with pytest.raises(StoreError) as refused:
        opened(f"sqlite:///{path}")

    assert refused.value.code == "store_unavailable"


def test_folder_in_the_place_of_the_file_is_a_store_error(here: Path) -> None:
    (here / "jobs.db").mkdir()

    with pytest.raises(StoreError) as refused:
        opened("sqlite:///jobs.db")

    assert refused.value.code in CODES


def test_file_that_is_no_store_is_refused_and_left_as_it_is(here: Path) -> None:
    (here / "jobs.db").write_bytes(b"this is a letter, not a database" * 100)

    with pytest.raises(StoreError) as refused:
        opened("sqlite:///jobs.db")

    assert refused.value.code == "store_corrupt"
    assert (here / "jobs.db").read_bytes() == b"this is a letter, not a database" * 100


# -- a client that is not open ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["get", "history", "cancel", "start", "rerun", "tree", "notes"])
def test_closed_client_says_that_it_is_closed(fresh: World, verb: str) -> None:
    fresh.prepare("waiting")
    closed = fresh.blocking
    closed.close()

    with pytest.raises(InvalidArgument) as refused:
        getattr(closed, verb)("waiting")

    assert refused.value.code == "not_connected"


def test_client_that_was_never_opened_says_so(here: Path) -> None:
    client = detent.connect("sqlite:///jobs.db")._client

    async def ask() -> None:
        await client.enqueue("scan")

    with pytest.raises(InvalidArgument) as refused:
        asyncio.run(ask())

    assert refused.value.code == "not_connected"
    assert list(here.iterdir()) == []


def test_closing_twice_is_no_matter(fresh: World) -> None:
    fresh.blocking.close()
    fresh.blocking.close()

    with pytest.raises(InvalidArgument) as refused:
        fresh.blocking.find()
    assert refused.value.code == "not_connected"


def test_closed_client_can_be_opened_again(fresh: World) -> None:
    fresh.prepare("waiting")
    fresh.blocking.close()
    fresh.blocking.open()

    assert fresh.blocking.get("waiting").state == "queued"


def test_two_clients_of_one_store_see_each_other_s_jobs(url: str) -> None:
    with detent.connect(url) as one, detent.connect(url) as other:
        job = one.enqueue("scan", {"a": 1})

        assert other.get(job.id) == job
        assert other.claim(worker="w")[0].id == job.id
        assert one.get(job.id).owner == "w"


def test_same_address_works_both_ways(url: str) -> None:
    async def made() -> str:
        async with detent.connect(url) as client:
            return (await client.enqueue("scan")).id

    job_id = asyncio.run(made())

    with detent.connect(url) as client:
        assert client.get(job_id).id == job_id


@pytest.mark.requirement("ALL-05")
def test_request_ids_are_kept_for_as_long_as_was_asked(url: str) -> None:
    with detent.connect(f"{url}{'&' if '?' in url else '?'}receipts_s=0") as client:
        client.enqueue("scan", job_id="a", request_id="r")
        forgotten = client.enqueue("scan", job_id="b", request_id="r")
    with detent.connect(url, receipts_s=60) as client:
        client.enqueue("scan", job_id="c", request_id="s")
        remembered = client.enqueue("scan", job_id="c", request_id="s")

    assert (forgotten.answer, remembered.answer) == ("applied", "repeat")
