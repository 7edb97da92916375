"""Subjects of the bus: those of the protocol, those of the outbox, and which topics are pools of this bus. Pure."""

import re
from collections.abc import Sequence
from itertools import permutations
from typing import Final

from detent.errors import InvalidArgument

SUBMIT: Final = "sys.job.submit"
RESULT: Final = "sys.job.result"
PROGRESS: Final = "sys.job.progress"
CANCEL: Final = "sys.job.cancel"
HEARTBEAT: Final = "sys.heartbeat"
HANDSHAKE: Final = "sys.handshake"
ALERT: Final = "sys.alert"
# What is kept for as long as nobody has dealt with it. Heartbeats are news; an old one is none.
TAKEN_IN: Final = (SUBMIT, RESULT, PROGRESS, CANCEL)
SYSTEM: Final = "sys"

_TOKEN: Final = re.compile(r"[^\s.*>\x00-\x20\x7f]+")
_RESERVED: Final = ("sys", "worker")  # the protocol's own


class Topics:
    """Patterns such as `job.>`: whatever begins with `job.` is a pool's topic, and nothing else is published to."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self.roots = tuple(_root(pattern) for pattern in dict.fromkeys(patterns))
        _check_apart(self.roots)

    def __contains__(self, topic: str) -> bool:
        return is_subject(topic) and any(topic.startswith(f"{root}.") for root in self.roots)

    def root_of(self, topic: str) -> str:
        """Of one of them."""
        return next(root for root in self.roots if topic.startswith(f"{root}."))

    def check(self, topic: str) -> str:
        if topic not in self:
            served = ", ".join(f"{root}.>" for root in self.roots)
            raise InvalidArgument(f"topic {topic[:64]!r} is no pool of this bus; use one of {served}", code="bad_topic")
        return topic


def is_subject(text: str) -> bool:
    """Whether it names one subject: tokens with dots between them, without wildcards."""
    return all(_TOKEN.fullmatch(token) for token in text.split("."))


def _check_apart(roots: Sequence[str]) -> None:
    """Each has a stream of its own, and no message may be in two."""
    for one, other in permutations(roots, 2):
        if other.startswith(f"{one}."):
            raise InvalidArgument(f"topics has '{other}.>', which is in '{one}.>'; leave it out", code="bad_topic")
        if one.replace(".", "-") == other.replace(".", "-"):
            raise InvalidArgument(f"topics has '{one}.>' and '{other}.>', too much alike; use one", code="bad_topic")


def _root(pattern: str) -> str:
    root = pattern.removesuffix(".>")
    if root == pattern or not is_subject(root):
        raise InvalidArgument(
            f"topics has {pattern[:64]!r}; give the beginning and '.>', such as 'job.>'", code="bad_topic"
        )
    if root.split(".")[0] in _RESERVED or root.startswith("$"):
        raise InvalidArgument(
            f"topics has {pattern[:64]!r}, which belongs to the bus itself; use another", code="bad_topic"
        )
    return root
