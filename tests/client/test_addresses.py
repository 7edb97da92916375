"""Addresses that cannot be meant are refused, and never with a secret in the message."""

from pathlib import Path

import pytest

from detent import InvalidArgument, StoreError, connect
from detent.client.addresses import for_libpq, store_of


@pytest.mark.parametrize("url", ["sqlite:x.db", "sqlite:/x.db", "sqlite://x.db", "x.db", "./x.db", "/x.db"])
def test_address_with_too_few_slashes_makes_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(InvalidArgument, match=r"sqlite:///relative\.db") as refused:
        connect(url)

    assert refused.value.code == "bad_url"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "url", ["mysql://ann:secret@host/jobs", "postgresql://ann:secret@host/jobs?nonsense=1", "sqlite://ann:secret@/x.db"]
)
def test_password_in_an_address_is_not_repeated(url: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        connect(url)

    assert "secret" not in str(refused.value)


def test_file_that_is_no_database_is_refused_and_nothing_made_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "text.db"
    path.write_text("Dear diary, " * 100)

    with pytest.raises(StoreError) as refused, connect(f"sqlite:///{path}"):
        pass

    assert refused.value.code == "store_corrupt"
    assert [each.name for each in tmp_path.iterdir()] == ["text.db"]


@pytest.mark.parametrize(
    ("url", "left"),
    [
        ("postgresql:///jobs", "postgresql:///jobs"),
        ("postgresql:///jobs?host=/run/pg&connections=5", "postgresql:///jobs?host=/run/pg"),
        ("postgresql://h/jobs?prepare=off&options=-c%20a%3Db+c", "postgresql://h/jobs?options=-c%20a%3Db+c"),
    ],
)
def test_what_is_libpq_s_in_an_address_stays_as_it_was_written(url: str, left: str) -> None:
    assert for_libpq(url) == left
    store_of(url, {})
