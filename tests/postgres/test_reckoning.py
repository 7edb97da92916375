"""What the store's clock says, as far as a client knows without asking: it follows the store, forwards and back."""

from detent.client import connect
from detent.store.postgres.reckoning import Reckoning, monotonic_us
from detent.store.postgres.store import PostgresStore

AHEAD_US = 200_000


def test_nothing_is_known_before_the_store_has_said_something() -> None:
    assert Reckoning().now() is None


def test_time_goes_on_from_what_was_heard_when_it_was_heard() -> None:
    reckoning = Reckoning()
    reckoning.heard(5_000_000, monotonic_us() - 1_000)

    now = reckoning.now()
    assert now is not None
    assert 5_001_000 <= now < 5_500_000


def test_client_that_was_ahead_of_the_store_is_put_right_by_its_next_answer(pg_emptied: str) -> None:
    with connect(pg_emptied) as client:
        client.enqueue("scan")
        store = client.client.store
        assert isinstance(store, PostgresStore)
        reckoning = store._servers[1].connection.reckoning
        said = reckoning.now()
        assert said is not None
        reckoning.heard(said + AHEAD_US, monotonic_us())
        client.enqueue("scan")

        with connect(pg_emptied) as other:
            later = client.enqueue("scan")
            claimed = [job.id for job in other.claim(worker="w", limit=3)]
        assert later.id in claimed  # it is due at once, by the store's own clock
