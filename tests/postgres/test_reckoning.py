"""What the store's clock says, as far as a client knows without asking: it follows the store, forwards and back."""

from detent.client import connect
from detent.store.postgres.reckoning import HEARD_MAX, LATE_US, Reckoning, monotonic_us
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


def test_of_the_last_few_answers_the_one_counts_that_was_heard_soonest() -> None:
    reckoning = Reckoning()
    base = monotonic_us()
    for late_us in (0, 900, 2_000):
        reckoning.heard(base - late_us, base)

    now = reckoning.now()
    assert now is not None
    assert now - monotonic_us() > -500

    for _ in range(HEARD_MAX):
        reckoning.heard(base - 2_000, base)
    now = reckoning.now()
    assert now is not None
    assert -2_500 < now - monotonic_us() <= -2_000


def test_clock_that_was_put_back_is_not_just_late() -> None:
    reckoning = Reckoning()
    reckoning.heard(50_000_000, 0)
    reckoning.heard(50_000_000 - LATE_US - 1, 0)

    now = reckoning.now()
    assert now is not None
    assert now <= 50_000_000 - LATE_US - 1 + monotonic_us()


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
