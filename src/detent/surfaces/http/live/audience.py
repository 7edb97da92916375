"""Who listens to a tail: readers by what they listen for, so that an event costs as much as it has hearers."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Protocol

from detent.surfaces.http.live.filters import Feature, Filters, features_of
from detent.surfaces.http.live.item import Item


class Hearer(Protocol):
    @property
    def filters(self) -> Filters: ...

    def hear(self, item: Item) -> None: ...


class Audience:
    def __init__(self) -> None:
        self._hearers: defaultdict[Feature, dict[Hearer, None]] = defaultdict(dict)

    def enter(self, hearer: Hearer) -> None:
        self._hearers[hearer.filters.leading][hearer] = None

    def leave(self, hearer: Hearer) -> None:
        """Also if it has never entered."""
        feature = hearer.filters.leading
        if feature in self._hearers:
            self._hearers[feature].pop(hearer, None)
            if not self._hearers[feature]:
                del self._hearers[feature]

    def tell(self, item: Item) -> None:
        for hearer in list(self._meant(item)):  # one of them may leave over it
            hearer.hear(item)

    def _meant(self, item: Item) -> Iterator[Hearer]:
        for feature in features_of(item.event, item.belonging):
            for hearer in self._hearers.get(feature, ()):
                if hearer.filters.match(item.event, item.belonging):
                    yield hearer
