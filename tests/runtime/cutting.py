"""A store that can be cut off, or lose its answers, on a worker's way to it."""

from typing import Any

import detent
from detent.client.connecting import Connecting


class Cut:
    """`is_cut`: nothing gets through. `loses_…`: so many calls are carried out, and nobody hears of it."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.is_cut = False
        self.loses_answers = 0
        self.loses_claims = 0

    def connect(self) -> Connecting:
        connecting = detent.connect(self._url)
        store: Any = connecting.store
        for name in ("apply", "claim"):
            setattr(
                store, name, self._through(getattr(store, name), "loses_answers" if name == "apply" else "loses_claims")
            )
        return connecting

    def _through(self, call: Any, loses: str) -> Any:
        async def through(*args: Any, **kwargs: Any) -> Any:
            if self.is_cut:
                raise detent.StoreError("the store is out of reach", code="store_unavailable")
            answer = await call(*args, **kwargs)
            if answer and getattr(self, loses):
                setattr(self, loses, getattr(self, loses) - 1)
                raise detent.StoreError("the answer was lost", code="outcome_unknown")
            return answer

        return through
