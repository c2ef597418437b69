"""Results: what every method reports of a run, how it is judged, and the records it leaves."""

from fuseloom.results.area import AreaUse
from fuseloom.results.check import TOLERANCE, Against, Check, relative_error
from fuseloom.results.document import VERSIONS, DocumentKind, document
from fuseloom.results.energy import EnergyUse
from fuseloom.results.estimate import EstimateTotals, RegionTotals
from fuseloom.results.record import DataSource, MachineId, RegionRecord, RunRecord
from fuseloom.results.schemas import schema
from fuseloom.results.work import Work

__all__ = [
    "TOLERANCE",
    "VERSIONS",
    "Against",
    "AreaUse",
    "Check",
    "DataSource",
    "DocumentKind",
    "EnergyUse",
    "EstimateTotals",
    "MachineId",
    "RegionRecord",
    "RegionTotals",
    "RunRecord",
    "Work",
    "document",
    "relative_error",
    "schema",
]
