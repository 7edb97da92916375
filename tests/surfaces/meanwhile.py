"""What others do on a store while a command waits for it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread

from detent.client import SyncClient
from tests.surfaces.running import BROKEN, Site

Deed = Callable[[SyncClient, str], object]
PATIENCE_S = 30.0


@contextmanager
def meanwhile(site: Site, deed: Deed, *, verb: str = "enqueue") -> Iterator[None]:
    """When the next event of this verb is on the record, do something with its job."""
    failures: list[BaseException] = []
    with site.client() as client:
        end = client.end()

        def watch() -> None:
            try:
                event = next(client.tail(after=end, timeout_s=PATIENCE_S, verb=verb))
                deed(client, event.job_id)
            except BaseException as error:
                failures.append(error)

        thread = Thread(target=watch)
        thread.start()
        yield
        thread.join()
    assert failures == []


def run(client: SyncClient, job_id: str) -> None:
    client.claim(worker="w1", start=True)


def complete(client: SyncClient, job_id: str) -> None:
    run(client, job_id)
    client.complete(job_id, worker="w1", attempt=1, result={"pages": 3})


def fail(client: SyncClient, job_id: str) -> None:
    run(client, job_id)
    client.fail(job_id, worker="w1", attempt=1, error=BROKEN)


def cancel(client: SyncClient, job_id: str) -> None:
    client.cancel(job_id)
