"""One of several writers that want the file at once: single verbs, one after the other, until the time is over."""

import time

from msgspec import Struct

import detent
from tests.store.processes.programs.speaking import given, hear, tell


class Given(Struct):
    url: str


asked = given(Given)
with detent.connect(asked.url) as client:
    tell(here=True)
    heard = hear()
    time.sleep(max(heard["from_s"] - time.monotonic(), 0))
    commits, longest_s, now_s = 0, 0.0, time.monotonic()
    while now_s < heard["until_s"]:
        client.enqueue("k", {"number": commits})
        before_s, now_s = now_s, time.monotonic()
        commits, longest_s = commits + 1, max(longest_s, now_s - before_s)
tell(commits=commits, longest_s=longest_s)
