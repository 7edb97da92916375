"""The bounds on what may be configured, each with an error that names the value, the bound and the remedy."""

from math import inf
from typing import Final

from detent.errors import InvalidArgument, shown

LEASE_S_MIN: Final = 30.0
LEASE_S_MAX: Final = 120.0
HEARTBEAT_S_MIN: Final = 10.0
HEARTBEAT_S_MAX: Final = 30.0
NAME_CHARS_MAX: Final = 255
NAME_BYTES_MAX: Final = 640  # four of them and their order fit into one entry of an index, in every store
NUMBER_MAX: Final = 1_000_000_000  # in seconds some 31 years: added to any moment it fits every store's column

# Every code of an `InvalidArgument` that a setting can raise, with its meaning.
SETTING_ERRORS: Final = {
    "invalid_argument": "a value of the wrong type, or beyond its bound",
    "lease_out_of_range": f"a lease not of {LEASE_S_MIN:g} to {LEASE_S_MAX:g} s, without allow_unusual_lease",
    "heartbeat_out_of_range": (
        f"heartbeats not {HEARTBEAT_S_MIN:g} to {HEARTBEAT_S_MAX:g} s apart, without allow_unusual_lease"
    ),
    "heartbeat_too_long": "two heartbeats do not fit into a lease",
}


def check_lease(lease_s: float, *, allow_unusual: bool) -> None:
    check_more_than_zero("lease_s", lease_s)
    if not allow_unusual and not LEASE_S_MIN <= lease_s <= LEASE_S_MAX:
        raise InvalidArgument(
            f"lease_s is {lease_s:g}; a lease lasts {LEASE_S_MIN:g} to {LEASE_S_MAX:g} s. "
            "Choose one in the range, or set allow_unusual_lease=True if you mean it",
            code="lease_out_of_range",
        )


def check_heartbeat(heartbeat_s: float, *, lease_s: float, allow_unusual: bool) -> None:
    check_more_than_zero("heartbeat_s", heartbeat_s)
    if heartbeat_s * 2 > lease_s:
        raise InvalidArgument(
            f"heartbeat_s is {heartbeat_s:g} and lease_s {lease_s:g}; two heartbeats must fit into a lease. "
            f"Use heartbeat_s <= {lease_s / 2:g} or a longer lease",
            code="heartbeat_too_long",
        )
    if not allow_unusual and not HEARTBEAT_S_MIN <= heartbeat_s <= HEARTBEAT_S_MAX:
        raise InvalidArgument(
            f"heartbeat_s is {heartbeat_s:g}; heartbeats come every {HEARTBEAT_S_MIN:g} to {HEARTBEAT_S_MAX:g} s. "
            "Choose one in the range, or set allow_unusual_lease=True if you mean it",
            code="heartbeat_out_of_range",
        )


def check_number(name: str, value: object) -> float:
    """Refuse what is not a finite number: NaN passes every comparison, so it would pass every bound."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value or value in (inf, -inf):
        raise InvalidArgument(f"{name} is {shown(value)}; give a finite number")
    if not -NUMBER_MAX <= value <= NUMBER_MAX:
        raise InvalidArgument(f"{name} is beyond {NUMBER_MAX:g}; give a finite number within it")
    return value


def check_whole(name: str, value: object, *, least: int, most: int) -> int:
    """Refuse what is not a whole number in the range. True is none, though Python counts it as 1."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InvalidArgument(f"{name} is {shown(value)}; give a whole number from {least} to {most}")
    return value


def check_name(field: str, value: str, *, bytes_max: int = NAME_BYTES_MAX) -> None:
    """What names something: short, printable, and safe in any store, log and bus subject."""
    if 0 < len(value) <= NAME_CHARS_MAX and value.isprintable():
        if not value.isascii() and not is_short(value, bytes_max):
            raise InvalidArgument(f"{field} takes {len(value.encode())} bytes in UTF-8; a name has at most {bytes_max}")
        return
    if not value:
        raise InvalidArgument(f"{field} is empty; give it a name")
    if len(value) > NAME_CHARS_MAX:
        raise InvalidArgument(f"{field} has {len(value)} characters; a name has at most {NAME_CHARS_MAX}")
    raise InvalidArgument(f"{field} is {value!r}; a name holds printable characters only")


def is_short(name: str, bytes_max: int = NAME_BYTES_MAX) -> bool:
    """Whether printable text can be a name."""
    return len(name) <= NAME_CHARS_MAX and (name.isascii() or len(name.encode()) <= bytes_max)


def check_word(name: str, value: str) -> None:
    """A key of a setting: text that every store and log can keep."""
    if not value.isprintable():
        raise InvalidArgument(f"{name} names {value!r}; use printable characters only")


def check_at_least(name: str, value: float, bound: float) -> None:
    if check_number(name, value) < bound:
        raise InvalidArgument(f"{name} is {value:g}; it must be at least {bound:g}")


def check_more_than_zero(name: str, value: float) -> None:
    if check_number(name, value) <= 0:
        raise InvalidArgument(f"{name} is {value:g}; it must be more than 0")


def check_kind(name: str, value: object, kind: type) -> None:
    if not isinstance(value, kind):
        raise InvalidArgument(f"{name} is {shown(value)}; give a {kind.__name__}")
