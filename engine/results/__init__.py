"""Results: what every method reports of a run, how it is judged, and the records it leaves."""

from engine.results.check import TOLERANCE, Against, Check, relative_error
from engine.results.document import VERSIONS, Kind, document, schema
from engine.results.estimate import Estimate, RegionTotals
from engine.results.record import DataSource, MachineId, RegionRecord, RunRecord
from engine.results.work import Work

__all__ = [
    "TOLERANCE",
    "VERSIONS",
    "Against",
    "Check",
    "DataSource",
    "Estimate",
    "Kind",
    "MachineId",
    "RegionRecord",
    "RegionTotals",
    "RunRecord",
    "Work",
    "document",
    "relative_error",
    "schema",
]
