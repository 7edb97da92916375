"""How large anything read from a wire may be, as types: msgspec checks them while it decodes."""

from typing import Annotated, Final

from msgspec import Meta

from detent.kernel.parse import ENV_ENTRIES_MAX
from detent.lifecycle.bounds import NAME_CHARS_MAX

MESSAGE_BYTES_MAX: Final = 1_048_576
POINTER_CHARS_MAX: Final = 8_192
TEXT_CHARS_MAX: Final = 16_384
COUNT_MAX: Final = 2**53 - 1  # the largest whole number that every JSON reader keeps exact
# Text that every store can keep: PostgreSQL refuses a NUL, and half of a surrogate pair has no UTF-8.
_STORABLE: Final = r"^[^\x00\ud800-\udfff]*\Z"

Name = Annotated[str, Meta(min_length=1, max_length=NAME_CHARS_MAX)]
Text = Annotated[str, Meta(max_length=TEXT_CHARS_MAX, pattern=_STORABLE)]
# A pointer is opaque: bounded, storable, and otherwise whatever its owner wrote. Nothing here looks inside.
Pointer = Annotated[str, Meta(max_length=POINTER_CHARS_MAX, pattern=_STORABLE)]
Count = Annotated[int, Meta(ge=0, le=COUNT_MAX)]
Env = Annotated[dict[Name, Text], Meta(max_length=ENV_ENTRIES_MAX)]


def clip(text: str, chars_max: int = TEXT_CHARS_MAX) -> str:
    """What is written stays within what can be read back."""
    return text[:chars_max]
