"""What jobs may be made at all, beside what the arguments' own checks refuse: for whoever lets others make them."""

from typing import Any, Protocol


class Admission(Protocol):
    def check(self, kind: str, payload: Any) -> None:
        """`InvalidArgument`, if no job of this kind is to be made, or none with this payload."""
