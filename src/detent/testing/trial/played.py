"""What a drain did: one line for each attempt."""

from msgspec import Struct


class Played(Struct, frozen=True):
    """One attempt at a job. `came_to`: success, failure, cancelled, retried, released, lost or crashed."""

    job_id: str
    kind: str
    attempt: int
    came_to: str
