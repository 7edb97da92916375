"""The arithmetic of places in the log, without a server: every history of transactions, every way of reading it."""

from collections.abc import Sequence
from random import Random
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.errors import InvalidArgument
from detent.store.postgres.cursor import Late, Place, Present, place_of, present_of
from detent.store.postgres.log import Reading
from detent.store.query import NUMBER_MAX

STEPS: Final = 120


class World:
    """Transactions that take their numbers, write and end in any order, as a server has them."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self.next = 700
        self.ended = {699}
        self.open: list[int] = []
        self.committed: dict[int, int] = {}  # event → transaction
        self._written: dict[int, int] = {}

    def step(self) -> None:
        what = self._random.choice(("begin", "write", "write", "write", "end"))
        if what == "begin" or not self.open:
            self.open.append(self.next)
            self.next += self._random.choice((1, 1, 3))  # some have savepoints, which take numbers too
        elif what == "write":
            self._written[len(self._written) + 1] = self._random.choice(self.open)
        else:
            self.end(self._random.choice(self.open))

    def end(self, transaction: int) -> None:
        self.open.remove(transaction)
        self.ended.add(transaction)
        if self._random.random() < 0.8:
            self.committed |= {seq: by for seq, by in self._written.items() if by == transaction}

    def read(self, place: Place, limit: int) -> Reading:
        """What the statement answers from this place."""
        seen_later = [
            seq
            for seq, by in self.committed.items()
            if seq > place.seq or any(late.first <= by <= late.last and seq > late.low for late in place.late)
        ]
        page = sorted(seen_later)[:limit]
        last = max(self.committed, default=0)
        until = page[-1] if len(page) == limit else last
        missing = until - place.seq - sum(place.seq < seq <= until for seq in self.committed)
        end = max(self.ended) + 1
        snapshot = f"{min([*self.open, end])}:{end}:{','.join(str(each) for each in self.open if each < end)}"
        head = (snapshot, self.next, last, missing if until > place.seq else None)
        rows = [(*head, seq, *_event(seq)) for seq in page]
        return Reading(place, rows or [(*head, None)], limit)


def _event(seq: int) -> Sequence[Any]:
    return ("default", "a", seq, "t", "v", None, "s", 0, "", "", None, 0, None, None, None, None, "{}", None, 1)


@given(seed=st.integers(0, 2**32))
def test_each_event_is_read_once_whoever_is_under_way(seed: int) -> None:
    random = Random(seed)
    world, cursor, seen = World(random), "0", list[int]()
    for step in range(STEPS + 2):
        world.step()
        while step >= STEPS and world.open:  # at last all of them end
            world.end(world.open[0])
        if step < STEPS and random.random() < 0.7:
            continue
        limit = STEPS * STEPS if step >= STEPS else random.choice((1, 2, 5, 100))
        reading = world.read(place_of(cursor), limit)
        entries = reading.entries()
        kept = entries if random.random() < 0.7 or step >= STEPS else entries[: random.randint(0, len(entries))]
        seen += [entry.event.rev for entry in kept]
        is_whole = len(kept) == len(entries) and not reading.is_full
        cursor = reading.cursor(reading.last) if is_whole else kept[-1].cursor if kept else cursor

    assert sorted(seen) == sorted(world.committed)


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(0, 5), st.integers(0, 99)), max_size=9))
def test_cursor_is_read_as_it_was_written(steps: list[tuple[int, int, int]]) -> None:
    late, before = [], 0
    for distance, more, low in steps:
        late.append(Late(before + distance, before + distance + more, low))
        before = late[-1].last
    place = Place(100, tuple(late))

    assert place_of(place.text) == place


def test_place_that_nothing_can_come_before_is_a_number() -> None:
    busy = present_of("700:705:700,703", 706)

    assert Place(3).after(9, busy, has_gaps=False).text == "9"
    assert Place(3).after(9, present_of("706:706:", 706), has_gaps=True).text == "9"


def test_place_names_what_is_under_way_below_and_above_the_snapshot() -> None:
    place = Place(3).after(9, Present(705, (700, 703), 707), has_gaps=True)
    later = place.after(20, Present(708, (703, 707), 708), has_gaps=True)

    assert place.text == "9~3:700-3-2+1"
    assert later.text == "20~3:703-4.6"


def test_cursor_of_a_hundred_under_way_is_short() -> None:
    place = Place(10**9).after(10**9 + 50, Present(10**9, tuple(range(10**9 - 300, 10**9, 3)), 10**9), has_gaps=True)

    assert len(place.text) < 255


@pytest.mark.parametrize(
    "cursor",
    [
        "", "x", "-1", "1.5", "1~", "1~2", "1~2:", "1~2:0", "1~2:03", "1~2:3-0", "1~2:3+0", "1~2:3.0", "1~2:3-4.",
        "~2:3", "1~2:3~2:4", "1~2:3 ", "1~2:3\n", "\u0661~2:3", "1~2:+3", "1~2:3--4",
        str(NUMBER_MAX + 1), f"{NUMBER_MAX + 1}~2:3", f"1~2:{NUMBER_MAX + 1}",
        f"1~2:{NUMBER_MAX}-1", f"1~2:3+{NUMBER_MAX}", f"1~{NUMBER_MAX + 1}:3",
        f"1~2:3-1.{NUMBER_MAX}", "1~02:3", "01~2:3",
    ],
)  # fmt: skip
def test_what_no_listing_returned_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        place_of(cursor)

    assert caught.value.code == "bad_cursor"


def test_transaction_that_this_server_never_gave_out_has_ended() -> None:
    """A cursor from before a restore elsewhere: what it names is read once, and named no more."""
    place = place_of("120~90:7480")
    present = Present(until=700, under_way=(), next=702)

    assert [(part.first, part.last) for part in present.ended_parts(place.late[0])] == [(7480, 7480)]
    assert place.after(130, present, has_gaps=False) == Place(130)
