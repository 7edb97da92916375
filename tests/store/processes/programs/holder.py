"""A process with a transaction of its own, which it keeps open until it is told to commit. A test pauses it inside."""

from msgspec import Struct

import detent
from tests.store.processes.programs.speaking import given, hear, tell


class Given(Struct):
    url: str


asked = given(Given)
with detent.connect(asked.url) as client:
    with client.transaction() as tx:
        job = client.enqueue("held", job_id="held", tx=tx)
        tell(inside=True)
        hear()
    tell(committed=job.id)
