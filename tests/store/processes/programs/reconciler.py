"""One of several reconcilers: does what time demands, in small batches, until nothing is left."""

from msgspec import Struct

import detent
from tests.store.processes.programs.speaking import given, hear, tell


class Given(Struct):
    url: str
    limit: int


asked = given(Given)
with detent.connect(asked.url) as client:
    tell(here=True)
    hear()
    batches = []
    while moved := client.reconcile(limit=asked.limit):
        batches.append(moved)
tell(moved=sum(batches), batches=len(batches))
