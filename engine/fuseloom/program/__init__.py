"""Programs: takes program text; gives tensors, formats and einsum statements, their printed form,
the storage of data in those formats, statistics, and the dense meaning of it all."""

from fuseloom.program.blocking import Blocking, block_program, blocking
from fuseloom.program.formats import Format, LevelFormat
from fuseloom.program.functions import Op
from fuseloom.program.inputs import check_data, made_tensor
from fuseloom.program.levels import CompressedLevel, DenseLevel, SingletonLevel
from fuseloom.program.parser import parse
from fuseloom.program.printer import print_program
from fuseloom.program.reference import evaluate
from fuseloom.program.serialize import program_from_json, program_to_json
from fuseloom.program.sparse_reference import Masked
from fuseloom.program.storage import StoredTensor
from fuseloom.program.stored_views import resolve_view, view_key
from fuseloom.program.types import Access, BroadcastAdd, Program, Statement, Tensor
from fuseloom.program.verify import verify

__all__ = [
    "Access",
    "Blocking",
    "BroadcastAdd",
    "CompressedLevel",
    "DenseLevel",
    "Format",
    "LevelFormat",
    "Masked",
    "Op",
    "Program",
    "SingletonLevel",
    "Statement",
    "StoredTensor",
    "Tensor",
    "block_program",
    "blocking",
    "check_data",
    "evaluate",
    "made_tensor",
    "parse",
    "print_program",
    "program_from_json",
    "program_to_json",
    "resolve_view",
    "verify",
    "view_key",
]
