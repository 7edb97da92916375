"""When a reader and the tail have seen the same: only if it follows from what each has read, and in which order."""

import pytest

from detent.kernel import Event
from detent.store import Entry
from detent.surfaces.http.live.item import Item
from detent.surfaces.http.live.log import Stretch
from detent.surfaces.http.live.meeting import Meeting, arranged
from detent.surfaces.http.live.ring import Ring
from detent.surfaces.http.live.specs import Belonging

DEFAULT = Belonging("default", "scan")


def event(name: str) -> Event:
    return Event(
        tenant="default", job_id=name, rev=1, type="job_enqueued", verb="enqueue", from_state=None, to_state="queued",
        at=1, actor="a", role="client", worker=None, attempt=0, request_id=None, correlation_id=name, trace_id=None,
        cause=None, changes={},
    )  # fmt: skip


def publish(ring: Ring, names: str, *, is_last: bool = True) -> None:
    ring.reads += 1
    ring.add([Item(f"tail:{name}", event(name), DEFAULT, b".") for name in names], f"tail:{names}", is_last=is_last)


def ring_with(names: str, items_max: int = 100) -> Ring:
    ring = Ring("start", items_max=items_max, bytes_max=1_000)
    publish(ring, names)
    return ring


def met(ring: Ring, read: str) -> Meeting:
    """What a reader has read after it was arranged."""
    meeting = arranged(ring, 0)
    assert meeting is not None
    meeting.has_read(Stretch([(Entry(f"own:{name}", event(name)), DEFAULT) for name in read], "own", is_last=True))
    return meeting


@pytest.mark.parametrize(
    ("read", "published_next", "position"),
    [
        ("", "", 2),
        ("ab", "", 2),
        ("ab", "xyz", 2),
        ("x", "", None),
        ("x", "x", 3),
        ("bx", "xy", 3),
        ("xy", "x", None),
        ("xy", "yx", 4),
        ("xy", "yxz", 4),
        ("x", "zx", None),
        ("xy", "xzy", None),
    ],
)
def test_reader_goes_on_where_the_tail_has_published_all_it_has_read_and_nothing_else(
    read: str, published_next: str, position: int | None
) -> None:
    ring = ring_with("ab")
    meeting = met(ring, read)
    publish(ring, published_next)

    assert meeting.position() == position
    assert meeting.position() == position  # however often it is asked


def test_it_may_take_the_tail_several_reads() -> None:
    ring = ring_with("ab")
    meeting = met(ring, "xy")
    positions = []
    for name in "xyz":
        publish(ring, name)
        positions.append(meeting.position())

    assert positions == [None, 4, 4]


def test_what_has_left_the_ring_is_not_guessed() -> None:
    ring = ring_with("abcd", items_max=2)
    forgotten, in_time = met(ring, "a"), met(ring, "x")
    publish(ring, "xyz")

    assert (forgotten.position(), in_time.position()) == (None, None)


def test_nobody_meets_a_tail_that_has_not_come_to_the_end_since() -> None:
    ring = ring_with("ab")
    before = ring.reads
    publish(ring, "c", is_last=False)

    assert arranged(ring, before) is None
    publish(ring, "d")
    assert arranged(ring, before) is not None


def test_job_that_has_the_id_of_a_purged_one_is_another() -> None:
    ring = ring_with("ab")
    meeting = arranged(ring, 0)
    assert meeting is not None
    again = Event(**{name: getattr(event("a"), name) for name in Event.__struct_fields__} | {"at": 2})
    meeting.has_read(Stretch([(Entry("own", again), DEFAULT)], "own", is_last=True))

    assert meeting.position() is None
