"""Log lines of a process: Python's own logging to stderr, set up only if the program has not done so itself."""

import logging
import os
from typing import Final, Literal

from msgspec import Struct

from detent.runtime.log_fields import FIELDS, current_fields
from detent.surfaces.telemetry.log_lines import JsonLines, TextLines
from detent.telemetry.redaction import Redaction
from detent.telemetry.tracing import current_trace_id

NAME: Final = "detent.worker"
LogFormat = Literal["text", "json"]
REDACT: Final = "DETENT_REDACT"


class LogSettings(Struct, frozen=True, kw_only=True):
    """For a person the time of day is enough; a file is read later. Of several processes each says which it is."""

    format: LogFormat = "text"
    worker: str | None = None
    is_watched: bool = False
    is_one_of_several: bool = False
    redact: str | None = None  # as $DETENT_REDACT has it, if nobody says so otherwise


class JobFields(logging.Filter):
    """On every record that a handler's code writes, whichever logger it has: which job it is about."""

    def filter(self, record: logging.LogRecord) -> bool:
        known = vars(record)
        if "job_id" not in known:
            known.update(current_fields())
        if known.get("job_trace_id") is None:
            known["job_trace_id"] = current_trace_id()
        return True


def set_up_logs(settings: LogSettings) -> bool:
    """Whether it was for us to do."""
    root = logging.getLogger()
    if root.handlers:
        if settings.format != "text":
            logging.getLogger(NAME).warning("the program sets up its own logs, so they are not written as JSON")
        return False
    handler = logging.StreamHandler()
    handler.setFormatter(formatter_of(settings, Redaction.of(settings.redact or os.environ.get(REDACT))))
    handler.addFilter(JobFields())
    root.addHandler(handler)
    if root.level == logging.WARNING:  # as it is by itself
        root.setLevel(logging.INFO)
    return True


def formatter_of(settings: LogSettings, rules: Redaction) -> logging.Formatter:
    if settings.format == "json":
        process = {"process": os.getpid()} if settings.is_one_of_several else {}
        worker = {} if settings.worker is None else {FIELDS["job_worker"]: settings.worker}
        return JsonLines({**process, **worker}, rules)
    process_id = " [%(process)d]" if settings.is_one_of_several else ""
    watched = ("%(asctime)s", "%H:%M:%S")
    form, when = watched if settings.is_watched else ("%(asctime)s.%(msecs)03dZ", "%Y-%m-%dT%H:%M:%S")
    return TextLines(f"{form} %(levelname)s{process_id} %(name)s: %(message)s", when, rules)
