"""The journal of a server, one line per event: for people, or as JSON for programs."""

from __future__ import annotations

import json
import logging
import time
from typing import Any

log = logging.getLogger("fuseloom")


def note(event: str, **details: Any) -> None:
    """Write down an event; details are plain data."""
    level = (
        logging.WARNING if event.endswith(("failed", "lost", "fault", "ended")) else logging.INFO
    )
    log.log(level, event, extra={"details": details})


class Text(logging.Formatter):
    """``12:30:01 page_opened page=3``"""

    def format(self, record: logging.LogRecord) -> str:
        details = getattr(record, "details", {})
        parts = [f"{name}={value}" for name, value in details.items()]
        text = " ".join([time.strftime("%H:%M:%S"), record.getMessage(), *parts])
        return f"{text}\n{self.formatException(record.exc_info)}" if record.exc_info else text


class Json(logging.Formatter):
    """One JSON object per line: ``time`` (seconds since 1970), ``level``, ``event``, details."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": round(record.created, 3),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "details", {}),
        }
        if record.name != "fuseloom":
            line["logger"] = record.name
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


def write_to_stderr(as_json: bool) -> None:
    """Send the log to the standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(Json() if as_json else Text())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    log.setLevel(logging.INFO)
