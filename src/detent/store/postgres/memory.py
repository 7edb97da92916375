"""Jobs as they were when this client last wrote them, so that their owner's next move need not read them.

It may be wrong at any time: others write too. What is decided on it is written only if the record still is at that
revision, so that being wrong costs a second look and nothing else.
"""

from collections.abc import Iterable
from typing import Final

from detent.store.postgres.models import Models
from detent.store.postgres.session import Known
from detent.store.postgres.watermarks import Watermarks
from detent.store.request import Key

REMEMBERED_MAX: Final = 8_192
BYTES_MAX: Final = 16_384  # of payload and checkpoint: larger ones are read again


class Memory:
    """Shared by the threads of a store, without a lock: whatever they make of it, what is wrong is not written."""

    def __init__(self) -> None:
        self._known: dict[Key, Known] = {}
        self.watermarks = Watermarks()
        self.models = Models()

    def get(self, key: Key) -> Known | None:
        return self._known.get(key)

    def put(self, written: Iterable[tuple[Key, Known]]) -> None:
        for key, known in written:
            job = known[0]
            if job.phase == "ended" or len(job.spec.payload) + len(job.checkpoint or b"") > BYTES_MAX:
                self._known.pop(key, None)
            else:
                self._known[key] = known
        if len(self._known) > REMEMBERED_MAX:
            self.forget()

    def drop(self, keys: Iterable[Key]) -> None:
        for key in keys:
            self._known.pop(key, None)

    def forget(self) -> None:
        self._known = {}
