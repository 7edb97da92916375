"""Events and notes as readers get them: without the secrets that callers have put into what they said.

What moves jobs is not touched, and no record either: only words that came along with a move are looked through.
"""

from typing import Any

import msgspec

from detent.kernel import Event, Note
from detent.store import Entry
from detent.surfaces.http.live.item import server_sent
from detent.telemetry.redaction import Redaction, redacted, redacted_text
from detent.wire.http.events import EventShape, NoteShape, event_shape, note_shape


class Showing:
    def __init__(self, rules: Redaction) -> None:
        self._rules = rules

    def event(self, event: Event, cursor: str | None = None) -> EventShape:
        payload = None if event.payload is None else redacted(event.payload, self._rules)
        texts = {name: self._text(getattr(event, name)) for name in ("cause", "actor", "request_id")}
        return event_shape(msgspec.structs.replace(event, payload=payload, **texts), cursor)

    def note(self, note: Note) -> NoteShape:
        """An artifact's pointer is what it was registered for, and stays whole."""
        if note.kind == "artifact":
            return note_shape(note)
        shape = note_shape(msgspec.structs.replace(note, payload={**note.payload, **self._cut_short(note)}))
        return msgspec.structs.replace(shape, payload=redacted(shape.payload, self._rules))

    def _text(self, said: str | None) -> str | None:
        return None if said is None else redacted_text(said, self._rules)

    def words(self, said: dict[str, Any]) -> dict[str, Any]:
        """Anything else that was said."""
        shown: dict[str, Any] = redacted(said, self._rules)
        return shown

    def _cut_short(self, note: Note) -> dict[str, bytes]:
        """What is no JSON any more has no fields to go by, and would be handed on in base64 with all that is in it."""
        kept = {name: value for name, value in note.payload.items() if isinstance(value, bytes) and not _is_json(value)}
        return {
            name: redacted_text(value.decode(errors="replace"), self._rules).encode() for name, value in kept.items()
        }

    def server_sent(self, entry: Entry, queue: str | None, kind: str | None) -> bytes:
        return server_sent(msgspec.json.encode(self.event(entry.event, entry.cursor)), entry.cursor)


def _is_json(kept: bytes) -> bool:
    try:
        msgspec.json.decode(kept)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True
