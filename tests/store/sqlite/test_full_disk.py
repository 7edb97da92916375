"""No space, and a file system that fails: what was acknowledged is there, and after the trouble it goes on."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.store.sqlite.files import child, every_job, ids, is_sound, opened, raises
from tests.store.sqlite.shim import Fault, Shim, full, shimmed, unsynced, unwritable

TROUBLE: Final[list[tuple[Fault, str]]] = [(full, "store_full"), (unsynced, "store_io"), (unwritable, "store_io")]
in_trouble = pytest.mark.parametrize(("fault", "code"), TROUBLE)


@pytest.fixture
def shim() -> Iterator[Shim]:
    with shimmed() as shim:
        yield shim


def healthy(operation: str, name: str) -> None:
    return None


@in_trouble
def test_write_in_trouble_is_an_error_and_what_was_acknowledged_stays(
    path: Path, shim: Shim, fault: Fault, code: str
) -> None:
    with opened(path) as client:
        client.enqueue("scan", job_id="before")
        shim.fault = fault
        with raises(code):
            client.enqueue("scan", job_id="during")
        with raises(code):
            client.claim(worker="w")

        assert [job.id for job in client.find().items] == ["before"]
        shim.fault = healthy


@in_trouble
def test_store_works_again_when_the_trouble_is_over(path: Path, shim: Shim, fault: Fault, code: str) -> None:
    with opened(path) as client:
        client.enqueue("scan", job_id="before")
        shim.fault = fault
        with raises(code):
            client.enqueue("scan", job_id="during")
        shim.fault = healthy
        client.enqueue("scan", job_id="after")
        client.enqueue("scan", job_id="during")  # it was not there: nothing half done

        assert ids(client) == ["after", "before", "during"]
        assert is_sound(client)


@in_trouble
def test_new_store_in_trouble_is_refused_and_can_be_made_later(path: Path, shim: Shim, fault: Fault, code: str) -> None:
    shim.fault = fault
    with raises(code), opened(path):
        pass
    shim.fault = healthy

    with opened(path) as client:
        assert client.enqueue("scan").state == "queued"
        assert is_sound(client)


@in_trouble
def test_transaction_that_cannot_commit_leaves_nothing(path: Path, shim: Shim, fault: Fault, code: str) -> None:
    with opened(path) as client:
        with client.transaction() as tx:
            tx.execute("create table orders (number integer)")
        with raises(code), client.transaction() as tx:
            tx.execute("insert into orders values (1)")
            client.enqueue("bill", job_id="during", tx=tx)
            shim.fault = fault
        shim.fault = healthy
        with client.transaction() as tx:
            orders = tx.execute("select * from orders")

        assert orders == []
        assert ids(client) == []


def test_large_batch_that_does_not_fit_is_undone_whole(path: Path, shim: Shim) -> None:
    written = 0

    def full_after_a_while(operation: str, name: str) -> Exception | None:
        nonlocal written
        written += operation == "write"
        return full(operation, name) if written > 50 else None

    with opened(path) as client:
        client.enqueue("scan", job_id="before")
        shim.fault = full_after_a_while
        with raises("store_full"):
            client.enqueue_many({"kind": "scan", "payload": "x" * 8000} for _ in range(200))
        shim.fault = healthy

        assert ids(client) == ["before"]
        assert is_sound(client)


@pytest.mark.parametrize("relief", ["space again", "closed without space"])
def test_store_that_fills_up_keeps_all_it_acknowledged_and_goes_on_when_there_is_space(path: Path, relief: str) -> None:
    """A real limit of the system's, which a checkpoint meets first, and then a commit."""
    told = child("fill", path, relief)

    with opened(path) as client:
        assert told["code"] in ("store_full", "store_io")
        assert len(told["acknowledged"]) > 500
        assert set(told["acknowledged"]) <= {job.id for job in every_job(client)}
        assert is_sound(client)
        assert client.enqueue("scan").state == "queued"
