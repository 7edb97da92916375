"""The bounds of a hub. Whatever grows in it has one here."""

from msgspec import Struct


class LiveSettings(Struct, frozen=True, kw_only=True):
    """A reader that is `buffer_max` events or `buffer_bytes_max` behind is cut. `ring_…`: what the hub remembers.

    `specs_max`: of how many jobs it knows queue and kind. `page_max`: events that the tail reads at a time; well below
    `buffer_max`, so that a reader has its turn before its buffer is full. `reads_max`: readers on their own that read
    the store at the same time. `pause_s`: what is written within it is read together.
    """

    ring_max: int = 10_000
    ring_bytes_max: int = 64 * 1024 * 1024
    buffer_max: int = 1_000
    buffer_bytes_max: int = 8 * 1024 * 1024
    specs_max: int = 50_000
    page_max: int = 250
    reads_max: int = 8
    wait_s: float = 30.0  # for the log to grow, at a time
    pause_s: float = 0.01
    linger_s: float = 30.0  # that the tail goes on after its last reader has left
    trouble_s_max: float = 60.0  # that the store may fail before readers are ended, and resume elsewhere
