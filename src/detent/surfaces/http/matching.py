"""The ETag of a job, and what an If-Match says: the revision, and which job of that id. Pure.

After a purge an id can be given to another job, whose revisions are counted from one again. So the moment at which the
job was made stands beside the revision. A bare revision is accepted too, and says no more than that.
"""

import re
from typing import Final

from msgspec import Struct

from detent.errors import InvalidArgument
from detent.kernel.parse import COUNT_MAX

ANY: Final = "*"
PATTERN: Final = r'(W/)?"[0-9]{1,18}(-[0-9a-f]{1,32}(-[0-9a-f]{1,64})?)?"'
_ETAG: Final = re.compile(r'(?:W/)?"?(?P<rev>[0-9]{1,19})(?:-(?P<born>[0-9a-f]{1,32})(?:-[0-9a-f]{1,64})?)?"?')


class Match(Struct, frozen=True):
    """`born`: of the job that was looked at; None, where only the revision was given."""

    rev: int
    born: str | None

    def is_of(self, created_at: int) -> bool:
        return self.born in (None, born_of(created_at))


def etag(rev: int, created_at: int, said: str | None) -> str:
    """`said`: a digest of what was said since, as progress is told of without a revision."""
    parts = [str(rev), born_of(created_at), *([] if said is None else [said])]
    return f'"{"-".join(parts)}"'


def born_of(created_at: int) -> str:
    return f"{created_at:x}"


def match_of(given: str | None) -> Match | None:
    if given is None or given == ANY:
        return None
    found = _ETAG.fullmatch(given)
    if found is None or int(found["rev"]) > COUNT_MAX:
        raise InvalidArgument(f'If-Match is {given[:64]!r}; give the ETag of the job, or its revision: "7"')
    return Match(int(found["rev"]), found["born"])
