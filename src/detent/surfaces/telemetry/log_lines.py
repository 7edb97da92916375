"""A log record as a line: of text for people, of JSON for machines. Nobody who is logged can forge one.

What is not to be seen, such as line ends, escape codes of terminals and marks that turn text round, is spelled out; and
what must not be seen is left out (`detent.telemetry.redaction`).
"""

import json
import logging
import time
import unicodedata
from datetime import UTC, datetime
from typing import Any, Final

from detent.runtime.faults import Fault
from detent.runtime.log_fields import FAULT, FIELDS, STACK
from detent.telemetry.redaction import Redaction, redacted, redacted_text

# What Python puts on every record. Whatever else is there came by `extra`.
_USUAL: Final = frozenset({*vars(logging.makeLogRecord({})), "message", "asctime", "taskName", *FIELDS, FAULT, STACK})
# Whose messages say it themselves.
_OWN_WORDS: Final = ("detent.worker", "detent.engines", "detent.bus", "detent.http.access")
_MARGIN: Final = "    | "


class TextLines(logging.Formatter):
    """What stands below a line is marked by a margin, so that none of it can be taken for a line of its own."""

    converter = staticmethod(time.gmtime)

    def __init__(self, head: str, when: str, rules: Redaction) -> None:
        super().__init__(head, when)
        self._rules = rules

    def format(self, record: logging.LogRecord) -> str:
        first = logging.makeLogRecord(vars(record))
        first.name, first.args = escaped(record.name), None
        first.msg = escaped(redacted_text(said(record), self._rules)) + _about(record)
        first.exc_info = first.exc_text = first.stack_info = None
        below = redacted_text(_below(self, record), self._rules).splitlines()
        return "\n".join([super().format(first), *(f"{_MARGIN}{escaped(line)}" for line in below)])


class JsonLines(logging.Formatter):
    """One object to a line. `common` are fields that every line of this process has."""

    def __init__(self, common: dict[str, Any], rules: Redaction) -> None:
        super().__init__()
        self._common = common
        self._rules = rules

    def format(self, record: logging.LogRecord) -> str:
        known = {field: vars(record).get(name) for name, field in FIELDS.items()}
        line = {
            "at": _moment(record),
            "level": record.levelname,
            "logger": record.name,
            "message": redacted_text(said(record), self._rules),
            **self._common,
            **{name: value for name, value in known.items() if value is not None},
            "exception": self._exception(record),
            "stack": self._stack(record),
            "fields": redacted(self._extra(record), self._rules),
        }
        kept = {name: value for name, value in line.items() if value not in (None, {})}
        try:
            return self._encoded(kept)
        except ValueError:  # what JSON has no word for, such as NaN, is somewhere in there
            return self._encoded({**kept, "fields": self._shown(kept["fields"])})

    def _encoded(self, line: dict[str, Any]) -> str:
        return json.dumps(line, default=self._shown, allow_nan=False, skipkeys=True)

    def _stack(self, record: logging.LogRecord) -> str | None:
        stack = vars(record).get(STACK) or record.stack_info
        return redacted_text(stack, self._rules) if isinstance(stack, str) else None

    def _exception(self, record: logging.LogRecord) -> dict[str, str] | None:
        fault = vars(record).get(FAULT)
        if isinstance(fault, Fault):
            told = (fault.names[0], fault.message, fault.trace)
        elif record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            told = (type(error).__name__, _text(error), self.formatException(record.exc_info))
        else:
            return None
        return {name: redacted_text(text, self._rules) for name, text in zip(_EXCEPTION, told, strict=True)}

    def _extra(self, record: logging.LogRecord) -> dict[str, Any]:
        return {name: value for name, value in vars(record).items() if name not in _USUAL}

    def _shown(self, value: object) -> str:
        return redacted_text(_text(value), self._rules)


_EXCEPTION: Final = ("type", "message", "stack")


def said(record: logging.LogRecord) -> str:
    """The message, without the code that Detent's own records have at their end for whoever has other lines."""
    fault, stack = vars(record).get(FAULT), vars(record).get(STACK)
    end = fault.trace.rstrip() if isinstance(fault, Fault) else stack
    return record.getMessage().removesuffix(f"\n{end}") if end else record.getMessage()


def escaped(text: str) -> str:
    """With nothing in it that moves a cursor, ends a line, colours a screen or turns text round."""
    return text if text.isprintable() else "".join(map(_spelled, text))


def _spelled(char: str) -> str:
    if char.isprintable():
        return char
    return " " if unicodedata.category(char) == "Zs" else char.encode("unicode_escape").decode()


def _below(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    fault = vars(record).get(FAULT)
    parts = [
        fault.trace if isinstance(fault, Fault) else "",
        vars(record).get(STACK) or "",
        formatter.formatException(record.exc_info) if record.exc_info else record.exc_text or "",
        record.stack_info or "",
    ]
    return "\n".join(part.rstrip() for part in parts if part)


def _about(record: logging.LogRecord) -> str:
    """Which job a handler's own line is about; those of the worker say so themselves."""
    job_id = vars(record).get("job_id")
    if job_id is None or record.name in _OWN_WORDS:
        return ""
    return f" (job {escaped(str(job_id))}, attempt {vars(record).get('job_attempt')})"


def _moment(record: logging.LogRecord) -> str:
    at = datetime.fromtimestamp(record.created, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _text(value: object) -> str:
    """A line is written also where a `__str__` of somebody's own goes wrong."""
    try:
        return str(value)
    except Exception as error:
        return f"<{type(value).__name__}, which cannot be shown: {type(error).__name__}>"
