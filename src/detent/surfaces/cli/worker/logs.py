"""Log lines of a worker: Python's own logging to stderr, set up only if the program has not done so itself."""

import logging
import time
from typing import Final

NAME: Final = "detent.worker"


class _Utc(logging.Formatter):
    converter = staticmethod(time.gmtime)


def set_up_logs(*, is_watched: bool, is_one_of_several: bool) -> None:
    """For a person the time of day is enough; a file is read later. Of several processes each says which it is."""
    root = logging.getLogger()
    if root.handlers:
        return
    process = " [%(process)d]" if is_one_of_several else ""
    when, form = ("%H:%M:%S", "%(asctime)s") if is_watched else ("%Y-%m-%dT%H:%M:%S", "%(asctime)s.%(msecs)03dZ")
    handler = logging.StreamHandler()
    handler.setFormatter(_Utc(f"{form} %(levelname)s{process} %(name)s: %(message)s", when))
    root.addHandler(handler)
    if root.level == logging.WARNING:  # as it is by itself
        root.setLevel(logging.INFO)
