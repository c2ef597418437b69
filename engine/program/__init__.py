"""Programs: takes program text; gives tensors, formats and einsum statements, their printed form,
the storage of data in those formats, statistics, and the dense meaning of it all."""

from engine.program.blocking import Blocking, block_program, blocking
from engine.program.formats import Format, LevelFormat
from engine.program.inputs import check_data, made_tensor
from engine.program.levels import CompressedLevel, DenseLevel, SingletonLevel
from engine.program.parser import parse
from engine.program.printer import print_program
from engine.program.reference import evaluate
from engine.program.serialize import program_from_json, program_to_json
from engine.program.sparse_reference import Masked
from engine.program.storage import StoredTensor
from engine.program.stored_views import resolve_view, view_key
from engine.program.types import Access, BroadcastAdd, Op, Program, Statement, Tensor
from engine.program.verify import verify

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
