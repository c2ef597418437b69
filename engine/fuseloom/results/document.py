"""The JSON documents of the engine's results: each says what it is and of which version.

Every command's ``--json`` prints one of them.  Each kind is declared once
(:mod:`fuseloom.results.declarations`), and :func:`fuseloom.results.schema` makes its JSON Schema of
that.  A declaration names every key, so whatever changes in a document raises the version of its
kind; readers refuse versions they do not know.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any

from fuseloom.errors import RecordError


class DocumentKind(Enum):
    """The subject of a document."""

    COMPILATION = "compilation"
    EXPORT = "export"
    ESTIMATE = "estimate"
    RUN = "run"
    RUNS = "runs"
    UPKEEP = "upkeep"
    ORDERS = "orders"
    SWEEP = "sweep"
    AUTOSCHEDULE = "autoschedule"
    CODESIGN = "codesign"
    WHY = "why"
    WHAT_IF = "what-if"
    FIGURES = "figures"
    MODELS = "models"
    MACHINE = "machine"
    WARMUP = "warmup"
    CONFORMANCE = "conformance"
    DATA = "data"
    COMPARISON = "comparison"
    CONVERSIONS = "conversions"
    CONTRACTION = "contraction"
    ACCESS = "access"
    CALLS = "calls"
    STITCH = "stitch"
    STITCH_TIMES = "stitch-times"
    RTL = "rtl"
    DOCTOR = "doctor"
    NOTEBOOKS = "notebooks"
    ERROR = "error"


VERSIONS: Mapping[DocumentKind, int] = MappingProxyType(
    {
        **dict.fromkeys(DocumentKind, 1),
        DocumentKind.COMPILATION: 2,
        DocumentKind.ERROR: 3,
        DocumentKind.ESTIMATE: 5,
        DocumentKind.MACHINE: 3,
        DocumentKind.ORDERS: 2,
        DocumentKind.RUN: 6,
        DocumentKind.RUNS: 2,
        DocumentKind.WHAT_IF: 2,
    }
)
"""The version of each kind that is written and read."""

OLDER: Mapping[DocumentKind, frozenset[int]] = MappingProxyType(
    {DocumentKind.RUN: frozenset({3, 4, 5})}  # had no energy; no terms of it; no area
)
"""Versions of each kind that are read besides, and made as the latest has them."""


DECLARED: Mapping[DocumentKind, str] = MappingProxyType(
    {
        **{
            kind: f"fuseloom.cli.documents:{kind.value.title().replace('-', '')}Document"
            for kind in DocumentKind
        },
        DocumentKind.RUN: "fuseloom.results.record:RunRecord",
        DocumentKind.DATA: "fuseloom.cli.data_documents:DataDocument",
        DocumentKind.COMPARISON: "fuseloom.comparison.rows:Comparison",
        DocumentKind.CONVERSIONS: "fuseloom.comparison.conversions:Conversions",
        DocumentKind.ACCESS: "fuseloom.cli.access_documents:AccessDocument",
        DocumentKind.CALLS: "fuseloom.cli.calls_documents:CallsDocument",
        DocumentKind.STITCH: "fuseloom.cli.stitch_documents:StitchDocument",
        DocumentKind.RTL: "fuseloom.cli.rtl_documents:RtlDocument",
        DocumentKind.STITCH_TIMES: "fuseloom.cli.stitch_documents:StitchTimesDocument",
    }
)
"""Where the content of each kind is declared."""


def document(kind: DocumentKind, content: Mapping[str, Any]) -> dict[str, Any]:
    """The content as a document: with what it is and of which version."""
    return {"fuseloom": kind.value, "version": VERSIONS[kind], **content}


def content_of(kind: DocumentKind, data: Any) -> dict[str, Any]:
    """The content of a document of that kind.

    Raises
    ------
    RecordError
        If it is another document, or of another version.
    """
    if not isinstance(data, dict) or data.get("fuseloom") != kind.value:
        raise RecordError(f"not a fuseloom {kind.value} record")
    version = data.get("version")
    if type(version) is not int or version not in (VERSIONS[kind], *OLDER.get(kind, ())):
        raise RecordError(
            f"a {kind.value} record of version {str(version)[:20]}, not {VERSIONS[kind]}",
            hint="make it again with this version of Fuseloom",
        )
    return {name: value for name, value in data.items() if name not in ("fuseloom", "version")}


def to_text(data: Mapping[str, Any]) -> str:
    """A document as one line of JSON, which knows no infinity."""
    return json.dumps(data, allow_nan=False)


def from_text(text: str) -> Any:
    """Return the contents of JSON text.

    Raises
    ------
    RecordError
        If it is no JSON; NaN and infinities are none.
    """
    try:
        return json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError) as problem:
        reason = " ".join(str(problem).split())[:200]
        raise RecordError(f"malformed JSON: {reason}") from None


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no number")


def finite(value: float) -> float | None:
    """A number as JSON has it: None where it is infinite or none."""
    return value if math.isfinite(value) else None


def plain(value: Any) -> Any:
    """The same as JSON gives it back: lists for tuples, None for what is no finite number.

    Records and enums become what they are in JSON.
    """
    match value:
        case str() | int() | None:  # most are
            return value
        case Mapping():
            return {name: plain(inner) for name, inner in value.items()}
        case list() | tuple():
            return [plain(inner) for inner in value]
        case float():
            return finite(value)
        case Enum():
            return value.value
    return value.to_dict() if hasattr(value, "to_dict") else value
