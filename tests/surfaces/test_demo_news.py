"""What a demo tells of events, in words; and what becomes of a killed worker's jobs, step by step."""

from collections.abc import Iterator

import pytest

from detent.client import Client, Codec, SyncClient
from detent.lifecycles import BUILT_IN
from detent.surfaces.cli.demo.child import Told
from detent.surfaces.cli.demo.director import Blow
from detent.surfaces.cli.demo.news import News, headline_of, headline_of_told
from detent.surfaces.cli.demo.rescue import Rescue
from detent.testing import MemoryStore, VirtualClock

BUSY = {"type": "TransientError", "message": "busy"}
LEASE_S = 60


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def client(clock: VirtualClock) -> Iterator[SyncClient]:
    lifecycles = tuple(BUILT_IN.values())
    client = SyncClient(Client(MemoryStore(clock=clock), tenant="default", codec=Codec(), lifecycles=lifecycles))
    client.open()
    yield client
    client.close()


def words_of(client: SyncClient, job_id: str) -> list[str]:
    lifecycle = BUILT_IN[client.get(job_id).lifecycle]
    headlines = [headline_of(event, lifecycle) for event in client.history(job_id)]
    return [headline[2] for headline in headlines if headline is not None]


def test_a_failure_that_goes_round_again_is_told_with_its_cause(client: SyncClient) -> None:
    client.enqueue("k", job_id="j")
    client.claim(worker="w1", start=True)
    client.fail("j", worker="w1", attempt=1, error=BUSY)

    assert words_of(client, "j") == ["j (standard) failed and goes round again: TransientError: busy"]


def test_a_hold_and_its_approval_are_told(client: SyncClient) -> None:
    client.enqueue("k", job_id="j", lifecycle="dispatch")
    client.schedule("j", verdict="hold", rule="four-eyes")
    client.approve("j", actor="ann")

    assert words_of(client, "j") == [
        "the policy's verdict on j (dispatch) is 'hold', by its rule four-eyes",
        "operator ann approved j (dispatch), which the policy held",
    ]


def test_a_denial_names_who_denied(client: SyncClient) -> None:
    for job_id, verdict in (("a", "deny"), ("b", "hold")):
        client.enqueue("k", job_id=job_id, lifecycle="dispatch")
        client.schedule(job_id, verdict=verdict, rule="four-eyes")
    client.deny("b", actor="ann", role="operator")

    assert words_of(client, "a") == ["the policy denied a (dispatch) by its rule four-eyes"]
    assert words_of(client, "b")[-1] == "operator ann denied b (dispatch), which the policy held"


def test_a_cancel_is_told_by_how_it_came_about(client: SyncClient) -> None:
    for job_id in ("soft", "hard", "queued"):
        client.enqueue("k", job_id=job_id)
        if job_id != "queued":
            client.claim(worker="w1", start=True)
        client.cancel(
            job_id, mode="hard" if job_id == "hard" else "soft", actor="ann", role="operator", reason="enough"
        )
    client.cancel("soft", worker="w1", attempt=1)

    assert words_of(client, "soft") == [
        "operator ann asked for soft (standard) to stop: enough",
        "w1 stopped soft (standard) within its grace, as asked",
    ]
    assert words_of(client, "hard") == ["operator ann cancelled hard (standard) at once, while it ran"]
    assert words_of(client, "queued") == ["operator ann cancelled queued (standard) before anybody had it"]


def test_what_is_not_in_the_log_is_told_by_whom_it_happened_to() -> None:
    late = headline_of_told(Told("late", "w1", "j", "not_owner"))
    repeat = headline_of_told(Told("again", "gateway", "j", "repeat"))
    duplicate = headline_of_told(Told("again", "gateway", "j", "duplicate"))
    misread = headline_of_told(Told("misread", "w1", "j", "stale_rev"))

    assert late is not None
    assert "too late, refused, kept as a note" in late[2]
    assert repeat is not None
    assert "by its request id: answered" in repeat[2]
    assert duplicate is not None
    assert "by its dedupe key: answered" in duplicate[2]
    assert misread is not None
    assert "refused (stale_rev)" in misread[2]


def test_only_the_first_of_a_kind_is_told() -> None:
    news = News()
    news.add_first(1.0, ("retry", "", "one"))
    news.add_first(2.0, ("retry", "", "two"))
    news.add_first(3.0, None)

    assert [(item.at_s, item.text) for item in news.items] == [(1.0, "one")]


def test_a_rescue_is_told_until_the_last_job_has_ended(client: SyncClient, clock: VirtualClock) -> None:
    client.enqueue("k", job_id="saved")
    client.enqueue("k", job_id="lost", lifecycle="engine")
    held = client.claim(worker="w1", limit=2, start=True)
    rescue, cursor = Rescue(Blow("w1", 4711, held)), client.events().cursor
    clock.pass_s(LEASE_S)  # w1 is not heard of again
    client.reconcile()
    (job,) = client.claim(worker="w2", start=True)
    client.complete(job.id, worker="w2", attempt=2)

    told = [
        text
        for event in client.events(cursor=cursor)
        for text in rescue.follow(event, BUILT_IN[client.get(event.job_id).lifecycle])
    ]

    assert told == [
        "the reconciler took w1's 2 jobs away: 1 go round again, 1 end, as their lifecycles declare",
        "w2 goes on with saved: attempt 2",
        "recovered: others have ended what w1 left behind",
    ]
